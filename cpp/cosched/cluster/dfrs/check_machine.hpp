// Rejects what a policy must not do.
#pragma once

#include "cosched/cluster/dfrs/dfrs_machine.hpp"

namespace cosched::cluster::dfrs {

/// Every running job: as many nodes as tasks, yield in [0, 1]; every node: memory at most
/// 1 and CPU shares at most 1, with a tolerance of 1e-9.  Throws InvalidSchedule that
/// names job or node and value.  O(nodes + tasks).
void check_machine(const DfrsMachine& machine, const Instance& instance);

}  // namespace cosched::cluster::dfrs
