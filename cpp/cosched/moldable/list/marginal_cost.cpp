#include "cosched/moldable/list/marginal_cost.hpp"

#include <map>

#include "cosched/core/assert.hpp"
#include "cosched/core/interrupt.hpp"

namespace cosched::moldable::list {
namespace {

// All counts up to 20, then steps of 5%.
std::vector<int> candidate_counts(int max_count) {
  constexpr double kCountRatio = 1.05;
  std::vector<int> counts;
  for (int q = 1; q < max_count; q = std::max(q + 1, static_cast<int>(q * kCountRatio)))
    counts.push_back(q);
  counts.push_back(max_count);
  return counts;
}

// Idle processors by the time from which they are idle.
class IdleTimes {
 public:
  explicit IdleTimes(int machines) { procs_by_time_[0] = machines; }

  auto begin() const { return procs_by_time_.begin(); }

  void occupy(int procs, double until) {
    for (int missing = procs; missing > 0;) {
      const auto first = procs_by_time_.begin();
      const int occupied = std::min(missing, first->second);
      first->second -= occupied;
      missing -= occupied;
      if (first->second == 0) procs_by_time_.erase(first);
    }
    procs_by_time_[until] += procs;
  }

 private:
  std::map<double, int> procs_by_time_;
};

}  // namespace

Placement marginal_cost_schedule(const Instance& instance, const std::vector<int>& order,
                                 double factor) {
  COSCHED_ASSERT(factor >= 0 && !instance.has_releases());
  const int m = instance.machines();
  const std::vector<int> counts = candidate_counts(instance.useful_machines());
  IdleTimes idle(m);
  Placement placement = empty_placement(instance.jobs());
  double later_weight = std::accumulate(instance.weights().begin(), instance.weights().end(), 0.0);
  int jobs_placed = 0;
  for (const int i : order) {
    const double weight = instance.weight(i), least_time = instance.least_time(i);
    later_weight = std::max(0.0, later_weight - weight);
    const double area_price = factor * later_weight / m;
    double least = kInfinity, from = 0, area_cost = 0;
    int chosen = 0;
    auto idle_time = idle.begin();  // when the first q processors are idle
    int idle_procs = idle_time->second;
    for (const int q : counts) {
      while (idle_procs < q) {
        ++idle_time;
        idle_procs += idle_time->second;
      }
      // Idle times only grow, and so does work under property (2).
      if (weight * (idle_time->first + least_time) + area_cost >= least) break;
      const double t = instance.time(i, q);
      if (t == kInfinity) continue;
      const double cost = weight * (idle_time->first + t) + area_price * (q * t);
      if (instance.has_monotone_work()) area_cost = area_price * (q * t);
      if (cost < least) {
        least = cost;
        chosen = q;
        from = idle_time->first;
      }
    }
    place(instance, placement, i, chosen, from);
    idle.occupy(placement.procs[i], placement.end[i]);
    ++jobs_placed;
    if (jobs_placed % 256 == 0) check_interrupt();
  }
  return placement;
}

}  // namespace cosched::moldable::list
