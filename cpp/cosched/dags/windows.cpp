#include "cosched/dags/windows.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/dags/refuter.hpp"

namespace cosched::dags {
namespace {

// A schedule is proved optimal where this share of its makespan is refuted.
constexpr double kJustBelow = 1 - 0.9 * kExactTolerance;

constexpr int kLarge = 10000;  // tasks

RefuterEffort effort_for(const Instance& instance) {
  const int n = instance.tasks();
  if (n <= 120) return {40, 6, 300, 6, true};
  if (n <= 400) return {20, 3, 100, 1, true};
  if (n <= 2000) return {8, 2, 30, 1, false};
  if (n <= kLarge) return {6, 2, 20, 0, false};
  return {2, 1, 6, 0, false};
}

// Whether the loads alone or one path alone decide LP*: then it is found in a few passes over the
// graph, and on large graphs a single T would cost more.
bool decided_at_once(const Certificate& relaxation) {
  return relaxation.weights.back() == 0 || relaxation.weights.back() == 1;
}

// The largest T that is refuted, between a bound and a makespan.
class Bisection {
 public:
  Bisection(const Instance& instance, const Certificate& relaxation, const WindowsOptions& options,
            WindowsBound& best)
      : grain_(time_grain(instance)),
        precision_(instance.tasks() > kLarge ? 10 * options.precision : options.precision),
        refuter_(instance, relaxation, effort_for(instance)),
        best_(best) {
    if (options.upper) upper_ = *options.upper;
  }

  void run() {
    if (best_.value >= upper_ * kJustBelow) return;
    if (upper_ < kInfinity) {
      upper_ = grain_ > 0 ? multiple(upper_ - grain_) : upper_ * kJustBelow;
      if (attempt(upper_)) return;
    }
    double step = 0.004 * best_.value;
    bool found_end = upper_ < kInfinity;
    if (step <= 0) step = 1;
    for (;;) {
      const double low = best_.value, high = upper_;
      if (!std::isinf(high) &&
          (grain_ > 0 ? high - low < 0.5 * grain_ : high - low <= precision_ * high))
        return;
      double middle = std::isinf(high) ? low + step : std::min(low + step, (low + high) / 2);
      if (found_end && !galloping_) middle = (low + high) / 2;
      if (grain_ > 0) middle = std::max(low, multiple(std::min(middle, high - grain_)));
      if (attempt(middle)) {
        step *= 3;
      } else {
        upper_ = middle;
        galloping_ = false;
        found_end = true;
      }
    }
  }

 private:
  // The multiple of the grain at or below a makespan, up to rounding.
  double multiple(double makespan) const { return std::floor(makespan / grain_ + 1e-6) * grain_; }

  bool attempt(double makespan) {
    check_interrupt();
    if (!refuter_.refute(makespan)) return false;
    best_.certificate.refutation = refuter_.take_proof();
    best_.value = least_above(makespan, grain_);
    return true;
  }

  double grain_;
  double precision_;
  Refuter refuter_;
  WindowsBound& best_;
  double upper_ = kInfinity;
  bool galloping_ = true;
};

}  // namespace

WindowsBound windows_bound(const Instance& instance, const Certificate& relaxation,
                           const WindowsOptions& options) {
  WindowsBound best;
  best.certificate.relaxation = relaxation;
  best.value = certified_bound(instance, best.certificate);
  if (instance.tasks() > kLarge && decided_at_once(relaxation)) return best;
  best.complete =
      finishes_within(std::nullopt, [&] { Bisection(instance, relaxation, options, best).run(); });
  return best;
}

}  // namespace cosched::dags
