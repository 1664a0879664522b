#include "cosched/dags/hlp/hlp.hpp"

#include <cstdlib>

#include "cosched/dags/hlp/bounds.hpp"
#include "cosched/dags/hlp/structured.hpp"
#include "cosched/dags/hlp/trade_off.hpp"
#include "cosched/lp/glpk.hpp"

namespace cosched::dags::hlp {

Solution hlp(const Instance& instance, Method method) {
  if (method == Method::structured) {
    Solution solution = hlp_so_far(instance);
    if (!solution.failure.empty()) throw SolverError(solution.failure);
    if (!solution.complete) throw TimeLimit("the time limit has passed");
    return solution;
  }
  lp::GlpkOptions options;
  if (method == Method::glpk_primal) options.method = lp::GlpkOptions::Method::primal;
  return at_ordinary_scale(instance, [&](const Instance& scaled) {
    const lp::Solution solution = lp::solve_glpk(hlp_model(scaled), options);
    lp::require_optimal(solution, "hlp");
    return hlp_from_lp(scaled, solution);
  });
}

namespace {

constexpr int kOrdinary = 20;   // powers of two around 1
constexpr int kGreatest = 900;  // of any time: sums of them must not overflow

Instance scaled(const Instance& instance, int power) {
  Table times = instance.times();
  for (double& time : times) time = std::ldexp(time, power);
  return {std::move(times), instance.graph(), instance.units(), instance.transfers()};
}

}  // namespace

Solution at_ordinary_scale(const Instance& instance,
                           const std::function<Solution(const Instance&)>& solve) {
  const double path = critical_path_bound(instance);
  if (!(path > 0)) return solve(instance);
  const int power =
      std::max(std::ilogb(path), std::ilogb(longest_finite(instance.times())) - kGreatest);
  if (std::abs(power) <= kOrdinary) return solve(instance);
  Solution found = solve(scaled(instance, -power));
  found.value = std::ldexp(found.value, power);
  for (double& end : found.completion) end = std::ldexp(end, power);
  return found;
}

namespace {

// Where the model's columns and rows are.  Path rows: task by task, one a predecessor, or
// one where there is none.
struct Layout {
  int tasks, types;
  bool one_share;  // Q = 2: x_j only

  explicit Layout(const Instance& instance)
      : tasks(instance.tasks()), types(instance.types()), one_share(instance.types() == 2) {}

  int completion(int task) const { return 1 + task; }
  int share(int task, int type) const {
    return 1 + tasks + (one_share ? task : task * types + type);
  }
  static int path_rows(const TaskGraph& graph, int task) {
    return std::max(1, graph.predecessors(task).size());
  }
};

// Adds the duration of a task to a row `... <= upper`: sum_q p_jq x_jq, where the
// Q = 2 form p_cpu x + p_gpu (1 - x) has a constant that goes to the right-hand side.
void add_duration(lp::Model& model, const Instance& instance, const Layout& at, int row, int task) {
  if (!at.one_share) {
    for (int type = 0; type < at.types; ++type)
      if (instance.can_run(task, type))
        model.add_entry(row, at.share(task, type), instance.time(task, type));
    return;
  }
  const double cpu = instance.can_run(task, 0) ? instance.time(task, 0) : 0;
  const double gpu = instance.can_run(task, 1) ? instance.time(task, 1) : 0;
  model.add_entry(row, at.share(task, 0), cpu - gpu);
  model.row_upper[row] -= gpu;
}

void add_columns(lp::Model& model, const Instance& instance, const Layout& at) {
  model.add_column(1);
  for (int task = 0; task < at.tasks; ++task) model.add_column(0);
  for (int task = 0; task < at.tasks; ++task) {
    if (at.one_share) {  // x = 1 where only the CPU can, 0 where only the GPU can
      model.add_column(0, instance.can_run(task, 1) ? 0 : 1, instance.can_run(task, 0) ? 1 : 0);
      continue;
    }
    for (int type = 0; type < at.types; ++type)
      model.add_column(0, 0, instance.can_run(task, type) ? kInfinity : 0);
  }
}

void add_paths(lp::Model& model, const Instance& instance, const Layout& at) {
  for (int task = 0; task < at.tasks; ++task) {
    const auto before = instance.graph().predecessors(task);
    for (int k = 0; k < Layout::path_rows(instance.graph(), task); ++k) {  // (1), (9); (2), (10)
      const int row = model.add_row(-kInfinity, 0);
      if (k < before.size()) model.add_entry(row, at.completion(before.first[k]), 1);
      model.add_entry(row, at.completion(task), -1);
      add_duration(model, instance, at, row, task);
    }
  }
  for (int task = 0; task < at.tasks; ++task) {  // (3), (11)
    const int row = model.add_row(-kInfinity, 0);
    model.add_entry(row, at.completion(task), 1);
    model.add_entry(row, 0, -1);
  }
}

void add_loads(lp::Model& model, const Instance& instance, const Layout& at) {
  for (int type = 0; type < at.types; ++type) {  // (4), (5), (12)
    const int row = model.add_row(-kInfinity, 0);
    model.add_entry(row, 0, -1);
    for (int task = 0; task < at.tasks; ++task) {
      if (!instance.can_run(task, type)) continue;
      const double part = instance.time(task, type) / instance.units(type);
      const bool complement = at.one_share && type == 1;  // p_gpu (1 - x)
      model.add_entry(row, at.share(task, type), complement ? -part : part);
      if (complement) model.row_upper[row] -= part;
    }
  }
}

Table read_shares(const Instance& instance, const Layout& at, const std::vector<double>& x) {
  Table shares(at.tasks, at.types);
  for (int task = 0; task < at.tasks; ++task) {
    if (at.one_share) {
      shares(task, 0) = std::min(1.0, std::max(0.0, x[at.share(task, 0)]));
      shares(task, 1) = 1 - shares(task, 0);
      continue;
    }
    for (int type = 0; type < at.types; ++type)
      if (instance.can_run(task, type)) shares(task, type) = std::max(0.0, x[at.share(task, type)]);
    shares.row(task) /= shares.row(task).sum();
  }
  return shares;
}

// Prices of the path rows are flows on edges, those of the load rows the weights.
Certificate read_certificate(const Instance& instance, const Layout& at,
                             const std::vector<double>& dual) {
  Certificate certificate;
  std::vector<double> in(at.tasks, 0.0), out(at.tasks, 0.0), from_edges(at.tasks, 0.0);
  int row = 0;
  for (int task = 0; task < at.tasks; ++task) {
    const auto before = instance.graph().predecessors(task);
    for (int k = 0; k < Layout::path_rows(instance.graph(), task); ++k, ++row) {
      const double amount = std::max(0.0, -dual[row]);
      in[task] += amount;
      if (k >= before.size() || amount == 0) continue;
      out[before.first[k]] += amount;
      from_edges[task] += amount;
      certificate.edge_flow.push_back({before.first[k], task, amount});
    }
  }
  double path = 0;
  for (int task = 0; task < at.tasks; ++task, ++row) {
    const double flow = std::max(in[task], out[task] + std::max(0.0, -dual[row]));
    certificate.task_flow.push_back(flow);
    path += flow - from_edges[task];
  }
  double sum = path;
  for (int type = 0; type < at.types; ++type, ++row) {
    certificate.weights.push_back(std::max(0.0, -dual[row]));
    sum += certificate.weights.back();
  }
  certificate.weights.push_back(path);
  if (sum <= 0) {  // LP* = 0, and no row has a price
    certificate.weights.back() = 1;
    return certificate;
  }
  for (double& weight : certificate.weights) weight /= sum;
  for (double& flow : certificate.task_flow) flow /= sum;
  for (EdgeFlow& edge : certificate.edge_flow) edge.amount /= sum;
  return certificate;
}

}  // namespace

lp::Model hlp_model(const Instance& instance) {
  const Layout at(instance);
  lp::Model model;
  add_columns(model, instance, at);
  add_paths(model, instance, at);
  add_loads(model, instance, at);
  if (!at.one_share)
    for (int task = 0; task < at.tasks; ++task) {  // (13)
      const int row = model.add_row(1, 1);
      for (int type = 0; type < at.types; ++type) model.add_entry(row, at.share(task, type), 1);
    }
  return model;
}

Solution hlp_from_lp(const Instance& instance, const lp::Solution& solution) {
  const Layout at(instance);
  Solution result;
  result.value = solution.objective;
  result.x = read_shares(instance, at, solution.x);
  result.completion = earliest_ends(instance.graph(), fractional_durations(instance, result.x));
  result.certificate = read_certificate(instance, at, solution.dual);
  return result;
}

}  // namespace cosched::dags::hlp
