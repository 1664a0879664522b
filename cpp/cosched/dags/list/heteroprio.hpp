// HeteroPrio: affinity order and spoliation.
#pragma once

#include "cosched/dags/model/instance.hpp"
#include "cosched/dags/model/plan.hpp"

namespace cosched::dags::list {

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
