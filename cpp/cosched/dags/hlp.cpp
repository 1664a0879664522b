#include "cosched/dags/hlp.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "cosched/core/errors.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/dags/hlp_model.hpp"
#include "cosched/dags/hlp_structured.hpp"
#include "cosched/lp/glpk.hpp"

namespace cosched::dags {
namespace {

[[noreturn]] void breach(const std::string& text) { throw SolverError("hlp certificate: " + text); }

}  // namespace

double certified_bound(const Instance& instance, const Certificate& certificate) {
  constexpr double kTolerance = kExactTolerance;
  const int n = instance.tasks(), types = instance.types();
  const auto& weights = certificate.weights;
  const auto& flow = certificate.task_flow;
  if (static_cast<int>(weights.size()) != types + 1 || static_cast<int>(flow.size()) != n)
    breach("wrong shape");
  double sum = 0;
  for (const double weight : weights) {
    if (!(weight >= 0)) breach("a weight is negative");
    sum += weight;
  }
  if (std::abs(sum - 1) > kTolerance) breach("the weights sum to " + to_text(sum));

  std::vector<double> in(n, 0.0), out(n, 0.0);
  for (const auto& [from, to, amount] : certificate.edge_flow) {
    if (from < 0 || from >= n || to < 0 || to >= n || !(amount >= 0)) breach("a bad edge");
    const auto after = instance.graph().successors(from);
    if (!std::binary_search(after.begin(), after.end(), to))
      breach("flow from task " + std::to_string(from) + " to " + std::to_string(to) +
             ", which is no edge");
    out[from] += amount;
    in[to] += amount;
  }
  double begun = 0;  // what enters from the begin of the project
  double bound = 0;
  for (int task = 0; task < n; ++task) {
    if (!(flow[task] >= 0)) breach("negative flow through task " + std::to_string(task));
    if (in[task] > flow[task] + kTolerance || out[task] > flow[task] + kTolerance)
      breach("flow is not conserved at task " + std::to_string(task));
    begun += std::max(0.0, flow[task] - in[task]);
    double least = kInfinity;
    for (int type = 0; type < types; ++type)
      if (instance.can_run(task, type))
        least = std::min(
            least, instance.time(task, type) * (weights[type] / instance.units(type) + flow[task]));
    bound += least;
  }
  if (begun > weights.back() + kTolerance)
    breach("the flow is " + to_text(begun) + ", the path's weight " + to_text(weights.back()));
  return bound;
}

HlpSolution hlp(const Instance& instance, HlpMethod method) {
  if (method == HlpMethod::structured) {
    HlpSolution solution = hlp_so_far(instance);
    if (!solution.complete) throw TimeLimit("the time limit has passed");
    return solution;
  }
  const lp::Model model = hlp_model(instance);
  lp::GlpkOptions options;
  if (method == HlpMethod::glpk_primal) options.method = lp::GlpkOptions::Method::primal;
  const lp::Solution solution = lp::solve_glpk(model, options);
  lp::require_optimal(solution, "hlp");
  return hlp_from_lp(instance, solution);
}

namespace {

constexpr double kTie = kExactTolerance;  // of shares

void require_finite(const Table& x, std::ptrdiff_t task) {
  for (std::ptrdiff_t type = 0; type < x.cols(); ++type)
    if (!std::isfinite(x(task, type)))
      throw InvalidInstance("x[" + std::to_string(task) + ", " + std::to_string(type) +
                            "] = " + to_text(x(task, type)) + ": expected a finite share");
}

// Among the types that can run the task; -1 if there is none.
int type_of_largest_share(const Table& times, const Table& x, std::ptrdiff_t task) {
  double most = -kInfinity;
  for (std::ptrdiff_t type = 0; type < times.cols(); ++type)
    if (times(task, type) != kInfinity) most = std::max(most, x(task, type));
  int best = -1;
  for (int type = 0; type < times.cols(); ++type)
    if (times(task, type) != kInfinity && x(task, type) >= most - kTie &&
        (best < 0 || times(task, type) < times(task, best)))
      best = type;
  return best;
}

int rounded(const Table& times, const Table& x, std::ptrdiff_t task, double threshold) {
  if (times.cols() == 2 && times(task, 0) != kInfinity && times(task, 1) != kInfinity)
    return x(task, 0) >= threshold - kTie ? 0 : 1;
  return type_of_largest_share(times, x, task);
}

}  // namespace

Allocation round_allocation(const Table& times, const Table& x, double threshold) {
  if (x.rows() != times.rows() || x.cols() != times.cols())
    throw InvalidInstance("x has shape (" + std::to_string(x.rows()) + ", " +
                          std::to_string(x.cols()) + "): expected that of times, (" +
                          std::to_string(times.rows()) + ", " + std::to_string(times.cols()) + ")");
  Allocation allocation(times.rows());
  for (std::ptrdiff_t task = 0; task < times.rows(); ++task) {
    require_finite(x, task);
    allocation[task] = rounded(times, x, task, threshold);
    if (allocation[task] < 0)
      throw InvalidInstance("task " + std::to_string(task) +
                            " can run nowhere: its times are infinite or no numbers");
  }
  return allocation;
}

Allocation cheapest_types(const Instance& instance, const std::vector<double>& weights,
                          double flow) {
  Allocation cheapest(instance.tasks());
  for (int task = 0; task < instance.tasks(); ++task) {
    double least = kInfinity;
    for (int type = 0; type < instance.types(); ++type) {
      if (!instance.can_run(task, type)) continue;
      const double cost = instance.time(task, type) * (weights[type] / instance.units(type) + flow);
      if (cost >= least) continue;
      least = cost;
      cheapest[task] = type;
    }
  }
  return cheapest;
}

}  // namespace cosched::dags
