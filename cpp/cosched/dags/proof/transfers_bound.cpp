#include "cosched/dags/proof/transfers_bound.hpp"

#include "cosched/dags/check/bounds.hpp"
#include "cosched/dags/proof/bisection.hpp"
#include "cosched/dags/proof/geometric_steps.hpp"
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
        if (const double time = transfers.cost_between_memories(edge, q, r); time > 0)
          least = std::min(least, time);
  return std::max(kTinyPositive, least < kInfinity ? 1e-3 * least : 1);
}

// The relaxation's proof, where it says more than bisection with its precision.
void try_relaxation(const Instance& instance, const TransferRefuterParams& params,
                    TransfersBound& best) {
  std::optional<TransferRefutation> refutation =
      refute_by_relaxation(instance, best.value, params.lp_multiplications / kUsualInteriorSteps);
  if (!refutation) return;
  best.value = refutation->makespan;
  best.certificate.refutation = *std::move(refutation);
}

}  // namespace

TransfersBound transfers_bound(const Instance& instance, const WindowsCertificate& windows,
                               const BoundOptions& options) {
  TransfersBound best;
  best.certificate.windows = windows;
  best.value = without_deadline([&] { return check::certified_bound(instance, windows); });
  if (!instance.transfers().has_data()) return best;
  prove_so_far(best, [&] {
    const TransferRefuterParams params = transfer_refuter_params_for(instance);
    const TypeCosts costs(instance, params.uses_clusters);
    if (!costs.has_costs()) return;
    const GeometricSteps steps(best.value, best.value > 0 ? best.value : least_time(instance),
                               options.upper_or_infinity(), options.precision_for(instance));
    TransferRefuter refuter(costs, load_weights(windows), best.value, params);
    bisect(steps, refuter, best);
    try_relaxation(instance, params, best);
  });
  return best;
}

}  // namespace cosched::dags::proof
