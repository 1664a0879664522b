// Which nodes, and from when: select/linear and select/cons_tres on whole nodes or cores (RULES.md 5).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cosched/cluster/slurm/allocations.hpp"

namespace cosched::cluster::slurm {

/// Nodes that are returned are valid until the next call of the same function.
class Select {
 public:
  /// `epoch`: Unix time of second 0.  Requires that scenario and allocations outlive it.
  Select(const Scenario& scenario, const Allocations& allocations, Second epoch);

  /// Nodes of `allowed` and of the job's partition on which it can start at once; null if there are too few.
  const NodeBits* now(int job, const NodeBits& allowed);

  struct Slot {
    Second begin;
    const NodeBits* nodes;
  };
  /// The earliest slot on `avail` given the running jobs and their limits alone; `at_once`: now or not at all.
  std::optional<Slot> will_run(int job, const NodeBits& avail, Second now, bool at_once);

 private:
  class Groups;

  void release_in_order();
  std::optional<Slot> will_run_linear(int wanted, const NodeBits& avail, Second now);
  std::optional<Slot> will_run_groups(int wanted, const NodeBits& avail, int count, Second now);
  std::optional<Slot> will_run_cores(int wanted, const NodeBits& avail, Second now, bool at_once);
  Slot slot_after(int job, Second now) const;

  const Scenario& scenario_;
  const Allocations& allocations_;
  Second epoch_;
  // Nodes without a job once the first k running jobs are gone, as of these changes.
  std::vector<NodeBits> released_;
  std::int64_t released_changes_ = -1;
  NodeBits open_, some_, chosen_now_, chosen_then_;  // scratch, kept so that nothing is allocated
  std::vector<int> later_cores_;
};

}  // namespace cosched::cluster::slurm
