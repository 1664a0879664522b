// Schedulers of runtime systems, which see a task when its predecessors have ended: StarPU's dmda
// and dmdas, HeteroPrio.
#pragma once

#include "cosched/dags/model/instance.hpp"
#include "cosched/dags/model/plan.hpp"

namespace cosched::dags::list {

struct DmdaWeights {
  double alpha = 1, beta = 1;  // StarPU's STARPU_SCHED_ALPHA and _BETA, and its defaults
};

/// When its predecessors have ended a task joins the queue of the unit of least
///   alpha (its expected end there - the least one) + beta (what its transfers there take,
///   together),
/// equal: the highest type, then the unit whose queue ends first, then the lowest.  Its expected
/// start is when the queue ends, and not before its data is there.  A unit runs its queue in order.
/// Tasks that become ready together do so by number.  O(n log n + (n + e) G), G = pairs of type and
/// memory, if all units of a pair have not many different ends.
Plan dmda(const Instance& instance, const DmdaWeights& weights = {});

/// The same, but of its queue a unit runs first the task of highest priority; equal: the first that
/// came. What is expected of a queue does not look at priorities, as in StarPU (dmdasd does).
Plan dmdas(const Instance& instance, const std::vector<double>& priority,
           const DmdaWeights& weights = {});

}  // namespace cosched::dags::list
