// Where a task fits best between the others, with the data that it takes and makes.
#pragma once

#include "cosched/core/rng.hpp"
#include "cosched/dags/search/place_decoder.hpp"

namespace cosched::dags::search {

/// Lengths of paths through every place of a task, from two passes over the others.  Limits of
/// memories are not counted.
class Reinsertion {
 public:
  Reinsertion(const Instance& instance, const PlaceDecoder& decoder)
      : instance_(instance),
        decoder_(decoder),
        least_(instance.tasks(), kInfinity),
        end_(instance.tasks()),
        tail_(instance.tasks()),
        position_(instance.tasks()),
        ready_(decoder.numbers().count()),
        rest_(decoder.numbers().count()) {
    for (int task = 0; task < instance.tasks(); ++task)
      for (int type = 0; type < instance.types(); ++type)
        if (instance.can_run(task, type))
          least_[task] = std::min(least_[task], instance.time(task, type));
  }

  /// Gives the task, whose unit is -1, a unit and a place in the order between its last predecessor
  /// and its first successor: the longest path through it is shortest, but each place is overlooked
  /// with probability `blink`.  `only`: a unit in whose memory it stays if that unit can run it;
  /// -1: anywhere.  Others without a unit take their least time, and their data costs nothing.
  /// Returns the length of that path: no schedule by this order and these units in which each unit
  /// takes its tasks in this order is shorter.  O(n + e + units (degree + 1)).
  double insert(int task, int only, double blink, Rng& rng, std::vector<int>& order,
                std::vector<int>& units) {
    const UnitNumbers& numbers = decoder_.numbers();
    const auto there = [&](int unit) {
      return only < 0 || numbers.memory(unit) == numbers.memory(only);
    };
    if (only >= 0 && !instance_.can_run(task, numbers.place(only).type)) only = -1;
    measure(task, order, units);
    const int n = instance_.tasks(), count = numbers.count(), at = position_[task];
    int low = 0, high = n;
    for (const int one : instance_.graph().predecessors(task))
      low = std::max(low, position_[one] + 1);
    for (const int one : instance_.graph().successors(task)) high = std::min(high, position_[one]);
    for (int unit = 0; unit < count; ++unit)
      if (there(unit) && instance_.can_run(task, numbers.place(unit).type)) {
        ready_[unit] = before(task, unit, units);
        rest_[unit] = after(task, unit, units);
      } else {
        ready_[unit] = kInfinity;
      }
    last_.assign(count, 0);
    next_.assign(count, 0);
    for (int k = 0; k < low; ++k)
      if (units[order[k]] >= 0) last_[units[order[k]]] = end_[order[k]];
    for (int k = n - 1; k >= high; --k)
      if (units[order[k]] >= 0) next_[units[order[k]]] = tail_[order[k]];

    double best = kInfinity;
    int to = at;
    const auto look = [&](int unit, int place, double following) {
      if (ready_[unit] == kInfinity || (best < kInfinity && rng.uniform() < blink)) return;
      const double length = std::max(ready_[unit], last_[unit]) + duration(task, unit) +
                            std::max(rest_[unit], following);
      if (length >= best) return;
      best = length;
      units[task] = unit;
      to = place;
    };
    for (int k = low; k < high; ++k) {
      const int one = order[k], unit = units[one];
      if (k == at || unit < 0) continue;
      look(unit, k, tail_[one]);
      last_[unit] = end_[one];
    }
    for (int unit = 0; unit < count; ++unit) look(unit, high, next_[unit]);
    const auto first = order.begin();
    if (to <= at)
      std::rotate(first + to, first + at, first + at + 1);
    else
      std::rotate(first + at, first + at + 1, first + to);
    return best;
  }

 private:
  double before(int task, int unit, const std::vector<int>& units) const {
    const int* edge = instance_.transfers().in_edges(task);
    double time = 0;
    for (const int one : instance_.graph().predecessors(task))
      time = std::max(time, end_[one] + seconds(*edge++, units[one], unit));
    return time;
  }

  double after(int task, int unit, const std::vector<int>& units) const {
    int edge = instance_.transfers().first_out(task);
    double time = 0;
    for (const int one : instance_.graph().successors(task))
      time = std::max(time, tail_[one] + seconds(edge++, unit, units[one]));
    return time;
  }

  // Paths without the task, in the order on each unit.
  void measure(int task, const std::vector<int>& order, const std::vector<int>& units) {
    const int n = instance_.tasks();
    end_[task] = tail_[task] = 0;
    last_.assign(decoder_.numbers().count(), 0);
    next_ = last_;
    for (int k = 0; k < n; ++k) {
      const int one = order[k], unit = units[one];
      position_[one] = k;
      if (one == task) continue;
      const double ready = std::max(before(one, unit, units), unit < 0 ? 0 : last_[unit]);
      end_[one] = ready + duration(one, unit);
      if (unit >= 0) last_[unit] = end_[one];
    }
    for (int k = n - 1; k >= 0; --k) {
      const int one = order[k], unit = units[one];
      if (one == task) continue;
      const double rest = std::max(after(one, unit, units), unit < 0 ? 0 : next_[unit]);
      tail_[one] = rest + duration(one, unit);
      if (unit >= 0) next_[unit] = tail_[one];
    }
  }

  double duration(int task, int unit) const {
    return unit < 0 ? least_[task] : instance_.time(task, decoder_.numbers().place(unit).type);
  }
  double seconds(int edge, int from, int to) const {
    return from < 0 || to < 0 ? 0 : decoder_.seconds(edge, from, to);
  }

  const Instance& instance_;
  const PlaceDecoder& decoder_;
  std::vector<double> least_;       // time of each task
  std::vector<double> end_, tail_;  // the longest path to its end, and from its begin
  std::vector<int> position_;
  std::vector<double> last_, next_;   // of each unit: the end before a place, the tail after it
  std::vector<double> ready_, rest_;  // the same by data
};

}  // namespace cosched::dags::search
