#include "cosched/moldable/check/validate.hpp"

#include "cosched/core/validate.hpp"

namespace cosched::moldable::check {

void validate(const Instance& instance, const Schedule& schedule) {
  Requirements need;
  need.tasks = instance.jobs();
  need.units = {instance.machines()};
  need.release = instance.releases();
  need.duration = [&](int task, int, int count) {
    return count >= 1 && count <= instance.machines() ? instance.exact_time(task, count)
                                                      : kInfinity;
  };
  need.sharing = instance.sharing();
  if (const TaskGraph* graph = instance.graph())
    for (int i = 0; i < instance.jobs(); ++i)
      for (const int after : graph->successors(i)) need.edges.emplace_back(i, after);
  cosched::validate(schedule, need);
}

namespace {

[[noreturn]] void throw_breach(const std::string& text) {
  throw SolverError("work-and-path certificate: " + text);
}

void require_edge(const Instance& instance, const EdgeFlow& flow) {
  const int n = instance.jobs();
  if (flow.from < 0 || flow.from >= n || flow.to < 0 || flow.to >= n || !(flow.amount >= 0) ||
      !(flow.amount < kInfinity))
    throw_breach("a bad edge");
  const bool is_edge = instance.graph() != nullptr && [&] {
    const auto after = instance.graph()->successors(flow.from);
    return std::binary_search(after.begin(), after.end(), flow.to);
  }();
  if (!is_edge)
    throw_breach("flow from job " + std::to_string(flow.from) + " to " + std::to_string(flow.to) +
                 ", which is no edge");
}

// Of job i at a flow f: min over its counts of what they cost.
double least_cost(const Instance& instance, const std::vector<double>& weights, int i, double f) {
  const Sharing* sharing = instance.sharing();
  double least = kInfinity;
  for (int q = 1; q <= instance.useful_machines(); ++q) {
    const double time = instance.exact_time(i, q);
    if (!(time < kInfinity) || (sharing != nullptr && !sharing->fits_alone(i, q))) continue;
    double price = f + weights[0] * q / instance.machines();
    for (int r = 0; sharing != nullptr && r < sharing->resources(); ++r)
      if (const double need = sharing->need(r, i, q); need > 0)
        price += weights[r + 1] * need / sharing->capacity(r);
    least = std::min(least, time * price);
  }
  return least;
}

}  // namespace

double certified_bound(const Instance& instance, const graph::WorkPathCertificate& certificate) {
  constexpr double kTolerance = kExactTolerance;
  const int n = instance.jobs();
  const int resources = instance.sharing() != nullptr ? instance.sharing()->resources() : 0;
  const auto& [weights, flow, edges] = certificate;
  if (static_cast<int>(weights.size()) != 2 + resources || static_cast<int>(flow.size()) != n)
    throw_breach("wrong shape");
  double sum = 0;
  for (const double weight : weights) {
    if (!(weight >= 0)) throw_breach("a weight is negative");
    sum += weight;
  }
  if (std::abs(sum - 1) > kTolerance) throw_breach("the weights sum to " + to_text(sum));
  std::vector<double> inflow(n, 0.0), outflow(n, 0.0);
  for (const EdgeFlow& edge : edges) {
    require_edge(instance, edge);
    outflow[edge.from] += edge.amount;
    inflow[edge.to] += edge.amount;
  }
  double flow_from_begin = 0, bound = 0;
  for (int i = 0; i < n; ++i) {
    if (!(flow[i] >= 0)) throw_breach("negative flow through job " + std::to_string(i));
    if (inflow[i] > flow[i] + kTolerance || outflow[i] > flow[i] + kTolerance)
      throw_breach("flow is not conserved at job " + std::to_string(i));
    const double from_begin = std::max(0.0, flow[i] - inflow[i]);
    flow_from_begin += from_begin;
    bound += from_begin * instance.release(i) + least_cost(instance, weights, i, flow[i]);
  }
  if (flow_from_begin > weights.back() + kTolerance)
    throw_breach("the flow is " + to_text(flow_from_begin) + ", the path's weight " +
                 to_text(weights.back()));
  return bound;
}

}  // namespace cosched::moldable::check
