// Energetic reasoning: the least work that tasks must do inside an interval [a, b), whatever
// the schedule of at most T, against what m_q units can do in it.
#pragma once

#include <iterator>

#include "cosched/dags/proof/certificate.hpp"
#include "cosched/dags/proof/effort.hpp"

namespace cosched::dags::proof {

/// Least time that `task` spends inside the interval if it runs on its type: the lesser of what
/// remains when it starts as early and when it starts as late as it can.
template <class Windows>
double energy(const Windows& windows, int task, const Interval& interval) {
  const int type = interval.type;
  const double p = windows.instance().time(task, type);
  const double early = windows.head(task, type) + p - interval.begin;
  const double late = interval.end - (windows.makespan() - windows.tail(task, type) - p);
  return std::max(0.0, std::min({p, interval.end - interval.begin, early, late}));
}

/// An interval that is kept from one T to the next: its end keeps its distance from T.
struct KeptInterval {
  int type = 0;
  double begin = 0, from_end = 0;

  KeptInterval(const Interval& interval, double makespan)
      : type(interval.type), begin(interval.begin), from_end(makespan - interval.end) {}
  /// Empty: nothing is left of it at this T.
  std::optional<Interval> at(double makespan) const {
    const double end = makespan - from_end;
    if (end <= begin) return std::nullopt;
    return Interval{type, begin, end};
  }
};

/// Intervals of one type in which fractional shares need too much.  Begins are heads and
/// latest starts of tasks, for each the worst end is found: O(n) after sorting.
class EnergySweep {
 public:
  struct Item {
    double head, p, latest, share;  // latest start
  };

  EnergySweep(int type, int units, std::vector<Item> items)
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

  struct Excess {
    Interval interval;
    double amount = 0;  // work needed - m_q (end - begin); may be negative
  };

  /// The worst interval that begins at `a`.
  // As b grows, what item k needs in [a, b) rises with slope share from max(a, latest) on until it
  // has reached r = min(p, head + p - a).
  Excess worst_from(double a) const {
    Turns kinds[] = {{Turn::start, items_, by_latest_, a},
                     {Turn::end_of_later, items_, by_latest_end_, a},
                     {Turn::end_of_either, items_, by_latest_and_early_end_, a},
                     {Turn::end_of_earlier, items_, by_early_end_, a}};
    double slope = -static_cast<double>(units_), value = 0, at = a;
    for (const Item& item : items_)
      if (item.latest <= a && item.head + item.p > a) slope += item.share;
    Excess worst{{type_, a, a}, -kInfinity};
    for (;;) {
      Turns& first = *std::min_element(
          std::begin(kinds), std::end(kinds),
          [](const Turns& one, const Turns& other) { return one.time() < other.time(); });
      if (first.time() == kInfinity) return worst;
      const double time = std::max(at, first.time());
      value += slope * (time - at);
      at = time;
      if (value > worst.amount && at > a) worst = {{type_, a, at}, value};
      slope += first.change();
      first.advance();
    }
  }

  /// Those from `begins` that exceed by more than is worth a row of a programme.
  std::vector<Excess> broken(const std::vector<double>& begins, double makespan) const {
    std::vector<Excess> found;
    Poll poll;
    for (const double begin : begins) {
      poll.count(12LL * tasks());
      const Excess excess = worst_from(begin);
      if (excess.amount > kWorthwhile * units_ * makespan) found.push_back(excess);
    }
    return found;
  }

  /// Different heads and latest starts of the tasks, at most `most` of them, evenly of the sorted.
  std::vector<double> begins(int most) const {
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

  int tasks() const { return static_cast<int>(items_.size()); }

 private:
  // Where the work that an item needs in [a, b) begins to grow, or stops growing, behind a.
  enum class Turn {
    start,           // of an item that can begin after a
    end_of_later,    // of one that cannot begin before a
    end_of_either,   // of one that can begin before or after a
    end_of_earlier,  // of one that cannot begin after a
  };

  static bool takes(Turn turn, const EnergySweep::Item& item, double a) {
    if (item.head + item.p <= a) return false;
    switch (turn) {
      case Turn::start:
        return item.latest > a;
      case Turn::end_of_later:
        return item.head >= a;
      case Turn::end_of_either:
        return item.head < a && item.latest > a;
      case Turn::end_of_earlier:
        return item.head < a && item.latest <= a;
    }
    return false;
  }

  static double time_of(Turn turn, const EnergySweep::Item& item, double a) {
    switch (turn) {
      case Turn::start:
        return item.latest;
      case Turn::end_of_later:
        return std::max(item.latest, a) + item.p;
      case Turn::end_of_either:
        return item.latest + item.head + item.p - a;
      case Turn::end_of_earlier:
        return item.head + item.p;
    }
    return kInfinity;
  }

  // The turns of one kind in order of time: the items are sorted by it.
  class Turns {
   public:
    Turns(Turn turn, const std::vector<EnergySweep::Item>& items, const std::vector<int>& order,
          double a)
        : turn_(turn), items_(items), order_(order), a_(a) {
      advance();
    }
    double time() const { return time_; }      // of the next, or infinity
    double change() const { return change_; }  // of the slope, there
    void advance() {
      for (; next_ < order_.size(); ++next_) {
        const EnergySweep::Item& item = items_[order_[next_]];
        if (!takes(turn_, item, a_)) continue;
        time_ = time_of(turn_, item, a_);
        change_ = turn_ == Turn::start ? item.share : -item.share;
        ++next_;
        return;
      }
      time_ = kInfinity;
    }

   private:
    Turn turn_;
    const std::vector<EnergySweep::Item>& items_;
    const std::vector<int>& order_;
    double a_;
    std::size_t next_ = 0;
    double time_ = kInfinity, change_ = 0;
  };

  int type_, units_;
  std::vector<Item> items_;
  // Numbers of items, sorted by what the name says.
  std::vector<int> by_latest_, by_latest_end_, by_latest_and_early_end_, by_early_end_;
};

/// `share(j, q)`: of task j on type q; tasks with share 0 of the type are left out.
template <class Windows>
EnergySweep sweep_of(const Windows& windows, int type, const Table& share) {
  const Instance& instance = windows.instance();
  std::vector<EnergySweep::Item> items;
  for (int task = 0; task < instance.tasks(); ++task) {
    if (share(task, type) <= 0 || !windows.open(task, type)) continue;
    const double p = instance.time(task, type);
    if (p > 0)
      items.push_back({windows.head(task, type), p,
                       windows.makespan() - windows.tail(task, type) - p,
                       std::min(1.0, share(task, type))});
  }
  return {type, instance.units(type), std::move(items)};
}

}  // namespace cosched::dags::proof
