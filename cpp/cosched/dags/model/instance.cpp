#include "cosched/dags/model/instance.hpp"

#include "cosched/core/errors.hpp"

namespace cosched::dags {
namespace {

using std::to_string;

void check_shape(const Table& times, const TaskGraph& graph, const std::vector<int>& units) {
  if (times.rows() == 0 || times.cols() == 0)
    throw InvalidInstance("times has shape (" + to_string(times.rows()) + ", " +
                          to_string(times.cols()) +
                          "): expected at least one task and one resource type");
  if (graph.tasks() != times.rows())
    throw InvalidInstance("the graph has " + to_string(graph.tasks()) + " tasks, times has " +
                          to_string(times.rows()) + " rows");
  if (static_cast<std::ptrdiff_t>(units.size()) != times.cols())
    throw InvalidInstance("units has " + to_string(units.size()) +
                          " entries: expected one for each of the " + to_string(times.cols()) +
                          " resource types (columns of times)");
  for (std::size_t q = 0; q < units.size(); ++q)
    if (units[q] < 1)
      throw InvalidInstance("units[" + to_string(q) + "] = " + to_string(units[q]) +
                            ": expected at least one unit");
}

void check_times(const Table& times) {
  double sum = 0;
  for (std::ptrdiff_t j = 0; j < times.rows(); ++j) {
    bool somewhere = false;
    for (std::ptrdiff_t q = 0; q < times.cols(); ++q) {
      const double t = times(j, q);
      if (!(t >= 0))
        throw InvalidInstance("times[" + to_string(j) + ", " + to_string(q) + "] = " + to_text(t) +
                              ": expected seconds >= 0, or infinity where the task cannot run");
      if (t == kInfinity) continue;
      somewhere = true;
      sum += t;
    }
    if (!somewhere)
      throw InvalidInstance("task " + to_string(j) + " can run nowhere: times[" + to_string(j) +
                            "] is infinite on every resource type");
  }
  if (sum == kInfinity) throw InvalidInstance("times: their sum overflows");
}

}  // namespace

Instance::Instance(Table times, TaskGraph graph, std::vector<int> units, Transfers transfers)
    : times_(std::move(times)),
      graph_(std::move(graph)),
      units_(std::move(units)),
      transfers_(std::move(transfers)) {
  check_shape(times_, graph_, units_);
  check_times(times_);
}

bool Instance::can_run(int task, int type) const { return time(task, type) != kInfinity; }

int Instance::fastest(int task) const {
  const double* p = row(task);
  return static_cast<int>(std::min_element(p, p + types()) - p);
}

void require_allocation(const Instance& instance, const Allocation& allocation) {
  if (static_cast<int>(allocation.size()) != instance.tasks())
    throw InvalidInstance("allocation has " + to_string(allocation.size()) +
                          " entries: expected one for each of the " + to_string(instance.tasks()) +
                          " tasks");
  for (int task = 0; task < instance.tasks(); ++task) {
    const int type = allocation[task];
    const std::string name = "allocation[" + to_string(task) + "] = " + to_string(type);
    if (type < 0 || type >= instance.types())
      throw InvalidInstance(name + ": expected a resource type in 0.." +
                            to_string(instance.types() - 1));
    if (!instance.can_run(task, type))
      throw InvalidInstance(name + ": the task cannot run on that resource type");
  }
}

std::vector<double> ranks(const TaskGraph& graph, const std::vector<double>& duration) {
  std::vector<double> rank(graph.tasks());
  for (auto it = graph.order().rbegin(); it != graph.order().rend(); ++it) {
    double after = 0;
    for (const int next : graph.successors(*it)) after = std::max(after, rank[next]);
    rank[*it] = duration[*it] + after;
  }
  return rank;
}

std::vector<double> earliest_ends(const TaskGraph& graph, const std::vector<double>& duration) {
  std::vector<double> end(graph.tasks());
  for (const int task : graph.order()) {
    double start = 0;
    for (const int before : graph.predecessors(task)) start = std::max(start, end[before]);
    end[task] = start + duration[task];
  }
  return end;
}

double time_grain(const Instance& instance) {
  constexpr double kMost = 1e9;  // multiples: finer than the tolerance of bounds it is of no use
  double grain = 0, sum = 0;
  for (int task = 0; task < instance.tasks(); ++task)
    for (int type = 0; type < instance.types(); ++type) {
      double time = instance.time(task, type);
      if (time == kInfinity) continue;
      sum += time;
      while (time > 0) {  // Euclid; std::fmod is exact
        const double rest = grain > 0 ? std::fmod(grain, time) : 0;
        grain = time;
        time = rest;
      }
      if (sum > kMost * grain) return 0;
    }
  return grain;
}

double least_above(double refuted, double grain) {
  if (grain <= 0) return refuted;
  double count = std::floor(refuted / grain);
  while (std::fma(count, grain, -refuted) > 0) --count;  // the sign is exact
  while (std::fma(count, grain, -refuted) <= 0) ++count;
  return count * grain;
}

double Plan::makespan() const {
  return end.empty() ? 0 : *std::max_element(end.begin(), end.end());
}

Schedule Plan::schedule() const {
  Schedule schedule;
  for (int task = 0; task < tasks(); ++task)
    schedule.place(task, kind[task], {unit[task]}, start[task], end[task]);
  return schedule;
}

}  // namespace cosched::dags
