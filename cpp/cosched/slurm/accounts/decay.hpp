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
        keep_(settings.half_life > 0 ? 1 - kHalf / static_cast<double>(settings.half_life) : 1),
        passes_(known ? 1 : 0),
        last_(whole(start)) {}

  /// When the next pass is.
  double next() const { return start_ + static_cast<double>(passes_ * period_); }
  /// All passes up to `time`, and whether there were any: `pass(now, left)`, left of usage since
  /// the last one.
  template <class Pass>
  bool advance(double time, Pass&& pass) {
    const std::int64_t before = passes_;
    for (; next() <= time; ++passes_) {
      const Second now = whole(next());
      pass(now, left_after(now - last_));
      last_ = now;
    }
    return passes_ > before;
  }

  /// Of usage, so many seconds later.
  double left_after(Second seconds) const { return std::pow(keep_, static_cast<double>(seconds)); }
  /// Passes so far, and the second of the last: in a pass, of the one before it.
  std::int64_t passes() const { return passes_; }
  Second last() const { return last_; }

 private:
  static constexpr double kHalf = 0.693;  // as slurmctld has it, with the first term alone

  double start_;
  Second period_;
  double keep_;  // a second's part of usage that is left
  std::int64_t passes_;
  Second last_;
};

}  // namespace cosched::slurm
