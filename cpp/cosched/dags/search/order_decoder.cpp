#include "cosched/dags/search/order_decoder.hpp"

namespace cosched::dags::search {

OrderDecoder::OrderDecoder(const Instance& instance)
    : instance_(instance),
      topological_position_(instance.tasks()),
      profile_(instance.types()),
      start_(instance.tasks()),
      end_(instance.tasks()) {
  const std::vector<int>& order = instance.graph().order();
  for (std::size_t k = 0; k < order.size(); ++k)
    topological_position_[order[k]] = static_cast<int>(k);
}

double OrderDecoder::decode_serial(const std::vector<int>& order, const Allocation& allocation,
                                   bool justify) {
  double makespan = place_all(order, allocation, false);
  if (!justify) return makespan;
  std::vector<int> order_by_time(order);
  std::sort(order_by_time.begin(), order_by_time.end(), [&](int a, int b) {
    return std::pair(end_[a], topological_position_[a]) >
           std::pair(end_[b], topological_position_[b]);
  });
  place_all(order_by_time, allocation, true);
  std::sort(order_by_time.begin(), order_by_time.end(), [&](int a, int b) {
    return std::pair(-end_[a], topological_position_[a]) <
           std::pair(-end_[b], topological_position_[b]);
  });
  return place_all(order_by_time, allocation, false);
}

double OrderDecoder::decode_list(const std::vector<int>& order, const Allocation& allocation) {
  std::vector<double> priority(instance_.tasks());
  for (std::size_t k = 0; k < order.size(); ++k) priority[order[k]] = -static_cast<double>(k);
  Plan plan = list::list_schedule(instance_, allocation, priority);
  start_ = std::move(plan.start);
  end_ = std::move(plan.end);
  return *std::max_element(end_.begin(), end_.end());
}

std::vector<int> OrderDecoder::order_by_start() const {
  std::vector<int> order(instance_.tasks());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return std::pair(start_[a], topological_position_[a]) <
           std::pair(start_[b], topological_position_[b]);
  });
  return order;
}

std::optional<Plan> OrderDecoder::plan(const Allocation& allocation) const {
  Plan plan(instance_.tasks());
  std::vector<int> order(instance_.tasks());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return std::tuple(start_[a], end_[a], a) < std::tuple(start_[b], end_[b], b);
  });
  using Release = std::pair<double, int>;  // (end, unit)
  std::vector<std::priority_queue<Release, std::vector<Release>, std::greater<>>> busy_units(
      instance_.types());
  std::vector<int> used_units(instance_.types(), 0);
  for (const int task : order) {
    const int type = allocation[task];
    int unit = -1;
    if (!busy_units[type].empty() && busy_units[type].top().first <= start_[task]) {
      unit = busy_units[type].top().second;
      busy_units[type].pop();
    } else if (used_units[type] < instance_.units(type)) {
      unit = used_units[type]++;
    } else {
      return std::nullopt;
    }
    busy_units[type].emplace(end_[task], unit);
    plan.set(task, type, unit, start_[task], end_[task]);
  }
  return plan;
}

// Places all tasks in this order; returns the makespan.  If `backward`, edges are reversed and
// times run from the end of the schedule.
double OrderDecoder::place_all(const std::vector<int>& order, const Allocation& allocation,
                               bool backward) {
  for (int type = 0; type < instance_.types(); ++type)
    profile_[type].assign(1, {0, instance_.units(type)});
  double makespan = 0;
  for (const int task : order) {
    const int type = allocation[task];
    double ready = 0;
    for (const int before :
         backward ? instance_.graph().successors(task) : instance_.graph().predecessors(task))
      ready = std::max(ready, end_[before]);
    const double duration = instance_.time(task, type);
    start_[task] = place(profile_[type], ready, duration);
    end_[task] = start_[task] + duration;
    makespan = std::max(makespan, end_[task]);
  }
  return makespan;
}

// Occupies a unit from the earliest start >= ready at which one is free for the duration; returns
// that start.
double OrderDecoder::place(std::vector<ProfileStep>& profile, double ready, double duration) const {
  auto from =
      std::upper_bound(profile.begin(), profile.end(), ready,
                       [](double time, const ProfileStep& step) { return time < step.time; });
  std::size_t first = static_cast<std::size_t>(from - profile.begin()) - 1;
  std::size_t last = first;  // the steps first .. last are free
  for (;;) {
    while (profile[first].free_units == 0) ++first;
    last = first;
    const double end = std::max(ready, profile[first].time) + duration;
    while (last + 1 < profile.size() && profile[last + 1].time < end &&
           profile[last + 1].free_units > 0)
      ++last;
    if (last + 1 == profile.size() || profile[last + 1].time >= end) break;
    ++last;
    first = last;
  }
  const double start = std::max(ready, profile[first].time), end = start + duration;
  if (duration <= 0) return start;
  const bool splits_end = last + 1 == profile.size() || profile[last + 1].time > end;
  if (splits_end)
    profile.insert(profile.begin() + static_cast<std::ptrdiff_t>(last) + 1,
                   {end, profile[last].free_units});
  if (profile[first].time < start) {
    profile.insert(profile.begin() + static_cast<std::ptrdiff_t>(first) + 1,
                   {start, profile[first].free_units});
    ++first;
    ++last;
  }
  for (std::size_t k = first; k <= last; ++k) --profile[k].free_units;
  return start;
}

}  // namespace cosched::dags::search
