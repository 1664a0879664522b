#include "cosched/core/sharing.hpp"

#include <algorithm>
#include <utility>

#include "cosched/core/running_set.hpp"

namespace cosched {
namespace {

using std::to_string;

std::string entry_of(const std::string& name, std::ptrdiff_t i, std::ptrdiff_t j, double value) {
  return name + "[" + to_string(i) + ", " + to_string(j) + "] = " + to_text(value);
}

void require_shape(const Matrix<double>& table, int tasks, const std::string& name) {
  if (table.rows() != tasks || table.cols() < 1)
    throw InvalidInstance(name + " has shape (" + to_string(table.rows()) + ", " +
                          to_string(table.cols()) + "): expected a row for each of " +
                          to_string(tasks) + " tasks");
}

void require_amounts(const Matrix<double>& table, int tasks, const std::string& name) {
  require_shape(table, tasks, name);
  for (std::ptrdiff_t i = 0; i < table.rows(); ++i)
    for (std::ptrdiff_t j = 0; j < table.cols(); ++j)
      if (!(table(i, j) >= 0) || table(i, j) == kInfinity)
        throw InvalidInstance(entry_of(name, i, j, table(i, j)) +
                              ": expected a finite number >= 0");
}

void require_slowdowns(const Slowdowns& slowdowns, int tasks) {
  const Matrix<double>& table = slowdowns.table;
  if (table.rows() != tasks || table.cols() != tasks)
    throw InvalidInstance("slowdowns has shape (" + to_string(table.rows()) + ", " +
                          to_string(table.cols()) + "): expected (" + to_string(tasks) + ", " +
                          to_string(tasks) + ")");
  for (int i = 0; i < tasks; ++i)
    for (int j = 0; j < tasks; ++j)
      if (i != j && (!(table(i, j) > 0) || table(i, j) == kInfinity))
        throw InvalidInstance(entry_of("slowdowns", i, j, table(i, j)) +
                              ": expected time beside / time alone, a finite number > 0");
}

void require_bandwidth(const Bandwidth& bandwidth, int tasks) {
  require_amounts(bandwidth.demand, tasks, "bandwidth.demand");
  if (!(bandwidth.capacity > 0))
    throw InvalidInstance("bandwidth.capacity = " + to_text(bandwidth.capacity) +
                          ": expected a number > 0");
  for (int i = 0; i < tasks; ++i)
    for (std::ptrdiff_t j = 0; j < bandwidth.demand.cols(); ++j)
      if (!leq(bandwidth.demand(i, j), bandwidth.capacity))
        throw InvalidInstance(entry_of("bandwidth.demand", i, j, bandwidth.demand(i, j)) +
                              ": expected at most the capacity " + to_text(bandwidth.capacity) +
                              ": alone a task cannot draw more");
  if (static_cast<int>(bandwidth.stall.size()) != tasks)
    throw InvalidInstance("bandwidth.stall has " + to_string(bandwidth.stall.size()) +
                          " entries: expected " + to_string(tasks));
  for (int i = 0; i < tasks; ++i)
    if (!(bandwidth.stall[i] >= 0 && bandwidth.stall[i] <= 1))
      throw InvalidInstance("bandwidth.stall[" + to_string(i) +
                            "] = " + to_text(bandwidth.stall[i]) + ": expected a share in 0..1");
}

// Whether each row has one value.
bool has_constant_rows(const Matrix<double>& table) {
  for (std::ptrdiff_t i = 0; i < table.rows(); ++i)
    for (std::ptrdiff_t j = 1; j < table.cols(); ++j)
      if (table(i, j) != table(i, 0)) return false;
  return true;
}

Matrix<double> rows_of(const Matrix<double>& table, const std::vector<int>& chosen) {
  Matrix<double> rows(static_cast<std::ptrdiff_t>(chosen.size()), table.cols());
  for (std::size_t k = 0; k < chosen.size(); ++k)
    rows.set_row(static_cast<std::ptrdiff_t>(k), table.row(chosen[k]));
  return rows;
}

}  // namespace

Sharing::Sharing(int tasks, std::vector<Resource> resources, std::optional<Slowdowns> slowdowns,
                 std::optional<Bandwidth> bandwidth)
    : tasks_(tasks),
      resources_(std::move(resources)),
      slowdowns_(std::move(slowdowns)),
      bandwidth_(std::move(bandwidth)) {
  for (const Resource& resource : resources_) {
    require_amounts(resource.need, tasks, "resources." + resource.name);
    if (!(resource.capacity >= 0))
      throw InvalidInstance("capacity." + resource.name + " = " + to_text(resource.capacity) +
                            ": expected a number >= 0");
    same_on_all_counts_ = same_on_all_counts_ && has_constant_rows(resource.need);
  }
  if (slowdowns_) {
    require_slowdowns(*slowdowns_, tasks);
    excess_ = Matrix<double>(tasks, tasks);
    for (int i = 0; i < tasks; ++i)
      for (int j = 0; j < tasks; ++j)
        if (i != j) excess_(i, j) = std::max(slowdowns_->table(i, j), 1.0) - 1;
  }
  if (bandwidth_) {
    require_bandwidth(*bandwidth_, tasks);
    same_on_all_counts_ = same_on_all_counts_ && has_constant_rows(bandwidth_->demand);
  }
}

bool Sharing::fits(const RunningTask* set, int count) const {
  for (int r = 0; r < resources(); ++r) {
    double sum = 0;
    for (int k = 0; k < count; ++k) sum += need(r, set[k].task, set[k].procs);
    if (!leq(sum, capacity(r))) return false;
  }
  return true;
}

std::vector<double> Sharing::factors(const std::vector<RunningTask>& set) const {
  std::vector<double> factors;
  double total_load = 0;
  for (const RunningTask& run : set) total_load += load(run.task, run.procs);
  for (const RunningTask& run : set) {
    double pair_factor = 1;
    for (const RunningTask& other : set)
      if (other.task != run.task)
        pair_factor = with_companion(rule(), pair_factor, excess(run.task, other.task));
    const double stall_factor =
        set.size() > 1 ? 1 + stall(run.task) * std::max(0.0, total_load - 1) : 1;
    factors.push_back(std::max(pair_factor, stall_factor));
  }
  return factors;
}

std::vector<double> Sharing::ends(const std::vector<RunningTask>& pack) const {
  RunningSet running(this);
  for (const RunningTask& run : pack) running.start(run, 0);
  std::vector<double> end_of(pack.size());
  while (running.size() > 0)
    for (const RunningSet::EndedTask& ended : running.finish())
      for (std::size_t k = 0; k < pack.size(); ++k)
        if (pack[k].task == ended.task) end_of[k] = ended.end;
  return end_of;
}

std::shared_ptr<const Sharing> Sharing::without_slowdowns() const {
  if (resources_.empty()) return nullptr;
  return std::make_shared<const Sharing>(tasks_, resources_, std::nullopt, std::nullopt);
}

Sharing Sharing::select(const std::vector<int>& chosen) const {
  std::vector<Resource> resources = resources_;
  for (Resource& resource : resources) resource.need = rows_of(resource.need, chosen);
  std::optional<Slowdowns> slowdowns = slowdowns_;
  if (slowdowns) {
    const auto n = static_cast<std::ptrdiff_t>(chosen.size());
    slowdowns->table = Matrix<double>(n, n, 1);
    for (std::ptrdiff_t a = 0; a < n; ++a)
      for (std::ptrdiff_t b = 0; b < n; ++b)
        if (a != b) slowdowns->table(a, b) = slowdowns_->table(chosen[a], chosen[b]);
  }
  std::optional<Bandwidth> bandwidth = bandwidth_;
  if (bandwidth) {
    bandwidth->demand = rows_of(bandwidth_->demand, chosen);
    bandwidth->stall.clear();
    for (const int i : chosen) bandwidth->stall.push_back(bandwidth_->stall[i]);
  }
  return Sharing(static_cast<int>(chosen.size()), std::move(resources), std::move(slowdowns),
                 std::move(bandwidth));
}

}  // namespace cosched
