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
    bool can_run = false;
    for (std::ptrdiff_t q = 0; q < times.cols(); ++q) {
      const double t = times(j, q);
      if (!(t >= 0))
        throw InvalidInstance("times[" + to_string(j) + ", " + to_string(q) + "] = " + to_text(t) +
                              ": expected seconds >= 0, or infinity where the task cannot run");
      if (t == kInfinity) continue;
      can_run = true;
      sum += t;
    }
    if (!can_run)
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

int Instance::fastest_type(int task) const {
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

}  // namespace cosched::dags
