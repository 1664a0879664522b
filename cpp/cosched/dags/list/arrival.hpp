// When the data of a task is where it could run.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cosched/dags/model/instance.hpp"
#include "cosched/dags/model/plan.hpp"

namespace cosched::dags::list {

/// On the units of one type: `home` in `memory`, which some of them have, `elsewhere` >= home on all
/// others.  One memory can be earlier than the rest, not two: the data that arrives last is in one.
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

}  // namespace cosched::dags::list
