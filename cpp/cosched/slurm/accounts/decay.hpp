// The clock of the thread that accounts usage, and what it leaves of it (RULES.md 13.1).
#pragma once

#include "cosched/slurm/model/settings.hpp"

namespace cosched::slurm {

class Decay {
 public:
  /// `start`: of the thread, which passes at once; `known`: what came of that pass is known
  /// already.
  Decay(const Settings::Priority& settings, double start, bool known = false)
      : start_(start),
        period_(settings.calc_period),
        factor_per_second_(
            settings.half_life > 0 ? 1 - kHalf / static_cast<double>(settings.half_life) : 1),
        pass_count_(known ? 1 : 0),
        last_pass_time_(to_second(start)) {}

  /// When the next pass is.
  double next_pass_time() const { return start_ + static_cast<double>(pass_count_ * period_); }
  /// All passes up to `time`, and whether there were any: `pass(now, left)`, left of usage since
  /// the last one.
  template <class Pass>
  bool advance(double time, Pass&& pass) {
    const std::int64_t before = pass_count_;
    for (; next_pass_time() <= time; ++pass_count_) {
      const Second now = to_second(next_pass_time());
      pass(now, remaining_fraction(now - last_pass_time_));
      last_pass_time_ = now;
    }
    return pass_count_ > before;
  }

  /// Of usage, so many seconds later.
  double remaining_fraction(Second seconds) const {
    return std::pow(factor_per_second_, static_cast<double>(seconds));
  }
  /// Passes so far, and the second of the last: in a pass, of the one before it.
  std::int64_t pass_count() const { return pass_count_; }
  Second last_pass_time() const { return last_pass_time_; }

 private:
  static constexpr double kHalf = 0.693;  // as slurmctld has it, with the first term alone

  double start_;
  Second period_;
  double factor_per_second_;  // a second's part of usage that is left
  std::int64_t pass_count_;
  Second last_pass_time_;
};

}  // namespace cosched::slurm
