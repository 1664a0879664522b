#include "cosched/dags/check/transfers.hpp"

#include <algorithm>
#include <string>

#include "cosched/dags/check/parts.hpp"
#include "cosched/dags/check/refutation.hpp"
#include "cosched/dags/check/windows.hpp"

namespace cosched::dags::check {
namespace {

const Parts kTransfers("transfers");

void require_guesses(const Instance& instance, const std::vector<proof::TransferGuess>& guesses) {
  const int ways = instance.types() * (instance.types() + 1);
  for (const auto& [of_edge, item, choice] : guesses)
    if (item < 0 || item >= (of_edge ? instance.graph().edges() : instance.tasks()) || choice < 0 ||
        choice >= (of_edge ? ways : instance.types()))
      kTransfers.breach("a guess of " + std::to_string(choice) + " for " +
                        (of_edge ? "edge " : "task ") + std::to_string(item) +
                        ", which there is not");
}

void require_prices(const Instance& instance, const proof::TransferStage& stage) {
  const std::size_t types = instance.types(), edges = instance.graph().edges();
  kTransfers.require_amounts(stage.loads, types, "prices of the loads");
  if (stage.task_flow.empty() != stage.edge_flow.empty() && edges > 0)
    kTransfers.breach("flow through tasks and on edges: expected both or neither");
  if (!stage.task_flow.empty()) {
    kTransfers.require_amounts(stage.task_flow, instance.tasks(), "flow through tasks");
    kTransfers.require_amounts(stage.edge_flow, edges, "flow on edges");
  }
  if (!stage.shift.empty()) kTransfers.require_finite(stage.shift, edges * types, "shifts");
  kTransfers.require_intervals(stage.intervals, instance.types());
}

// Numbers and shapes of a stage, before anything is made of them.
void require_stage(const Instance& instance, const proof::TransferStage& stage) {
  if (!stage.guesses.empty())
    require_guesses(instance, stage.guesses);
  else if (!stage.raise.empty())
    kTransfers.require_raise(stage.raise, instance.types());
  else
    require_prices(instance, stage);
}

}  // namespace

double certified_bound(const Instance& instance, const proof::TransfersCertificate& certificate) {
  const double bound = certified_bound(instance, certificate.windows);
  const double makespan = certificate.refutation.makespan;
  if (makespan == 0) return bound;
  kTransfers.require_makespan(makespan);
  for (const proof::TransferStage& stage : certificate.refutation.stages)
    require_stage(instance, stage);
  if (!refutes(instance, certificate.refutation)) kTransfers.not_refuted(makespan);
  return std::max(bound, makespan);
}

}  // namespace cosched::dags::check
