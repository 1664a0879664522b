// What every algorithm of the family returns: which tasks run on which machine, and what it earns.
#pragma once

#include <vector>

#include "cosched/bags/model/instance.hpp"

namespace cosched::bags {

/// A load above a limit by less than this, relative, is within it: sums in another order differ.
inline constexpr double kFit = 1e-12;

/// `count` tasks of one type in a row on machine `machine` (0-based within its type).
struct Run {
  int task_type, machine_type, machine;
  std::int64_t count;
};

/// A schedule, compressed: its size depends on types and machines, not on the number of tasks.
struct Plan {
  Counts counts;                           // x^: T x M
  std::vector<Run> runs;                   // by machine type, machine, then falling ETC
  std::vector<std::vector<double>> loads;  // M arrays: seconds of work of each machine
  double joules = 0;                       // D: dynamic energy
  double makespan = 0;  // the longest load, or longer where the power cap asks for it
  double energy = 0;    // E = D + I makespan, joules
  double profit_rate = 0;
};

/// Lists the machines one by one: `kind` gets the type of each, `number` which of its type it is.
/// Returns the place of each type's first machine.
std::vector<int> list_machines(const Instance& instance, std::vector<int>& kind,
                               std::vector<int>& number);

/// `plan` with what its counts and loads earn: joules, makespan, energy, profit_rate.
Plan evaluated(const Instance& instance, Plan plan);

/// The plan of runs that are given.  Requires valid runs, in the order that Plan documents.
Plan plan_of_runs(const Instance& instance, std::vector<Run> runs);

/// sum_ij counts(i, j) joules(i, j).
double joules_of(const Instance& instance, const Counts& counts);

/// Each run's start and end.  Runs of a machine follow each other from time 0; where the power cap
/// makes the makespan longer than every load, every other loaded machine (counted from the last)
/// ends at the makespan instead.
struct Timetable {
  std::vector<double> start, end;
};
Timetable timetable(const Instance& instance, const Plan& plan);

}  // namespace cosched::bags
