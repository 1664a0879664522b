// A co-schedule: packs that run one after the other, its cost and the paper's three measures.
#pragma once

#include "cosched/core/schedule.hpp"
#include "cosched/packs/model/instance.hpp"

namespace cosched::packs {

/// Task i runs in pack pack_of[i] on sigma(i) = procs[i] processors.  Packs are numbered 0..P-1,
/// each holds at least one task; cost = sum over packs of the longest time in the pack.
struct Coschedule {
  std::vector<int> pack_of;
  std::vector<int> procs;
  double cost = 0;
};

/// The best co-schedule of a search that a time limit may end.
struct SearchedCoschedule {
  Coschedule coschedule;
  bool is_complete = true;  // false: a time limit ended the search
  bool is_proved = false;   // none costs less: it meets a bound, or all were tried
};

/// An exact method's answer with what is proven about it.
struct ExactResult {
  Coschedule coschedule;
  double bound = 0;         // proven: no co-schedule costs less; equals cost when proved
  bool is_proved = false;   // the co-schedule is optimal (up to kExactTolerance)
  bool is_complete = true;  // false: a time limit ended the search
};

/// Tasks of each pack, in increasing order.
using Packs = std::vector<std::vector<int>>;

/// pack_of as lists.  Throws InvalidInstance where a number is negative or a pack is empty.
Packs packs_of(const std::vector<int>& pack_of);

/// When each task ends, from the start of its pack: its time as measured on `procs`, or later where
/// its pack slows it.  Throws InvalidInstance when the vectors do not fit the table: wrong length,
/// pack number out of 0..P-1, an empty pack, procs out of 1..p, procs on which the task cannot run,
/// or a pack whose needs do not fit together.  O(n), and O(k^3) a pack that is slowed.
std::vector<double> pack_ends(const Instance& instance, const std::vector<int>& pack_of,
                              const std::vector<int>& procs);

/// The last end of each pack.  Throws as pack_ends.
std::vector<double> pack_costs(const Instance& instance, const std::vector<int>& pack_of,
                               const std::vector<int>& procs);

/// Sum of pack_costs.
double cost(const Instance& instance, const std::vector<int>& pack_of,
            const std::vector<int>& procs);

/// The same where every task keeps its factor beside its whole pack to its end: never less.
double cost_if_constant(const Instance& instance, const std::vector<int>& pack_of,
                        const std::vector<int>& procs);

/// These tasks on these processors, as a set that starts together.  Throws InvalidInstance where
/// the vectors differ in length, a task or a count is out of range or given twice, or the task
/// cannot run on it; not where they do not fit.
std::vector<RunningTask> as_pack(const Instance& instance, const std::vector<int>& tasks,
                                 const std::vector<int>& procs);

/// The co-schedule with these packs and processors, exactly.  Requires that `packs` partitions
/// 0..n-1; throws InvalidInstance as pack_costs.
Coschedule with_procs(const Instance& instance, const Packs& packs, const std::vector<int>& procs);

}  // namespace cosched::packs
