#include "cosched/dags/heft.hpp"

#include <algorithm>
#include <numeric>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::dags {
namespace {

// Idle time [begin, end) of a unit between two tasks, or from its last task on (end
// infinite).  Gaps of a unit are disjoint and increasing.
struct Gap {
  double begin, end;
};

class Timeline {
 public:
  /// Earliest start >= ready of a task of length `duration`.
  double earliest(double ready, double duration) const {
    const double in_gap = std::max(ready, first_fit(ready, duration)->begin);
    if (duration > 0) return in_gap;
    const auto joint = std::lower_bound(joints_.begin(), joints_.end(), ready);
    return joint == joints_.end() ? in_gap : std::min(in_gap, *joint);
  }

  void occupy(double start, double end) {
    auto gap =
        std::partition_point(gaps_.begin(), gaps_.end(), [&](const Gap& g) { return g.end < end; });
    if (start < gap->begin) return;  // a task without length, on a joint
    const Gap before{gap->begin, start}, after{end, gap->end};
    if (!(before.begin < before.end)) add_joint(start);
    if (!(after.begin < after.end)) add_joint(end);
    if (before.begin < before.end && after.begin < after.end) {
      *gap = before;
      gaps_.insert(gap + 1, after);
    } else if (before.begin < before.end) {
      *gap = before;
    } else if (after.begin < after.end) {
      *gap = after;
    } else {
      gaps_.erase(gap);
    }
  }

 private:
  // Gaps that end before ready + duration cannot hold the task; the rest may be too short.
  const Gap* first_fit(double ready, double duration) const {
    const Gap* gap = std::partition_point(gaps_.data(), gaps_.data() + gaps_.size() - 1,
                                          [&](const Gap& g) { return g.end < ready + duration; });
    while (std::max(ready, gap->begin) + duration > gap->end) ++gap;  // the last one is endless
    return gap;
  }

  void add_joint(double time) {
    joints_.insert(std::upper_bound(joints_.begin(), joints_.end(), time), time);
  }

  std::vector<Gap> gaps_{{0, kInfinity}};
  // Where tasks touch each other (or time 0), increasing: gaps for tasks without length.
  std::vector<double> joints_;
};

struct Choice {
  double end = kInfinity, start = kInfinity;
  int type = -1, unit = -1;
};

// Best unit of one type: all its units need the same time, so the earliest start wins.
Choice best_of_type(const std::vector<Timeline>& units, int type, double ready, double duration) {
  Choice choice;
  for (std::size_t unit = 0; unit < units.size(); ++unit) {
    const double start = units[unit].earliest(ready, duration);
    if (start < choice.start) choice = {start + duration, start, type, static_cast<int>(unit)};
    if (start == ready) break;
  }
  return choice;
}

std::vector<int> by_decreasing_rank(const TaskGraph& graph, const std::vector<double>& rank) {
  std::vector<int> order = graph.order();
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return rank[a] > rank[b]; });
  return order;
}

}  // namespace

std::vector<double> heft_ranks(const Instance& instance) {
  std::vector<double> mean(instance.tasks());
  for (int task = 0; task < instance.tasks(); ++task) {
    double sum = 0, units = 0;
    for (int type = 0; type < instance.types(); ++type) {
      if (!instance.can_run(task, type)) continue;
      sum += instance.units(type) * instance.time(task, type);
      units += instance.units(type);
    }
    mean[task] = sum / units;
  }
  return ranks(instance.graph(), mean);
}

Plan insertion_schedule(const Instance& instance, const std::vector<double>& rank,
                        const Allocation* allocation) {
  if (allocation) require_allocation(instance, *allocation);
  const TaskGraph& graph = instance.graph();
  Plan plan(instance.tasks());
  std::vector<std::vector<Timeline>> units(instance.types());
  for (int type = 0; type < instance.types(); ++type)
    units[type].resize(std::min(instance.units(type), instance.tasks()));

  int done = 0;
  for (const int task : by_decreasing_rank(graph, rank)) {
    if (done++ % 256 == 0) check_interrupt();
    double ready = 0;
    for (const int before : graph.predecessors(task)) ready = std::max(ready, plan.end[before]);
    Choice best;
    for (int type = 0; type < instance.types(); ++type) {
      if (!instance.can_run(task, type) || (allocation && (*allocation)[task] != type)) continue;
      const Choice choice = best_of_type(units[type], type, ready, instance.time(task, type));
      if (choice.end <= best.end) best = choice;
    }
    units[best.type][best.unit].occupy(best.start, best.end);
    plan.set(task, best.type, best.unit, best.start, best.end);
  }
  return plan;
}

Plan heft(const Instance& instance) { return insertion_schedule(instance, heft_ranks(instance)); }

}  // namespace cosched::dags
