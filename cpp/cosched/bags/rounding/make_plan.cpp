#include "cosched/bags/rounding/make_plan.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "cosched/bags/rounding/local_assign.hpp"
#include "cosched/core/errors.hpp"

namespace cosched::bags::rounding {
namespace {

using std::to_string;

void check_counts(const Instance& instance, const Counts& counts) {
  if (counts.rows() != instance.types() || counts.cols() != instance.machine_types())
    throw InvalidInstance("counts has shape (" + to_string(counts.rows()) + ", " +
                          to_string(counts.cols()) + "): expected (" + to_string(instance.types()) +
                          ", " + to_string(instance.machine_types()) + ")");
  for (int i = 0; i < instance.types(); ++i) {
    std::int64_t left = instance.count(i);
    for (int j = 0; j < instance.machine_types(); ++j) {
      const std::int64_t n = counts(i, j);
      if (n < 0 || n > left || (n > 0 && !instance.allowed(i, j)))
        throw InvalidInstance("counts[" + to_string(i) + ", " + to_string(j) +
                              "] = " + to_string(n) + ": expected 0.." +
                              to_string(instance.allowed(i, j) ? left : 0) + " of the " +
                              to_string(instance.count(i)) + " tasks");
      left -= n;
    }
    if (left > 0)
      throw InvalidInstance("counts[" + to_string(i) + "] leaves " + to_string(left) + " of " +
                            to_string(instance.count(i)) + " tasks without a machine type");
  }
}

std::vector<std::int64_t> column(const Counts& counts, int j) {
  std::vector<std::int64_t> result(counts.rows());
  for (std::ptrdiff_t i = 0; i < counts.rows(); ++i) result[i] = counts(i, j);
  return result;
}

}  // namespace

Plan make_plan(const Instance& instance, const Counts& counts) {
  check_counts(instance, counts);
  Plan plan;
  plan.counts = counts;
  for (int j = 0; j < instance.machine_types(); ++j) {
    std::vector<std::vector<Run>> of_machine(instance.machines(j));
    plan.loads.push_back(assign_locally(
        instance, j, column(counts, j), [&](int i, const std::vector<std::int64_t>& taken) {
          for (std::size_t k = 0; k < taken.size(); ++k)
            if (taken[k] > 0) of_machine[k].push_back({i, j, static_cast<int>(k), taken[k]});
        }));
    for (const std::vector<Run>& runs : of_machine)
      plan.runs.insert(plan.runs.end(), runs.begin(), runs.end());
  }
  return evaluated(instance, std::move(plan));
}

double profit_rate_of(const Instance& instance, const Counts& counts) {
  const double joules = joules_of(instance, counts);
  double makespan = instance.least_period(joules);
  for (int j = 0; j < instance.machine_types(); ++j)
    for (const double load :
         assign_locally(instance, j, column(counts, j), [](int, const auto&) {}))
      makespan = std::max(makespan, load);
  return instance.profit_rate(joules, makespan);
}

}  // namespace cosched::bags::rounding
