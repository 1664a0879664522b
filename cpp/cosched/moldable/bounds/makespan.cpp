#include "cosched/moldable/bounds/makespan.hpp"

#include "cosched/core/interrupt.hpp"
#include "cosched/moldable/bounds/areas.hpp"

namespace cosched::moldable::bounds {
namespace {

// Jobs from the latest release to the first.
std::vector<int> order_by_latest_release(const Instance& instance) {
  std::vector<int> order(instance.jobs());
  std::iota(order.begin(), order.end(), 0);
  if (instance.has_releases())
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return instance.release(a) > instance.release(b); });
  return order;
}

// Whether the jobs' windows [r_i, d] can hold their least areas; false proves that no schedule of
// length d exists.
bool can_windows_hold_areas(const Instance& instance, const std::vector<int>& order, double d) {
  double area = 0;
  for (const int i : order) {
    area += instance.least_area(i, d - instance.release(i));
    if (!leq(area, instance.machines() * (d - instance.release(i)))) return false;
  }
  return true;
}

// Processors alone: max_r (r + sum_{r_i >= r} min_q q t_i(q) / m).
double work_bound(const Instance& instance) {
  double area = 0, bound = 0;
  for (const int i : order_by_latest_release(instance)) {
    area += instance.least_work(i);
    bound = std::max(bound, instance.release(i) + area / instance.machines());
  }
  return bound;
}

}  // namespace

double longest_bound(const Instance& instance) {
  double longest = 0;
  for (int i = 0; i < instance.jobs(); ++i)
    longest = std::max(longest, instance.release(i) + instance.least_time(i));
  return longest;
}

double area_bound(const Instance& instance) {
  const double work = work_bound(instance);
  return instance.sharing() == nullptr ? work : std::max(work, resource_area_bound(instance));
}

double window_bound(const Instance& instance) {
  const std::vector<int> order = order_by_latest_release(instance);
  double low = std::max(longest_bound(instance), work_bound(instance));
  if (can_windows_hold_areas(instance, order, low)) return low;
  double high = 2 * low;
  while (!can_windows_hold_areas(instance, order, high)) {
    low = high;
    high *= 2;
  }
  while (high > low * (1 + kExactTolerance)) {
    check_interrupt();
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    if (can_windows_hold_areas(instance, order, middle))
      high = middle;
    else
      low = middle;
  }
  return low;
}

}  // namespace cosched::moldable::bounds
