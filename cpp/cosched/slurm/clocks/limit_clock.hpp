// When the time limits of jobs are checked (RULES.md 6.3).
#pragma once

#include "cosched/slurm/clocks/background_loop.hpp"

namespace cosched::slurm {

/// When the time limits of jobs are checked.
class LimitClock {
 public:
  LimitClock(const Clocks& clocks, bool is_24_11)
      : periods_(clocks.periods),
        loop_(clocks, is_24_11),
        recorded_check_times_(clocks.limit_check_times),
        last_check_(to_second(clocks.controller_start)) {}

  double next_check_time() const {
    if (!recorded_check_times_.empty())
      return check_count_ < recorded_check_times_.size() ? recorded_check_times_[check_count_]
                                                         : kInfinity;
    const auto last = static_cast<double>(last_check_);
    return loop_.tick_at(last + static_cast<double>(periods_.after(last, kPeriodicTimeout)));
  }

  void on_check(double time) {
    ++check_count_;
    last_check_ = to_second(time);
  }

 private:
  static constexpr Second kPeriodicTimeout = 30;  // between limit checks

  Periods periods_;
  BackgroundLoop loop_;
  std::vector<double> recorded_check_times_;
  std::size_t check_count_ = 0;
  Second last_check_;
};

}  // namespace cosched::slurm
