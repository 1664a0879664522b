// Schedules whose data fits into memories of limited capacity.
//
// Model of Herrmann, Marchal, Robert 2014: the data of edge (i, j) is in the memory of i from the
// start of i until the end of j where j shares that memory, else until the start of j; and then in
// the memory of j too, from the begin of its transfer until the end of j.  A transfer ends when j
// starts.  Nothing is evicted or computed anew.  At any time each memory holds at most its
// capacity.
#pragma once

#include <functional>
#include <iterator>
#include <list>

#include "cosched/core/interrupt.hpp"
#include "cosched/dags/list/heft.hpp"
#include "cosched/dags/list/insertion.hpp"

namespace cosched::dags::list {

// Sums of bytes in another order.
inline constexpr double kRounding = 1e-12;

/// What a task brings into the memory where it runs.
struct Demand {
  /// (seconds, bytes) of what is fetched, by decreasing seconds: there from so long before the
  /// start.
  std::vector<std::pair<double, double>> fetched;
  double in = 0;   // bytes of that, until the end
  double out = 0;  // from the start on, until who takes it is placed
};

/// Bytes in one memory over time.
class MemoryProfile {
 public:
  explicit MemoryProfile(double capacity) : capacity_(capacity) {}

  /// The earliest start >= ready from which the demand fits, forever; infinity: there is none.
  double earliest(double ready, double duration, const Demand& demand) const {
    if (capacity_ == kInfinity) return ready;
    const double ahead = demand.fetched.empty() ? 0 : demand.fetched.front().first;
    for (double start = ready;;) {
      double next = start;
      auto step = std::prev(used_.upper_bound(std::max(0.0, start - ahead)));
      for (; step != used_.end() && next == start; ++step)
        next = next_start(step, start, duration, demand);
      if (next == start || next == kInfinity) return next;
      start = next;
    }
  }

  /// `bytes`, maybe negative, from a time on until another.
  void add(double from, double bytes, double to = std::numeric_limits<double>::infinity()) {
    if (capacity_ == kInfinity || bytes == 0 || !(from < to)) return;
    const auto last = to < kInfinity ? split(to) : used_.end();
    const auto first = split(std::max(0.0, from));
    for (auto step = first; step != last; ++step) step->second += bytes;
    const auto merge = [&](Steps::iterator step) {
      if (step != used_.end() && step != used_.begin() && std::prev(step)->second == step->second)
        used_.erase(step);
    };
    merge(first);
    merge(last);
  }

 private:
  using Steps = std::map<double, double>;

  Steps::iterator split(double time) {
    const auto after = used_.upper_bound(time);
    const auto at = std::prev(after);
    return at->first == time ? at : used_.emplace_hint(after, time, at->second);
  }

  // `start` where the demand fits into the step, else the least start later for which it does.
  // What is demanded grows until the start, stays until the end, and falls there to what stays.
  double next_start(Steps::const_iterator step, double start, double duration,
                    const Demand& demand) const {
    const auto after = std::next(step);
    const double begin = step->first, end = after == used_.end() ? kInfinity : after->first;
    const double room = capacity_ * (1 + kRounding) - step->second;
    const auto fetched_before = [&](double lead) {  // more than so long before the start
      double bytes = 0;
      for (const auto& [seconds, amount] : demand.fetched)
        if (seconds > lead) bytes += amount;
      return bytes;
    };
    const bool runs = begin < start + duration && start < end;
    const double need = runs             ? demand.in + demand.out
                        : begin >= start ? demand.out
                                         : fetched_before(start - end);
    if (need <= room) return start;
    if (end == kInfinity) return kInfinity;
    if (fetched_before(0) <= room) return end;
    double lead = kInfinity;
    for (const auto& [seconds, amount] : demand.fetched)
      if (fetched_before(seconds) <= room) lead = std::min(lead, seconds);
    return end + lead;
  }

  double capacity_;
  Steps used_{{0.0, 0.0}};  // from each key on
};

/// Insertion (insertion.hpp) where memories are limited: what a placed task has computed stays
/// until all who take it are placed, so that they find it.
class MemoryInsertion {
 public:
  /// Requires instance.transfers().given().
  explicit MemoryInsertion(const Instance& instance)
      : instance_(instance),
        plan_(instance.tasks()),
        units_(instance.types()),
        memory_(instance.types()) {
    std::map<std::int64_t, int> number;
    for (int type = 0; type < instance.types(); ++type) {
      units_[type].resize(useful_units(instance, type));
      for (int unit = 0; unit < static_cast<int>(units_[type].size()); ++unit) {
        const Place place{type, unit};
        const auto [found, fresh] =
            number.emplace(instance.transfers().memory(place), static_cast<int>(profiles_.size()));
        if (fresh) profiles_.emplace_back(instance.transfers().capacity(place));
        memory_[type].push_back(found->second);
      }
    }
  }

  /// The earliest start of a task, its predecessors placed, on a unit; infinite where it never
  /// fits.
  Choice on(int task, Place place) const {
    const double duration = instance_.time(task, place.type);
    const Demand needed = demand(task, place);
    const MemoryProfile& memory = profiles_[memory_of(place)];
    double start = arrival_at(instance_, plan_, task, place);
    for (;;) {
      const double idle = units_[place.type][place.unit].earliest(start, duration);
      start = memory.earliest(idle, duration, needed);
      if (start == idle) return {start + duration, start, place.type, place.unit};
      if (start == kInfinity) return {};
    }
  }

  /// Where it ends first; equal: the highest type, the lowest unit.  Infinite as above.
  Choice best(int task) const {
    Choice best;
    for (int type = 0; type < instance_.types(); ++type) {
      if (!instance_.can_run(task, type)) continue;
      Choice here;
      for (int unit = 0; unit < static_cast<int>(units_[type].size()); ++unit)
        if (const Choice choice = on(task, {type, unit}); choice.start < here.start) here = choice;
      if (here.type >= 0 && here.end <= best.end) best = here;
    }
    return best;
  }

  void place(int task, const Choice& choice) {
    const Place place{choice.type, choice.unit};
    const int here = memory_of(place);
    const int* edge = instance_.transfers().in_edges(task);
    for (const int before : instance_.graph().predecessors(task)) {
      const int number = *edge++;
      const double bytes = instance_.transfers().data()[number];
      const int there = memory_of({plan_.kind[before], plan_.unit[before]});
      profiles_[there].add(here == there ? choice.end : choice.start, -bytes);
      if (here != there)
        profiles_[here].add(choice.start - fetch_seconds(number, before, place), bytes, choice.end);
    }
    profiles_[here].add(choice.start, demand(task, place).out);
    units_[choice.type][choice.unit].occupy(choice.start, choice.end);
    plan_.set(task, choice.type, choice.unit, choice.start, choice.end);
  }

  const Plan& plan() const { return plan_; }

 private:
  int memory_of(Place place) const { return memory_[place.type][place.unit]; }

  Demand demand(int task, Place place) const {
    const Transfers& transfers = instance_.transfers();
    Demand found;
    const int* edge = transfers.in_edges(task);
    for (const int before : instance_.graph().predecessors(task)) {
      const int number = *edge++;
      if (memory_of({plan_.kind[before], plan_.unit[before]}) == memory_of(place)) continue;
      const double bytes = transfers.data()[number];
      if (bytes == 0) continue;
      found.fetched.emplace_back(fetch_seconds(number, before, place), bytes);
      found.in += bytes;
    }
    std::sort(found.fetched.begin(), found.fetched.end(), std::greater<>());
    int out = transfers.first_out(task);
    for (int k = 0; k < instance_.graph().successors(task).size(); ++k)
      found.out += transfers.data()[out++];
    return found;
  }

  double fetch_seconds(int edge, int before, Place place) const {
    return instance_.transfers().cost(edge, {plan_.kind[before], plan_.unit[before]}, place);
  }

  const Instance& instance_;
  Plan plan_;
  std::vector<std::vector<Timeline>> units_;  // of each type
  std::vector<std::vector<int>> memory_;      // number of each unit's
  std::vector<MemoryProfile> profiles_;
};

/// Throws InfeasibleError that names the first task whose data, what it takes and what it makes
/// together, no memory of a unit that can run it has room for.
inline void require_room(const Instance& instance) {
  const Transfers& transfers = instance.transfers();
  if (!transfers.limited()) return;
  for (int task = 0; task < instance.tasks(); ++task) {
    double need = 0, most = -1;
    const int* in = transfers.in_edges(task);
    for (int k = 0; k < instance.graph().predecessors(task).size(); ++k)
      need += transfers.data()[in[k]];
    for (int k = 0; k < instance.graph().successors(task).size(); ++k)
      need += transfers.data()[transfers.first_out(task) + k];
    for (int type = 0; type < instance.types(); ++type)
      for (int unit = 0; instance.can_run(task, type) && unit < instance.units(type); ++unit)
        most = std::max(
            most, instance.time(task, type) > 0 ? transfers.capacity({type, unit}) : kInfinity);
    if (need > most * (1 + kRounding))
      throw InfeasibleError(
          "memory_capacity: task " + std::to_string(task) + " needs " + to_text(need) +
          " bytes while it runs, and no memory where it can has " + "more than " + to_text(most));
  }
}

/// Lists by decreasing `rank`: of the tasks whose predecessors are placed the first that fits
/// somewhere, where it ends first.  Throws InfeasibleError where none of them fits: that does not
/// prove that no schedule does.
inline Plan memory_schedule(const Instance& instance, const std::vector<double>& rank) {
  require_room(instance);
  const TaskGraph& graph = instance.graph();
  std::vector<int> order = graph.order();
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return rank[a] > rank[b]; });
  MemoryInsertion insertion(instance);
  std::vector<int> missing(graph.tasks());
  for (int task = 0; task < graph.tasks(); ++task) missing[task] = graph.predecessors(task).size();
  for (std::list<int> waiting(order.begin(), order.end()); !waiting.empty();) {
    int first = -1;
    auto item = waiting.begin();
    for (; item != waiting.end(); ++item) {
      if (missing[*item] > 0) continue;
      check_interrupt();
      if (first < 0) first = *item;
      const Choice choice = insertion.best(*item);
      if (choice.type < 0) continue;
      insertion.place(*item, choice);
      break;
    }
    if (item == waiting.end())
      throw InfeasibleError("memory_capacity: found no place for task " + std::to_string(first) +
                            " and " + std::to_string(waiting.size() - 1) +
                            " more (which does not prove that there is none)");
    for (const int next : graph.successors(*item)) --missing[next];
    waiting.erase(item);
  }
  return insertion.plan();
}

/// MemHEFT (Section 5 there, for any number of memories): memory_schedule() by HEFT's ranks; HEFT
/// where nothing is limited.
inline Plan memheft(const Instance& instance) {
  if (!instance.transfers().limited()) return heft(instance);
  return memory_schedule(instance, heft_ranks(instance));
}

}  // namespace cosched::dags::list
