#include "cosched/moldable/model/placement.hpp"

#include "cosched/core/order.hpp"

namespace cosched::moldable {

Placement empty_placement(int jobs) {
  return {Allotment(jobs, 0), std::vector<double>(jobs, 0), std::vector<double>(jobs, 0)};
}

std::vector<int> order_by_start(const Placement& placement) {
  return sorted_numbers(placement.jobs(),
                        [&](int a, int b) { return placement.start[a] < placement.start[b]; });
}

double makespan(const Placement& placement) {
  return placement.end.empty() ? 0 : *std::max_element(placement.end.begin(), placement.end.end());
}

double weighted_completion(const Instance& instance, const Placement& placement) {
  double sum = 0;
  for (int i = 0; i < placement.jobs(); ++i) sum += instance.weight(i) * placement.end[i];
  return sum;
}

Criteria evaluate_criteria(const Instance& instance, const Placement& placement) {
  return {makespan(placement), weighted_completion(instance, placement)};
}

Schedule to_schedule(const Instance& instance, const Placement& placement) {
  constexpr std::int64_t kMost = std::int64_t{1} << 25;
  std::int64_t total = 0;
  for (const int q : placement.procs) total += q;
  if (total > kMost)
    throw InvalidInstance("the jobs hold " + std::to_string(total) +
                          " processors in all: too many to number each");
  return assign_units(placement.start, placement.end, placement.procs, instance.machines());
}

}  // namespace cosched::moldable
