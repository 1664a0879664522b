// Which nodes, and from when: select/linear and select/cons_tres on whole nodes or shared ones
// (RULES.md 5).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cosched/slurm/select/allocations.hpp"
#include "cosched/slurm/select/answers.hpp"
#include "cosched/slurm/select/choose.hpp"
#include "cosched/slurm/select/gang.hpp"

namespace cosched::slurm {

/// What is returned by pointer is valid until the next call of the same function.
class Select {
 public:
  /// `epoch`: Unix time of second 0; `remembers`: what it answered, which changes nothing but the
  /// time it takes.  Requires that scenario and allocations outlive it.
  Select(const Scenario& scenario, const Allocations& allocations, Second epoch,
         bool remembers = true);

  /// Nodes of `allowed` and of the entry's partition on which it can start at once; null if there
  /// are too few.
  const Choice* now(Entry entry, const NodeBits& allowed);

  struct Slot {
    Second begin;
    const NodeBits* nodes;
  };
  /// When a job is wanted: it begins at `from` or later; what comes after `later` is looked at
  /// another time (RULES.md 12.2).
  struct Time {
    Second now;
    bool at_once = false;  // now or not at all
    Second from = 0, later = kNever;
  };
  /// The earliest slot on `avail` given the running jobs and their limits alone.
  std::optional<Slot> will_run(Entry entry, const NodeBits& avail, const Time& time);

  /// Whether the job could run on `allowed` nodes of the partition if nothing else did.
  bool could_run(Entry entry, const NodeBits& allowed);

 private:
  static NodeBits changing(const Scenario& scenario);
  bool choose_of(Entry entry, const NodeBits& candidates, const Free& free, const CoreMap& cores,
                 Choice& choice);
  bool choose_now(Entry entry, Choice& choice);
  std::optional<Slot> will_run_on(Entry entry, const NodeBits& avail, const Time& time);
  void release_in_order();
  int test(Entry entry, const NodeBits& avail, const Time& time);
  EndGroups groups_of(const NodeBits& avail, const Time& time);
  int will_run_linear(int wanted, const NodeBits& avail);
  int will_run_groups(int wanted, const NodeBits& avail, int count, const Time& time);
  int will_run_shared(Entry entry, const NodeBits& avail, const Time& time);
  void free_as_now();
  Second end_of(int job, Second now) const;
  void reset_weights(const NodeBits& nodes, bool now);

  const Scenario& scenario_;
  const Allocations& allocations_;
  Second epoch_;
  bool since_24_, remembers_;
  Answers answers_;
  // Nodes without a job once the first k running jobs are gone, as of that version.
  std::vector<NodeBits> released_;
  std::int64_t released_version_ = -1;
  Weights weights_;  // as the last tests left them
  EndOrder order_;
  Free empty_, later_;  // `later_`: without the jobs in `gone_`, as of that version
  std::vector<int> gone_;
  std::int64_t later_version_ = -1;
  CoreMap nobody_, later_cores_;
  Overlap overlap_;
  // Scratch, kept so that nothing is allocated.
  NodeBits open_, some_, one_set_, best_nodes_;
  Choice chosen_now_, chosen_then_, tried_;
};

}  // namespace cosched::slurm
