// When the thread that accounts usage makes its passes, and what part of usage remains (RULES.md
// 13.1): `_decay_thread` of priority_multifactor.c.
#pragma once

#include "cosched/slurm/model/settings.hpp"

namespace cosched::slurm {

class Decay {
 public:
  /// `start`: of the thread, which makes its first pass at once.  `is_first_pass_done`: the effects
  /// of that pass are known already.
  Decay(const Settings::Priority& settings, double start, bool is_first_pass_done = false)
      : start_(start),
        period_(settings.calc_period),
        factor_per_second_(
            settings.half_life > 0 ? 1 - kHalf / static_cast<double>(settings.half_life) : 1),
        pass_count_(is_first_pass_done ? 1 : 0),
        last_pass_time_(to_second(start)) {}

  double next_pass_time() const { return start_ + static_cast<double>(pass_count_ * period_); }
  /// Makes all passes up to `time`: calls run_pass(now, remaining_fraction), where the fraction is
  /// of usage as of the last pass.  Returns whether there were any.
  template <class RunPass>
  bool advance(double time, RunPass&& run_pass) {
    const std::int64_t count_before = pass_count_;
    for (; next_pass_time() <= time; ++pass_count_) {
      const Second now = to_second(next_pass_time());
      run_pass(now, remaining_fraction(now - last_pass_time_));
      last_pass_time_ = now;
    }
    return pass_count_ > count_before;
  }

  /// What remains of usage after so many seconds.
  double remaining_fraction(Second seconds) const {
    return std::pow(factor_per_second_, static_cast<double>(seconds));
  }
  /// Passes so far, and the second of the last one; within a pass, of the one before it.
  std::int64_t pass_count() const { return pass_count_; }
  Second last_pass_time() const { return last_pass_time_; }

 private:
  static constexpr double kHalf = 0.693;  // as slurmctld has it, with the first term alone

  double start_;
  Second period_;
  double factor_per_second_;  // the part of usage that remains after a second
  std::int64_t pass_count_;
  Second last_pass_time_;
};

}  // namespace cosched::slurm
