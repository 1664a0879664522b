// What every algorithm of the family returns: which tasks run on which machine, and what it earns.
#pragma once

#include "cosched/bags/model/instance.hpp"

namespace cosched::bags {

/// A load above a limit by less than this, relative, is within it: sums in another order differ.
inline constexpr double kLoadTolerance = kSumTolerance;

/// `count` tasks of one type in a row on machine `machine` (0-based within its type).
struct TaskRun {
  int task_type, machine_type, machine;
  std::int64_t count;
};

/// A schedule, compressed: its size depends on types and machines, not on the number of tasks.
struct BagPlan {
  Counts counts;                           // x^: T x M
  std::vector<TaskRun> runs;               // by machine type, machine, then falling ETC
  std::vector<std::vector<double>> loads;  // M arrays: seconds of work of each machine
  double joules = 0;                       // D: dynamic energy
  double makespan = 0;  // the longest load, or longer where the power cap asks for it
  double energy = 0;    // E = D + I makespan, joules
  double profit_rate = 0;
};

/// Appends the machines one by one: the type of each to `machine_types`, its number within the type
/// to `numbers`.  Returns the index of each type's first machine.
std::vector<int> list_machines(const Instance& instance, std::vector<int>& machine_types,
                               std::vector<int>& numbers);

/// Fills in joules, makespan, energy and profit_rate of the plan from its counts and loads.
BagPlan evaluate_plan(const Instance& instance, BagPlan plan);

/// The plan of these runs.  Requires valid runs, in the order that BagPlan documents.
BagPlan make_plan_of_runs(const Instance& instance, std::vector<TaskRun> runs);

/// sum_ij counts(i, j) joules(i, j).
double total_joules(const Instance& instance, const Counts& counts);

/// Each run's start and end.  Runs of a machine follow each other from time 0; where the power cap
/// makes the makespan longer than every load, every other loaded machine (counted from the last)
/// ends at the makespan instead.
struct Timetable {
  std::vector<double> start, end;
};
Timetable make_timetable(const Instance& instance, const BagPlan& plan);

}  // namespace cosched::bags
