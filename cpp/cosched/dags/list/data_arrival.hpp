// When the data of a task arrives where the task could run.
#pragma once

#include "cosched/dags/model/instance.hpp"
#include "cosched/dags/model/plan.hpp"

namespace cosched::dags::list {

/// The arrival on the units of one type, seconds: `in_memory` on units with the memory `memory`,
/// and `elsewhere` >= in_memory on all others.  At most one memory is earlier than the rest: the
/// one from which the last data comes.
struct DataArrival {
  double elsewhere = 0;
  double in_memory = 0;
  std::int64_t memory = kNoMemory;  ///< kNoMemory: all units wait until `elsewhere`
};

/// The arrival for a task whose predecessors are in the plan.  O(predecessors).
DataArrival data_arrival(const Instance& instance, const Plan& plan, int task, int type);

/// The same on one unit.
double data_arrival_at(const Instance& instance, const Plan& plan, int task, Place place);

/// Number of units of a type that a schedule can need: at most the number of tasks, except where
/// the memories are listed unit by unit, so that units of a type differ.
int useful_units(const Instance& instance, int type);

}  // namespace cosched::dags::list
