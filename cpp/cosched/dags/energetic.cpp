#include "cosched/dags/energetic.hpp"

#include <numeric>
#include <utility>

#include "cosched/core/numeric.hpp"

namespace cosched::dags {

namespace {

std::vector<EnergySweep::Item> items_of(const TimeWindows& windows, int type,
                                        const std::vector<double>& share) {
  const Instance& instance = windows.instance();
  std::vector<EnergySweep::Item> items;
  for (int task = 0; task < instance.tasks(); ++task) {
    if (share[task] <= 0 || !windows.open(task, type)) continue;
    const double p = instance.time(task, type);
    if (p > 0)
      items.push_back({windows.head(task), p, windows.makespan() - windows.tail(task) - p,
                       std::min(1.0, share[task])});
  }
  return items;
}

}  // namespace

EnergySweep::EnergySweep(const TimeWindows& windows, int type, const std::vector<double>& share)
    : EnergySweep(type, windows.instance().units(type), items_of(windows, type, share)) {}

EnergySweep::EnergySweep(int type, int units, std::vector<Item> items)
    : type_(type), units_(units), items_(std::move(items)) {
  const auto sorted = [&](auto key) {
    std::vector<std::pair<double, int>> keyed;
    keyed.reserve(items_.size());
    for (int k = 0; k < tasks(); ++k) keyed.emplace_back(key(items_[k]), k);
    std::sort(keyed.begin(), keyed.end());
    std::vector<int> order;
    order.reserve(items_.size());
    for (const auto& [value, k] : keyed) order.push_back(k);
    return order;
  };
  by_latest_ = sorted([](const Item& item) { return item.latest; });
  by_latest_end_ = sorted([](const Item& item) { return item.latest + item.p; });
  by_latest_and_early_end_ =
      sorted([](const Item& item) { return item.latest + item.head + item.p; });
  by_early_end_ = sorted([](const Item& item) { return item.head + item.p; });
}

std::vector<double> EnergySweep::begins(int most) const {
  std::vector<double> times;
  times.reserve(2 * items_.size());
  for (const Item& item : items_) {
    times.push_back(item.head);
    if (item.latest > item.head) times.push_back(item.latest);
  }
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  if (static_cast<int>(times.size()) <= most) return times;
  std::vector<double> kept;
  for (int k = 0; k < most; ++k) kept.push_back(times[k * times.size() / most]);
  return kept;
}

namespace {

// A sorted list of items, seen through a filter, as events (time, change of slope).
struct Cursor {
  const std::vector<int>* order;
  std::size_t next = 0;
  double time = kInfinity, share = 0;
};

}  // namespace

// As b grows, what item k needs in [a, b) rises with slope share from max(a, latest) on until it
// has reached r = min(p, head + p - a).
EnergySweep::Excess EnergySweep::worst_from(double a) const {
  const double units = units_;
  // Starts: items that can begin after a.  Ends: of those with head >= a; of those with head < a
  // that may begin after a; of those that have begun before a at the latest.
  Cursor cursors[4] = {
      {&by_latest_}, {&by_latest_end_}, {&by_latest_and_early_end_}, {&by_early_end_}};
  const auto advance = [&](int which) {
    Cursor& cursor = cursors[which];
    for (; cursor.next < cursor.order->size(); ++cursor.next) {
      const Item& item = items_[(*cursor.order)[cursor.next]];
      if (item.head + item.p <= a) continue;
      if (which == 0   ? item.latest <= a
          : which == 1 ? item.head < a
          : which == 2 ? item.head >= a || item.latest <= a
                       : item.head >= a || item.latest > a)
        continue;
      cursor.time = which == 0   ? item.latest
                    : which == 1 ? std::max(item.latest, a) + item.p
                    : which == 2 ? item.latest + item.head + item.p - a
                                 : item.head + item.p;
      cursor.share = which == 0 ? item.share : -item.share;
      ++cursor.next;
      return;
    }
    cursor.time = kInfinity;
  };
  double slope = -units, value = 0, at = a;
  for (const Item& item : items_)
    if (item.latest <= a && item.head + item.p > a) slope += item.share;
  for (int which = 0; which < 4; ++which) advance(which);
  Excess worst{{type_, a, a}, -kInfinity};
  for (;;) {
    int first = 0;
    for (int which = 1; which < 4; ++which)
      if (cursors[which].time < cursors[first].time) first = which;
    if (cursors[first].time == kInfinity) return worst;
    const double time = std::max(at, cursors[first].time);
    value += slope * (time - at);
    at = time;
    if (value > worst.amount && at > a) worst = {{type_, a, at}, value};
    slope += cursors[first].share;
    advance(first);
  }
}

}  // namespace cosched::dags
