// Simulated annealing over which machine runs which task: the last step of ttb-best.
#pragma once

#include "cosched/bags/model/bag_plan.hpp"

namespace cosched::bags::search {

struct TaskAnnealingParams {
  /// Temperatures at first and at last, as parts of the start's profit rate and cost of idling.
  double first_temperature = 0.05, last_temperature = 2e-5;
  /// The share of moves that exchange two tasks.
  double exchange_share = 0.5;
  /// The share of moves that take a task off the longest machine.
  double longest_machine_share = 0.5;
  /// Steps of the clock for a move, a nanosecond each.
  std::int64_t move_steps = 200;
};

struct AnnealingResult {
  BagPlan plan;
  bool is_complete = true;  // false: a time limit ended it
};

/// The best plan seen on the way from `start`; `start` itself where none earns more.
///
/// A move puts one task on another machine, or exchanges two tasks of two machines; half of the
/// moves begin at the machine that decides the makespan.  Only what ends up in the profit rate
/// counts (energy, the longest load, the wait that a power cap asks for), so plans are reached that
/// no makespan chosen beforehand leads to.
///
/// Requires moves >= 1, and few machines and tasks: a move costs O(machines), the state O(tasks).
AnnealingResult anneal_plan(const Instance& instance, const BagPlan& start, std::int64_t moves,
                            std::uint64_t seed, const TaskAnnealingParams& params = {});

}  // namespace cosched::bags::search
