// Schedulers of runtime systems, which see a task when its predecessors have ended: StarPU's dmda
// and dmdas, HeteroPrio.
#pragma once

#include "cosched/dags/model/instance.hpp"

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

// HeteroPrio: affinity order and spoliation.

/// Beaumont, Eyraud-Dubois, Kumar 2017 for independent tasks, on graphs as Agullo, Beaumont,
/// Eyraud-Dubois, Kumar 2016: ready tasks by acceleration p_cpu / p_gpu, decreasing; of equal
/// accelerations the longest path first from 1 on, last below.  An idle GPU takes the first of
/// them, an idle CPU the last, each that it can run; GPUs before CPUs where both are idle, the
/// lowest unit first. Where there is none it looks at the tasks that run on the other type, by
/// decreasing ends (equal: the longest path): the first one that would end earlier if it began here
/// anew does so (spoliation).  The plan has the last run of each task; what an aborted one took is
/// idle time.  Data is fetched to the unit that has taken the task, which waits for it.
/// Without edges a phi-approximation on 1 + 1 units (phi = (1 + sqrt 5) / 2), 1 + phi where one
/// type has one unit, 2 + sqrt 2 otherwise.
/// Requires Q = 2, InvalidInstance otherwise.  O((n + e) log n + s U), s <= n spoliations on U
/// units.
Plan heteroprio(const Instance& instance);

}  // namespace cosched::dags::list
