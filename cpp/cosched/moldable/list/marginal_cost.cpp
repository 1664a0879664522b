#include "cosched/moldable/list/marginal_cost.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/moldable/list/order.hpp"

namespace cosched::moldable::list {
namespace {

std::vector<int> tried_counts(int most) {
  std::vector<int> counts;
  for (int q = 1; q < most; q = std::max(q + 1, static_cast<int>(q * 1.05))) counts.push_back(q);
  counts.push_back(most);
  return counts;
}

// Idle processors by the time from which they are.
class IdleTimes {
 public:
  explicit IdleTimes(int machines) { at_[0] = machines; }

  auto begin() const { return at_.begin(); }

  void take(int procs, double until) {
    for (int missing = procs; missing > 0;) {
      const auto first = at_.begin();
      const int taken = std::min(missing, first->second);
      first->second -= taken;
      missing -= taken;
      if (first->second == 0) at_.erase(first);
    }
    at_[until] += procs;
  }

 private:
  std::map<double, int> at_;
};

}  // namespace

std::vector<int> by_density(const Instance& instance) {
  return jobs_by(instance.jobs(),
                 [&](int i) { return -instance.weight(i) / instance.least_work(i); });
}

std::vector<int> by_least_work(const Instance& instance) {
  return jobs_by(instance.jobs(), [&](int i) { return instance.least_work(i); });
}

Placement marginal_cost_schedule(const Instance& instance, const std::vector<int>& order,
                                 double factor) {
  const int m = instance.machines();
  const std::vector<int> counts = tried_counts(instance.useful_machines());
  IdleTimes idle(m);
  Placement placement = unplaced(instance.jobs());
  double later = std::accumulate(instance.weights().begin(), instance.weights().end(), 0.0);
  int since_check = 0;
  for (const int i : order) {
    const double weight = instance.weight(i), least_time = instance.least_time(i);
    later = std::max(0.0, later - weight);
    const double area_price = factor * later / m;
    double least = kInfinity, from = 0, area_cost = 0;
    int chosen = 0;
    auto at = idle.begin();
    int reached = at->second;
    for (const int q : counts) {
      while (reached < q) reached += (++at)->second;
      // Idle times only grow, and so does work under property (2).
      if (weight * (at->first + least_time) + area_cost >= least) break;
      const double t = instance.time(i, q);
      if (t == kInfinity) continue;
      const double cost = weight * (at->first + t) + area_price * (q * t);
      if (instance.monotone_work()) area_cost = area_price * (q * t);
      if (cost < least) {
        least = cost;
        chosen = q;
        from = at->first;
      }
    }
    place(instance, placement, i, chosen, from);
    idle.take(placement.procs[i], placement.end[i]);
    if (++since_check % 256 == 0) check_interrupt();
  }
  return placement;
}

}  // namespace cosched::moldable::list
