#include "cosched/dags/proof/windows.hpp"

#include "cosched/dags/check/windows.hpp"
#include "cosched/dags/model/grain.hpp"
#include "cosched/dags/proof/effort.hpp"
#include "cosched/dags/proof/refuter.hpp"

namespace cosched::dags::proof {
namespace {

// Whether the loads alone or one path alone decide LP*: then it is found in a few passes over the
// graph, and on large graphs a single T would cost more.
bool decided_at_once(const hlp::Certificate& relaxation) {
  return relaxation.weights.back() == 0 || relaxation.weights.back() == 1;
}

}  // namespace

WindowsBound windows_bound(const Instance& instance, const hlp::Certificate& relaxation,
                           const BoundOptions& options) {
  WindowsBound best;
  best.certificate.relaxation = relaxation;
  best.value = check::certified_bound(instance, best.certificate);
  if (instance.tasks() > kLarge && decided_at_once(relaxation)) return best;
  prove_so_far(best, [&] {
    const HalvingSteps steps(best.value, options.upper_or_none(), time_grain(instance),
                             options.precision_for(instance));
    Refuter refuter(instance, relaxation, effort_for(instance));
    bisect(steps, refuter, best);
  });
  return best;
}

}  // namespace cosched::dags::proof
