#include "cosched/dags/list/ready_rules.hpp"

#include <functional>
#include <limits>
#include <queue>
#include <set>
#include <tuple>

#include "cosched/core/interrupt.hpp"
#include "cosched/dags/list/idle_units.hpp"
#include "cosched/dags/list/ranks.hpp"
#include "cosched/dags/model/paths.hpp"

namespace cosched::dags::list {
namespace {

// The start of a ready task on a type at present, as a key: the smallest offer is placed.
struct StartOffer {
  double first_key = kInfinity, second_key = 0, third_key = 0;
  int task = -1, type = -1;

  bool has_equal_keys(const StartOffer& other) const {
    return first_key == other.first_key && second_key == other.second_key &&
           third_key == other.third_key;
  }
  // Of equal offers of a task that of the highest type comes first.
  bool operator>(const StartOffer& other) const {
    return std::tie(first_key, second_key, third_key, task, other.type) >
           std::tie(other.first_key, other.second_key, other.third_key, other.task, type);
  }
};

// A task whose data is everywhere before some unit of a type is idle, so that it can start there
// when the type's first unit is: `rank` and `time` order such tasks whatever that start is.
struct SettledTask {
  double rank, time;
  int task;
  bool operator<(const SettledTask& other) const {
    return std::tie(rank, time, task) < std::tie(other.rank, other.time, other.task);
  }
};

// Repeatedly places the ready task with the smallest offer.  A rule has two functions:
//   offer(task, type, start)   the keys of a start, which do not fall when the start gets later;
//   settled(task, type)        the order of offers with one start.
//
// Units only get busier, so offers only grow.  Those of settled tasks grow together, with the first
// idle time of the type, and are kept in an order of their own.  The others are in a heap, with a
// key that may be outdated: an offer that has not grown since it entered is the smallest of them.
// A task is settled at the latest when its data has come, so that few offers are renewed often.
template <class Rule>
class OfferScheduler {
 public:
  OfferScheduler(const Instance& instance, Rule rule)
      : instance_(instance),
        rule_(rule),
        units_(instance),
        arrivals_(static_cast<std::size_t>(instance.tasks()) * instance.types()),
        is_placed_(instance.tasks(), 0),
        settled_tasks_(instance.types()) {}

  Plan run() {
    const TaskGraph& graph = instance_.graph();
    std::vector<int> missing_predecessors;
    for (int task = 0; task < graph.tasks(); ++task) {
      missing_predecessors.push_back(graph.predecessors(task).size());
      if (missing_predecessors[task] == 0) release(task);
    }
    for (int placed_tasks = 0; placed_tasks < graph.tasks(); ++placed_tasks) {
      if (placed_tasks % 1024 == 0) check_interrupt();
      const StartOffer best = smallest_offer();
      place(best.task, best.type);
      for (const int next : graph.successors(best.task)) {
        --missing_predecessors[next];
        if (missing_predecessors[next] == 0) release(next);
      }
    }
    return units_.plan();
  }

 private:
  const DataArrival& arrival(int task, int type) const {
    return arrivals_[task * instance_.types() + type];
  }
  double first_idle_time(int type) const { return units_.earliest_start(type, DataArrival()).time; }
  bool is_settled(int task, int type) const {
    return arrival(task, type).elsewhere <= first_idle_time(type);
  }
  StartOffer present_offer(int task, int type) const {
    return rule_.offer(task, type, units_.earliest_start(type, arrival(task, type)).time);
  }

  void release(int task) {
    const int types = instance_.types();
    for (int type = 0; type < types; ++type) {
      arrivals_[task * types + type] = units_.data_arrival(task, type);
      if (instance_.can_run(task, type)) add_offer(task, type);
    }
  }

  void add_offer(int task, int type) {
    if (is_settled(task, type))
      settled_tasks_[type].insert(rule_.settled(task, type));
    else
      unsettled_offers_.push(present_offer(task, type));
  }

  StartOffer smallest_offer() {
    StartOffer best = smallest_unsettled_offer();
    for (int type = 0; type < instance_.types(); ++type) {
      if (settled_tasks_[type].empty()) continue;
      const StartOffer candidate = smallest_settled_offer(type);
      if (best.task < 0 || best > candidate) best = candidate;
    }
    return best;
  }

  // Of unsettled tasks; without a task where there are none.
  StartOffer smallest_unsettled_offer() {
    while (!unsettled_offers_.empty()) {
      const StartOffer offer = unsettled_offers_.top();
      if (!is_placed_[offer.task]) {
        if (!is_settled(offer.task, offer.type) && !(present_offer(offer.task, offer.type) > offer))
          return offer;
        unsettled_offers_.pop();
        add_offer(offer.task, offer.type);
      } else {
        unsettled_offers_.pop();
      }
    }
    return {};
  }

  // The first in the order.  Keys that are sums with the start may be equal by rounding, and then
  // the lowest task comes first.
  StartOffer smallest_settled_offer(int type) const {
    const std::set<SettledTask>& tasks = settled_tasks_[type];
    const double start = first_idle_time(type);
    auto first = tasks.begin();
    StartOffer best = rule_.offer(first->task, type, start);
    for (;;) {
      first = tasks.upper_bound({first->rank, first->time, std::numeric_limits<int>::max()});
      if (first == tasks.end()) return best;
      const StartOffer candidate = rule_.offer(first->task, type, start);
      if (!candidate.has_equal_keys(best)) return best;
      if (best > candidate) best = candidate;
    }
  }

  void place(int task, int type) {
    is_placed_[task] = 1;
    for (int other = 0; other < instance_.types(); ++other)
      if (instance_.can_run(task, other)) settled_tasks_[other].erase(rule_.settled(task, other));
    units_.place(task, type, units_.earliest_start(type, arrival(task, type)));
  }

  const Instance& instance_;
  Rule rule_;
  IdleUnits units_;
  std::vector<DataArrival> arrivals_;  // by task and type
  std::vector<char> is_placed_;
  std::vector<std::set<SettledTask>> settled_tasks_;  // by type; ready and not placed
  // Of ready tasks on types where they are not settled, or were not when the offer was made.
  std::priority_queue<StartOffer, std::vector<StartOffer>, std::greater<>> unsettled_offers_;
};

// The rule of etf().
struct EarliestStartFirst {
  const Instance& instance;
  const std::vector<double>& level;

  StartOffer offer(int task, int type, double start) const {
    return {start, -level[task], start + instance.time(task, type), task, type};
  }
  SettledTask settled(int task, int type) const {
    return {-level[task], instance.time(task, type), task};
  }
};

// The rule of min_min().
struct EarliestEndFirst {
  const Instance& instance;

  StartOffer offer(int task, int type, double start) const {
    return {start + instance.time(task, type), 0, 0, task, type};
  }
  SettledTask settled(int task, int type) const { return {0, instance.time(task, type), task}; }
};

// The rule of est(): each task on the type that it is allocated to.
struct EarliestStartOfAllocation {
  const Allocation& allocation;

  StartOffer offer(int task, int type, double start) const {
    return {type == allocation[task] ? start : kInfinity, 0, 0, task, type};
  }
  SettledTask settled(int task, int type) const {
    return {type == allocation[task] ? 0 : kInfinity, 0, task};
  }
};

}  // namespace

Plan etf(const Instance& instance) {
  const std::vector<double> level = compute_ranks(instance.graph(), mean_times(instance));
  return OfferScheduler(instance, EarliestStartFirst{instance, level}).run();
}

Plan min_min(const Instance& instance) {
  return OfferScheduler(instance, EarliestEndFirst{instance}).run();
}

Plan est_with_transfers(const Instance& instance, const Allocation& allocation) {
  return OfferScheduler(instance, EarliestStartOfAllocation{allocation}).run();
}

}  // namespace cosched::dags::list
