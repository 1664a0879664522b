// A co-schedule: packs that run one after the other, its cost and the paper's three measures.
#pragma once

#include <vector>

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
struct SearchResult {
  Coschedule coschedule;
  bool complete = true;  // false: a time limit ended the search
  bool proved = false;   // none costs less: it meets a bound, or all were tried
};

/// An exact method's answer with what is proven about it.
struct ExactResult {
  Coschedule coschedule;
  double bound = 0;      // proven: no co-schedule costs less; equals cost when proved
  bool proved = false;   // the co-schedule is optimal (up to kExactTolerance)
  bool complete = true;  // false: a time limit ended the search
};

/// Tasks of each pack, in increasing order.
using Packs = std::vector<std::vector<int>>;

/// pack_of as lists.  Throws InvalidInstance where a number is negative or a pack is empty.
Packs members(const std::vector<int>& pack_of);

/// Longest time of each pack, as measured on `procs`.  Throws InvalidInstance when the vectors do
/// not fit the table: wrong length, pack number out of 0..P-1, an empty pack, procs out of 1..p, or
/// procs on which the task cannot run.  O(n).
std::vector<double> pack_costs(const Times& times, const std::vector<int>& pack_of,
                               const std::vector<int>& procs);

/// Sum of pack_costs.
double cost(const Times& times, const std::vector<int>& pack_of, const std::vector<int>& procs);

/// The co-schedule with these packs and processors, exactly.  Requires that `packs` partitions
/// 0..n-1; throws InvalidInstance as pack_costs.
Coschedule with_procs(const Times& times, const Packs& packs, const std::vector<int>& procs);

/// Throws InvalidInstance when `coschedule` is none of this instance: as pack_costs, and a pack
/// with more than k tasks or p processors.
void require_valid(const Instance& instance, const Coschedule& coschedule);

/// Work done over processor time paid for: sum_i w_i(sigma_i) / (p cost), in 0..1.
double packing_ratio(const Times& times, const Coschedule& coschedule);

/// cost / sum_i t_i(p): below 1 where co-scheduling beats one task after the other.
double relative_cost(const Times& times, const Coschedule& coschedule);

/// Mean response time over that of one task after the other on p processors, shortest first.
/// Packs run in increasing cost, ties by pack number.
double relative_response_time(const Times& times, const Coschedule& coschedule);

/// Packs one after the other in the order of relative_response_time; task i of a pack gets the
/// lowest processor numbers that the pack's tasks before i left.
Schedule to_schedule(const Times& times, const Coschedule& coschedule);

}  // namespace cosched::packs
