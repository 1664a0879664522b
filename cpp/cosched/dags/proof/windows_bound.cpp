#include "cosched/dags/proof/windows_bound.hpp"

#include "cosched/dags/check/bounds.hpp"
#include "cosched/dags/proof/bisection.hpp"
#include "cosched/dags/proof/halving_steps.hpp"
#include "cosched/dags/proof/windows_refuter.hpp"

namespace cosched::dags::proof {
namespace {

// Whether the loads alone or one path alone decide LP*: then it is found in a few passes over the
// graph, and on large graphs a single T would cost more.
bool is_decided_by_loads_or_path(const hlp::HlpCertificate& relaxation) {
  return relaxation.weights.back() == 0 || relaxation.weights.back() == 1;
}

}  // namespace

WindowsBound windows_bound(const Instance& instance, const hlp::HlpCertificate& relaxation,
                           const BoundOptions& options) {
  WindowsBound best;
  best.certificate.relaxation = relaxation;
  best.value = check::certified_bound(instance, best.certificate);
  if (instance.tasks() > kLargeTasks && is_decided_by_loads_or_path(relaxation)) return best;
  prove_so_far(best, [&] {
    const HalvingSteps steps(best.value, options.upper_or_infinity(), time_grain(instance),
                             options.precision_for(instance));
    WindowsRefuter refuter(instance, relaxation, refuter_params_for(instance));
    bisect(steps, refuter, best);
  });
  return best;
}

}  // namespace cosched::dags::proof
