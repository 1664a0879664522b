// Remaps the whole machine with MCB8 (Casanova, Stillwell, Vivien 2011, sections 4.3 and 4.7).
#pragma once

#include <optional>

#include "cosched/cluster/dfrs/dfrs_machine.hpp"
#include "cosched/cluster/dfrs/policy_name.hpp"

namespace cosched::cluster::dfrs {

struct RemapResult {
  double target;        // that was reached
  double priority_cut;  // for the next call
};

/// Remaps all jobs in the system: the lowest priorities are dropped until the memory sum fits, then
/// until MCB8 packs the others.  Running jobs below the limit keep their nodes.  `period` set:
/// MCB8-stretch for that period, else MCB8.
/// `priority_cut` only saves time: jobs of less priority are looked at only if the others are not
/// enough.  It is 0 at first, then that of the last call.
RemapResult remap(DfrsMachine& machine, RemapLimit limit, double limit_seconds,
                  std::optional<double> period, double priority_cut);

}  // namespace cosched::cluster::dfrs
