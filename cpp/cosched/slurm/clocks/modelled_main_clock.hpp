// The main scheduler passes when Slurm's rules say so (RULES.md 2.1 to 2.3).
#pragma once

#include "cosched/slurm/clocks/background_loop.hpp"
#include "cosched/slurm/clocks/main_clock.hpp"

namespace cosched::slurm {

class ModelledMainClock : public MainClock {
 public:
  ModelledMainClock(const Clocks& clocks, const Settings::Main& settings, bool is_24_11 = false)
      : periods_(clocks.periods),
        loop_(clocks, is_24_11),
        settings_(settings),
        last_tick_(to_second(clocks.controller_start)),
        last_full_pass_(last_tick_) {}

  void request_at_tick(double time) override;
  void request_now(double time, bool is_full) override;
  double next_requesting_tick() const override;
  void on_tick(double time) override;
  double next_tick(double time) const override { return loop_.tick_at(time); }
  double recorded_pass_time() const override { return kInfinity; }
  double next_pass_time() const override { return next_pass_; }
  bool begin_pass() override;

  /// A pass of a recording took place at `time`, at which the loop ticked, too.  `counts` = false:
  /// it does not count as the last pass.
  void follow_recorded_pass(double time, bool is_full, bool counts);
  double tick_period() const { return loop_.period(); }

 private:
  // In force until the first pass has read the configuration.
  static constexpr Second kFirstDelay = 3;
  static constexpr Second kFirstInterval = 60;

  Second delay() const { return is_config_loaded_ ? settings_.batch_sched_delay : kFirstDelay; }
  Second interval() const;

  Periods periods_;
  BackgroundLoop loop_;
  Settings::Main settings_;
  bool is_config_loaded_ = false;  // by the first pass
  Second last_tick_;               // that asked for a pass
  Second last_full_pass_;
  double requested_time_ = kInfinity;
  double next_pass_ = kInfinity;
  double last_pass_ = -kInfinity;
  bool is_next_pass_full_ = false;
};

}  // namespace cosched::slurm
