#include "cosched/dags/check/relaxation.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "cosched/core/numeric.hpp"
#include "cosched/dags/check/parts.hpp"

namespace cosched::dags::check {
namespace {

const Parts kRelaxation("hlp");

}  // namespace

double certified_bound(const Instance& instance, const hlp::Certificate& certificate) {
  constexpr double kTolerance = kExactTolerance;
  const int n = instance.tasks(), types = instance.types();
  const auto& weights = certificate.weights;
  const auto& flow = certificate.task_flow;
  if (static_cast<int>(weights.size()) != types + 1 || static_cast<int>(flow.size()) != n)
    kRelaxation.breach("wrong shape");
  double sum = 0;
  for (const double weight : weights) {
    if (!(weight >= 0)) kRelaxation.breach("a weight is negative");
    sum += weight;
  }
  if (std::abs(sum - 1) > kTolerance) kRelaxation.breach("the weights sum to " + to_text(sum));

  std::vector<double> in(n, 0.0), out(n, 0.0);
  for (const hlp::EdgeFlow& edge : certificate.edge_flow) {
    kRelaxation.require_edge(instance, edge);
    out[edge.from] += edge.amount;
    in[edge.to] += edge.amount;
  }
  double begun = 0;  // what enters from the begin of the project
  double bound = 0;
  for (int task = 0; task < n; ++task) {
    if (!(flow[task] >= 0))
      kRelaxation.breach("negative flow through task " + std::to_string(task));
    if (in[task] > flow[task] + kTolerance || out[task] > flow[task] + kTolerance)
      kRelaxation.breach("flow is not conserved at task " + std::to_string(task));
    begun += std::max(0.0, flow[task] - in[task]);
    double least = kInfinity;
    for (int type = 0; type < types; ++type)
      if (instance.can_run(task, type))
        least = std::min(
            least, instance.time(task, type) * (weights[type] / instance.units(type) + flow[task]));
    bound += least;
  }
  if (begun > weights.back() + kTolerance)
    kRelaxation.breach("the flow is " + to_text(begun) + ", the path's weight " +
                       to_text(weights.back()));
  return bound;
}

}  // namespace cosched::dags::check
