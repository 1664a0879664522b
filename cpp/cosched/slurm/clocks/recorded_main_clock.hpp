// The main scheduler passes when a recording says so, and by the rules behind its end.
#pragma once

#include "cosched/slurm/clocks/modelled_main_clock.hpp"

namespace cosched::slurm {

class RecordedMainClock : public MainClock {
 public:
  /// The passes are those of `clocks.main_passes`.
  RecordedMainClock(const Clocks& clocks, const Settings::Main& settings, bool is_24_11 = false)
      : modelled_clock_(clocks, settings, is_24_11), recorded_passes_(clocks.main_passes) {}

  void request_at_tick(double time) override;
  void request_now(double time, bool is_full) override;
  double next_requesting_tick() const override;
  void on_tick(double time) override { modelled_clock_.on_tick(time); }
  double next_tick(double time) const override;
  double recorded_pass_time() const override;
  double next_pass_time() const override;
  bool begin_pass() override;

 private:
  bool is_over() const { return next_recorded_pass_ == recorded_passes_.size(); }

  ModelledMainClock modelled_clock_;                      // as of the passes so far
  std::vector<std::pair<double, bool>> recorded_passes_;  // when, and whether it was a full one
  std::size_t next_recorded_pass_ = 0;
  // A pass that was not recorded: what it is for came too late for one that was.
  double unrecorded_pass_ = kInfinity;
};

}  // namespace cosched::slurm
