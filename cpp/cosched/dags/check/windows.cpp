#include "cosched/dags/check/windows.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "cosched/core/numeric.hpp"
#include "cosched/dags/check/parts.hpp"
#include "cosched/dags/check/refutation.hpp"
#include "cosched/dags/check/relaxation.hpp"
#include "cosched/dags/model/grain.hpp"

namespace cosched::dags::check {
namespace {

const Parts kWindows("windows");

void require_flow(const Instance& instance, const proof::RefutationStage& stage) {
  if (!stage.task_flow.empty())
    kWindows.require_amounts(stage.task_flow, instance.tasks(), "flow through tasks");
  else if (!stage.edge_flow.empty())
    kWindows.breach("flow on edges without flow through tasks");
  for (const hlp::EdgeFlow& flow : stage.edge_flow) kWindows.require_edge(instance, flow);
}

// Numbers, shapes and edges of a stage, before anything is made of them.
void require_stage(const Instance& instance, const proof::RefutationStage& stage) {
  const int types = instance.types();
  if (!stage.raise.empty()) kWindows.require_raise(stage.raise, types);
  if (stage.raise.empty() || !stage.loads.empty())
    kWindows.require_amounts(stage.loads, types, "prices of the loads");
  require_flow(instance, stage);
  kWindows.require_intervals(stage.intervals, types);
}

// Flow by the numbers of the edges: by (predecessor, successor).
std::vector<double> by_number(const TaskGraph& graph, const std::vector<hlp::EdgeFlow>& flow) {
  std::vector<int> first{0};
  for (int task = 0; task < graph.tasks(); ++task)
    first.push_back(first.back() + graph.successors(task).size());
  std::vector<double> amounts(graph.edges(), 0.0);
  for (const auto& [from, to, amount] : flow) {
    const auto after = graph.successors(from);
    amounts[first[from] + (std::lower_bound(after.begin(), after.end(), to) - after.begin())] +=
        amount;
  }
  return amounts;
}

// A refutation as one where data costs nothing.
proof::TransferRefutation without_transfers(const TaskGraph& graph,
                                            const proof::Refutation& refutation) {
  proof::TransferRefutation found;
  found.makespan = refutation.makespan;
  for (const proof::RefutationStage& stage : refutation.stages) {
    proof::TransferStage& same = found.stages.emplace_back();
    same.raise = stage.raise;
    same.loads = stage.loads;
    same.task_flow = stage.task_flow;
    if (!stage.task_flow.empty()) same.edge_flow = by_number(graph, stage.edge_flow);
    same.intervals = stage.intervals;
  }
  return found;
}

bool holds(const Instance& instance, const proof::Refutation& refutation) {
  const proof::TransferRefutation same = without_transfers(instance.graph(), refutation);
  if (!instance.transfers().given()) return refutes(instance, same);
  return refutes(Instance(instance.times(), instance.graph(), instance.units()), same);
}

}  // namespace

double certified_bound(const Instance& instance, const proof::WindowsCertificate& certificate) {
  const double relaxation = certified_bound(instance, certificate.relaxation);
  const double makespan = certificate.refutation.makespan;
  double bound = relaxation;
  if (makespan != 0) {
    kWindows.require_makespan(makespan);
    for (const proof::RefutationStage& stage : certificate.refutation.stages)
      require_stage(instance, stage);
    if (!holds(instance, certificate.refutation)) kWindows.not_refuted(makespan);
    bound = std::max(bound, makespan);
  }
  const double grain = time_grain(instance);
  if (grain <= 0) return bound;
  const double by_relaxation = std::ceil(relaxation * (1 - kExactTolerance) / grain) * grain;
  return makespan == 0 ? by_relaxation : std::max(by_relaxation, least_above(makespan, grain));
}

}  // namespace cosched::dags::check
