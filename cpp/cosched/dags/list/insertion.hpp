// Schedules by insertion: each task in the first gap of a unit that is long enough.
#pragma once

#include "cosched/dags/model/instance.hpp"

namespace cosched::dags::list {

// When the data of a task is where it could run.

/// On the units of one type: `home` in `memory`, which some of them have, `elsewhere` >= home on
/// all others.  One memory can be earlier than the rest, not two: the data that arrives last is in
/// one.
struct Arrival {
  double elsewhere = 0;
  double home = 0;
  std::int64_t memory = kNoMemory;  // of no unit: all wait for `elsewhere`
};

/// Of a task whose predecessors are in the plan.  O(predecessors).
Arrival arrival(const Instance& instance, const Plan& plan, int task, int type);

/// The same on one unit.
double arrival_at(const Instance& instance, const Plan& plan, int task, Place place);

/// Units of a type that a schedule can need: those beyond the number of tasks are like others,
/// except where a number a unit says which memory it has.
int useful_units(const Instance& instance, int type);

/// Longest path from the begin of each task to the end of the graph, with the mean cost of edges.
std::vector<double> ranks_with_transfers(const Instance& instance,
                                         const std::vector<double>& duration);

/// The idle times of one unit.
class Timeline {
 public:
  /// Earliest start >= ready of a task of length `duration`.
  double earliest(double ready, double duration) const;
  void occupy(double start, double end);
  /// Nothing runs.
  void clear();

 private:
  // Idle time [begin, end) between two tasks, or from the last task on (end infinite).  Gaps are
  // disjoint and increasing.
  struct Gap {
    double begin, end;
  };
  const Gap* first_fit(double ready, double duration) const;
  void add_joint(double time);

  std::vector<Gap> gaps_{{0, kInfinity}};
  // Where tasks touch each other (or time 0), increasing: gaps for tasks without length.
  std::vector<double> joints_;
};

// Gaps that end before ready + duration cannot hold the task; the rest may be too short.
inline const Timeline::Gap* Timeline::first_fit(double ready, double duration) const {
  const Gap* gap = std::partition_point(gaps_.data(), gaps_.data() + gaps_.size() - 1,
                                        [&](const Gap& g) { return g.end < ready + duration; });
  while (std::max(ready, gap->begin) + duration > gap->end) ++gap;  // the last one is endless
  return gap;
}

inline double Timeline::earliest(double ready, double duration) const {
  const double in_gap = std::max(ready, first_fit(ready, duration)->begin);
  if (duration > 0) return in_gap;
  const auto joint = std::lower_bound(joints_.begin(), joints_.end(), ready);
  return joint == joints_.end() ? in_gap : std::min(in_gap, *joint);
}

/// A place for a task.
struct Choice {
  double end = kInfinity, start = kInfinity;
  int type = -1, unit = -1;
};

/// A plan that grows task by task, predecessors first.
class Insertion {
 public:
  explicit Insertion(const Instance& instance);

  /// Where the task starts first on units of the type, equal: the lowest unit; data counted.
  Choice best_on(int task, int type) const {
    return best_on(task, type, arrival(instance_, plan_, task, type));
  }
  /// Where it ends first over all types that can run it, or over the one of `allocation`; equal:
  /// the highest type.
  Choice best(int task, const Allocation* allocation = nullptr) const;
  /// Its earliest start on this unit.
  Choice on(int task, Place place) const;
  void place(int task, const Choice& choice);
  /// The plan; nothing can be added afterwards.
  Plan take() { return std::move(plan_); }

 private:
  Choice best_on(int task, int type, const Arrival& ready) const;

  const Instance& instance_;
  Plan plan_;
  std::vector<std::vector<Timeline>> units_;  // of each type
};

}  // namespace cosched::dags::list
