// Backfill cycles begin when a recording says so, and by the rules behind its end.
#pragma once

#include "cosched/slurm/clocks/modelled_backfill_clock.hpp"

namespace cosched::slurm {

class RecordedBackfillClock : public BackfillClock {
 public:
  /// The cycles begin at `clocks.cycle_times`, of which there are some.
  RecordedBackfillClock(const Clocks& clocks, Second interval);

  double wake_time() const override { return modelled_clock_.wake_time(); }
  Second last_cycle_end() const override { return modelled_clock_.last_cycle_end(); }
  bool begin_cycle_or_sleep(bool is_completing, bool has_more_work, double quiet_until) override;
  void on_cycle_end(double duration) override;

 private:
  bool is_over() const { return next_recorded_cycle_ == recorded_cycles_.size(); }

  ModelledBackfillClock modelled_clock_;  // as of the cycles so far
  std::vector<double> recorded_cycles_;
  std::size_t next_recorded_cycle_ = 0;
};

}  // namespace cosched::slurm
