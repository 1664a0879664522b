#include "cosched/dags/transfers_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/dags/transfer_refuter.hpp"

namespace cosched::dags {
namespace {

// A schedule is proved optimal where this share of its makespan is refuted.
constexpr double kJustBelow = 1 - 0.9 * kExactTolerance;

constexpr int kLarge = 10000;  // tasks

// Of a linear programme's factors; about two nanoseconds each.
constexpr double kWork = 2e9;

TransferEffort effort_for(const Instance& instance) {
  const int n = instance.tasks();
  if (n <= 40) return {6, 8, 300, 6, true, 8, true, 2e8, 1e-7, kInfinity};
  if (n <= 100) return {6, 8, 300, 6, true, 4, true, 3e7, 1e-7, kInfinity};
  if (n <= 200) return {3, 4, 100, 3, true, 3, true, 3e7, 1e-6, kInfinity};
  if (n <= 500) return {2, 2, 50, 2, true, 2, true, 0, 1e-5, kWork};
  if (n <= 2000) return {1, 1, 20, 1, false, 1, false, 0, 1e-4, kWork};
  return {1, 1, 10, 0, false, 1, false, 0, 1e-4, kWork};
}

// The largest T that is refuted, among first (1 + precision)^k.  Which T these are does not depend on
// what transfers cost: so that a bound is no lower where they cost more, as long as the refuter
// refutes there what it refutes where they cost less.
class Bisection {
 public:
  Bisection(const TypeCosts& costs, const TransfersOptions& options, TransfersBound& best)
      : first_(best.value),
        precision_(costs.instance().tasks() > kLarge ? 10 * options.precision : options.precision),
        refuter_(costs, loads(best), effort_for(costs.instance())),
        best_(best) {
    if (options.upper) upper_ = *options.upper;
    if (first_ <= 0) first_ = std::max(1e-300, least_time(costs.instance()));
  }

  void run() {
    if (best_.value >= upper_ * kJustBelow) return;
    if (upper_ < kInfinity) {
      if (attempt(upper_ * kJustBelow, false)) return;
      known_ = above_ = std::max(1L, static_cast<long>(std::ceil(step_of(upper_ * kJustBelow))));
    }
    search(true);
    above_ = known_;
    search(false);
  }

 private:
  static constexpr long kNone = std::numeric_limits<long>::max();

  static std::vector<double> loads(const TransfersBound& best) {
    const std::vector<double>& weights = best.certificate.windows.relaxation.weights;
    return {weights.begin(), weights.end() - 1};
  }
  // Any positive time will do: where nothing takes time but transfers.
  static double least_time(const Instance& instance) {
    const Transfers& transfers = instance.transfers();
    double least = kInfinity;
    for (int edge = 0; edge < instance.graph().edges(); ++edge)
      for (int q = 0; q < instance.types(); ++q)
        for (int r = 0; r < instance.types(); ++r)
          if (const double time = transfers.remote(edge, q, r); time > 0)
            least = std::min(least, time);
    return least < kInfinity ? 1e-3 * least : 1;
  }

  double at(long k) const { return first_ * std::pow(1 + precision_, static_cast<double>(k)); }
  double step_of(double makespan) const {
    return std::log(makespan / first_) / std::log1p(precision_);
  }

  // below_ is refuted, above_ is not (or not known to be): until they meet.
  void search(bool quick) {
    long step = 100;  // 1%
    while (above_ == kNone || above_ - below_ > 1) {
      long k = above_ == kNone ? below_ + step : std::min(below_ + step, (below_ + above_) / 2);
      const double reach = refuter_.reach();
      if (reach > at(below_ + 1))  // as far as the last programme would have it
        k = static_cast<long>(step_of(reach));
      k = std::clamp(k, below_ + 1, above_ - 1);
      if (attempt(at(k), quick)) {
        below_ = k;
        step *= 2;
      } else {
        above_ = k;
        step = std::max(1L, step / 4);
      }
    }
  }

  bool attempt(double makespan, bool quick) {
    check_interrupt();
    if (!refuter_.refute(makespan, quick)) return false;
    best_.certificate.refutation = refuter_.take_proof();
    best_.value = makespan;
    return true;
  }

  double first_, precision_;
  TransferRefuter refuter_;
  TransfersBound& best_;
  double upper_ = kInfinity;
  long below_ = 0, above_ = kNone, known_ = kNone;
};

}  // namespace

TransfersBound transfers_bound(const Instance& instance, const WindowsCertificate& windows,
                               const TransfersOptions& options) {
  TransfersBound best;
  best.certificate.windows = windows;
  best.value = unhurried([&] { return certified_bound(instance, windows); });
  if (!instance.transfers().given()) return best;
  best.complete = finishes_within(std::nullopt, [&] {
    const TypeCosts costs(instance, effort_for(instance).clusters);
    if (costs.any()) Bisection(costs, options, best).run();
  });
  return best;
}

}  // namespace cosched::dags
