#include "cosched/dags/transfers_bound.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/dags/transfer_refuter.hpp"

namespace cosched::dags {
namespace {

// A schedule is proved optimal where this share of its makespan is refuted.
constexpr double kJustBelow = 1 - 0.9 * kExactTolerance;

constexpr int kLarge = 10000;  // tasks

TransferEffort effort_for(const Instance& instance) {
  const int n = instance.tasks();
  if (n <= 60) return {6, 8, 300, true, 1e-7};
  if (n <= 200) return {3, 4, 100, true, 1e-6};
  if (n <= 500) return {2, 2, 50, true, 1e-5};
  return {1, 1, 20, false, 1e-4};
}

// The largest T that is refuted, between a bound and a makespan.  Which T are tried does not depend
// on what transfers cost, only on which are refuted: so that a bound cannot be lower where they cost
// more, as long as the refuter refutes there what it refutes where they cost less.
class Bisection {
 public:
  Bisection(const TypeCosts& costs, const TransfersOptions& options, TransfersBound& best)
      : precision_(costs.instance().tasks() > kLarge ? 10 * options.precision : options.precision),
        refuter_(costs, loads(best), effort_for(costs.instance())),
        best_(best) {
    if (options.upper) upper_ = *options.upper;
  }

  void run() {
    if (best_.value >= upper_ * kJustBelow) return;
    if (upper_ < kInfinity) {
      upper_ *= kJustBelow;
      if (attempt(upper_)) return;
    }
    double step = 0.01 * best_.value;
    if (step <= 0) step = 1;
    while (upper_ - best_.value > precision_ * upper_ || std::isinf(upper_)) {
      const double low = best_.value;
      const bool galloping = galloping_ && low + step < (low + upper_) / 2;
      const double middle = galloping || std::isinf(upper_) ? low + step : (low + upper_) / 2;
      if (attempt(middle)) {
        step *= 2;
      } else {
        upper_ = middle;
        galloping_ = false;
      }
    }
  }

 private:
  static std::vector<double> loads(const TransfersBound& best) {
    const std::vector<double>& weights = best.certificate.windows.relaxation.weights;
    return {weights.begin(), weights.end() - 1};
  }

  bool attempt(double makespan) {
    check_interrupt();
    if (!refuter_.refute(makespan)) return false;
    best_.certificate.refutation = refuter_.take_proof();
    best_.value = makespan;
    return true;
  }

  double precision_;
  TransferRefuter refuter_;
  TransfersBound& best_;
  double upper_ = kInfinity;
  bool galloping_ = true;
};

}  // namespace

TransfersBound transfers_bound(const Instance& instance, const WindowsCertificate& windows,
                               const TransfersOptions& options) {
  TransfersBound best;
  best.certificate.windows = windows;
  best.value = certified_bound(instance, windows);
  if (!instance.transfers().given()) return best;
  best.complete = finishes_within(std::nullopt, [&] {
    const TypeCosts costs(instance);
    if (costs.any()) Bisection(costs, options, best).run();
  });
  return best;
}

}  // namespace cosched::dags
