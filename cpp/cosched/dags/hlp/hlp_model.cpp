#include "cosched/dags/hlp/hlp_model.hpp"

#include "cosched/dags/hlp/fractional.hpp"
#include "cosched/dags/model/paths.hpp"

namespace cosched::dags::hlp {
namespace {

// Where the model's columns and rows are.  Path rows: task by task, one a predecessor, or
// one where there is none.
struct HlpLayout {
  int tasks, types;
  bool has_one_share;  // Q = 2: x_j only

  explicit HlpLayout(const Instance& instance)
      : tasks(instance.tasks()), types(instance.types()), has_one_share(instance.types() == 2) {}

  int completion(int task) const { return 1 + task; }
  int share(int task, int type) const {
    return 1 + tasks + (has_one_share ? task : task * types + type);
  }
  static int path_rows(const TaskGraph& graph, int task) {
    return std::max(1, graph.predecessors(task).size());
  }
};

// Adds the duration of a task to a row `... <= upper`: sum_q p_jq x_jq, where the
// Q = 2 form p_cpu x + p_gpu (1 - x) has a constant that goes to the right-hand side.
void add_duration(lp::Model& model, const Instance& instance, const HlpLayout& layout, int row,
                  int task) {
  if (!layout.has_one_share) {
    for (int type = 0; type < layout.types; ++type)
      if (instance.can_run(task, type))
        model.add_entry(row, layout.share(task, type), instance.time(task, type));
    return;
  }
  const double cpu = instance.can_run(task, 0) ? instance.time(task, 0) : 0;
  const double gpu = instance.can_run(task, 1) ? instance.time(task, 1) : 0;
  model.add_entry(row, layout.share(task, 0), cpu - gpu);
  model.row_upper[row] -= gpu;
}

void add_columns(lp::Model& model, const Instance& instance, const HlpLayout& layout) {
  model.add_column(1);
  for (int task = 0; task < layout.tasks; ++task) model.add_column(0);
  for (int task = 0; task < layout.tasks; ++task) {
    if (layout.has_one_share) {  // x = 1 where only the CPU can, 0 where only the GPU can
      model.add_column(0, instance.can_run(task, 1) ? 0 : 1, instance.can_run(task, 0) ? 1 : 0);
      continue;
    }
    for (int type = 0; type < layout.types; ++type)
      model.add_column(0, 0, instance.can_run(task, type) ? kInfinity : 0);
  }
}

void add_paths(lp::Model& model, const Instance& instance, const HlpLayout& layout) {
  for (int task = 0; task < layout.tasks; ++task) {
    const auto before = instance.graph().predecessors(task);
    for (int k = 0; k < HlpLayout::path_rows(instance.graph(), task); ++k) {  // (1), (9); (2), (10)
      const int row = model.add_row(-kInfinity, 0);
      if (k < before.size()) model.add_entry(row, layout.completion(before.first[k]), 1);
      model.add_entry(row, layout.completion(task), -1);
      add_duration(model, instance, layout, row, task);
    }
  }
  for (int task = 0; task < layout.tasks; ++task) {  // (3), (11)
    const int row = model.add_row(-kInfinity, 0);
    model.add_entry(row, layout.completion(task), 1);
    model.add_entry(row, 0, -1);
  }
}

void add_loads(lp::Model& model, const Instance& instance, const HlpLayout& layout) {
  for (int type = 0; type < layout.types; ++type) {  // (4), (5), (12)
    const int row = model.add_row(-kInfinity, 0);
    model.add_entry(row, 0, -1);
    for (int task = 0; task < layout.tasks; ++task) {
      if (!instance.can_run(task, type)) continue;
      const double part = instance.time(task, type) / instance.units(type);
      const bool complement = layout.has_one_share && type == 1;  // p_gpu (1 - x)
      model.add_entry(row, layout.share(task, type), complement ? -part : part);
      if (complement) model.row_upper[row] -= part;
    }
  }
}

Table read_shares(const Instance& instance, const HlpLayout& layout, const std::vector<double>& x) {
  Table shares(layout.tasks, layout.types);
  for (int task = 0; task < layout.tasks; ++task) {
    if (layout.has_one_share) {
      shares(task, 0) = std::min(1.0, std::max(0.0, x[layout.share(task, 0)]));
      shares(task, 1) = 1 - shares(task, 0);
      continue;
    }
    for (int type = 0; type < layout.types; ++type)
      if (instance.can_run(task, type))
        shares(task, type) = std::max(0.0, x[layout.share(task, type)]);
    shares.row(task) /= shares.row(task).sum();
  }
  return shares;
}

// Prices of the path rows are flows on edges, those of the load rows the weights.
HlpCertificate read_certificate(const Instance& instance, const HlpLayout& layout,
                                const std::vector<double>& dual) {
  HlpCertificate certificate;
  std::vector<double> inflow(layout.tasks, 0.0), outflow(layout.tasks, 0.0),
      from_edges(layout.tasks, 0.0);
  int row = 0;
  for (int task = 0; task < layout.tasks; ++task) {
    const auto before = instance.graph().predecessors(task);
    for (int k = 0; k < HlpLayout::path_rows(instance.graph(), task); ++k, ++row) {
      const double amount = std::max(0.0, -dual[row]);
      inflow[task] += amount;
      if (k >= before.size() || amount == 0) continue;
      outflow[before.first[k]] += amount;
      from_edges[task] += amount;
      certificate.edge_flow.push_back({before.first[k], task, amount});
    }
  }
  double path = 0;
  for (int task = 0; task < layout.tasks; ++task, ++row) {
    const double flow = std::max(inflow[task], outflow[task] + std::max(0.0, -dual[row]));
    certificate.task_flow.push_back(flow);
    path += flow - from_edges[task];
  }
  double sum = path;
  for (int type = 0; type < layout.types; ++type, ++row) {
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
  const HlpLayout layout(instance);
  lp::Model model;
  add_columns(model, instance, layout);
  add_paths(model, instance, layout);
  add_loads(model, instance, layout);
  if (!layout.has_one_share)
    for (int task = 0; task < layout.tasks; ++task) {  // (13)
      const int row = model.add_row(1, 1);
      for (int type = 0; type < layout.types; ++type)
        model.add_entry(row, layout.share(task, type), 1);
    }
  return model;
}

HlpSolution hlp_from_lp(const Instance& instance, const lp::Solution& solution) {
  const HlpLayout layout(instance);
  HlpSolution result;
  result.value = solution.objective;
  result.x = read_shares(instance, layout, solution.x);
  result.completion =
      compute_earliest_ends(instance.graph(), fractional_durations(instance, result.x));
  result.certificate = read_certificate(instance, layout, solution.dual);
  return result;
}

}  // namespace cosched::dags::hlp
