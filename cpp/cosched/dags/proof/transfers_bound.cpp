#include "cosched/dags/proof/transfers_bound.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/dags/check/windows.hpp"
#include "cosched/dags/proof/effort.hpp"
#include "cosched/dags/proof/transfer_refuter.hpp"
#include "cosched/dags/proof/transfers_relaxation.hpp"

namespace cosched::dags::proof {
namespace {

// Of the loads in LP*.
std::vector<double> load_weights(const WindowsCertificate& windows) {
  const std::vector<double>& weights = windows.relaxation.weights;
  return {weights.begin(), weights.end() - 1};
}

// Any positive time will do: where nothing takes time but transfers.
double least_time(const Instance& instance) {
  const Transfers& transfers = instance.transfers();
  double least = kInfinity;
  for (int edge = 0; edge < instance.graph().edges(); ++edge)
    for (int q = 0; q < instance.types(); ++q)
      for (int r = 0; r < instance.types(); ++r)
        if (const double time = transfers.remote(edge, q, r); time > 0)
          least = std::min(least, time);
  return std::max(1e-300, least < kInfinity ? 1e-3 * least : 1);
}

// The relaxation's proof, where it says more than bisection with its precision.
void offer_relaxation(const Instance& instance, const TransferEffort& effort,
                      TransfersBound& best) {
  std::optional<TransferRefutation> found =
      refute_by_relaxation(instance, best.value, effort.work / kUsualSteps);
  if (!found) return;
  best.value = found->makespan;
  best.certificate.refutation = *std::move(found);
}

}  // namespace

TransfersBound transfers_bound(const Instance& instance, const WindowsCertificate& windows,
                               const BoundOptions& options) {
  TransfersBound best;
  best.certificate.windows = windows;
  best.value = unhurried([&] { return check::certified_bound(instance, windows); });
  if (!instance.transfers().given()) return best;
  prove_so_far(best, [&] {
    const TransferEffort effort = transfer_effort_for(instance);
    const TypeCosts costs(instance, effort.clusters);
    if (!costs.any()) return;
    const GeometricSteps steps(best.value, best.value > 0 ? best.value : least_time(instance),
                               options.upper_or_none(), options.precision_for(instance));
    TransferRefuter refuter(costs, load_weights(windows), best.value, effort);
    bisect(steps, refuter, best);
    offer_relaxation(instance, effort, best);
  });
  return best;
}

}  // namespace cosched::dags::proof
