// One guess d of the dual approximation (Mounie, Rapine, Trystram 1999; Dutot, Mounie, Trystram
// 2004): either a proof that no schedule of length d exists, or a schedule, of length 3d/2 under
// property (2).
//
// Every function here requires that the instance has no release dates.
#pragma once

#include "cosched/moldable/model/placement.hpp"

namespace cosched::moldable::dual {

/// The jobs parted at the guess d.
struct ShelfSplit {
  double length;            // d
  std::vector<int> shelf1;  // on gamma_i(d) processors, in [0, d]
  std::vector<int> shelf2;  // on gamma_i(d/2) processors, in [d, 3d/2]
  std::vector<int> small;   // t_i(1) <= d/2
};

/// Parts the jobs so that shelf 1 uses at most m processors and the work, S_i(d) for the jobs of
/// shelf 1 and the small ones, S_i(d/2) for those of shelf 2, is least: a knapsack.
/// No value: no schedule of length d exists, because
///   * some job has no gamma_i(d); or
///   * the jobs without gamma_i(d/2), which must all run at time d/2, need more than m processors;
///     or
///   * even the least work exceeds m d.  (In a schedule of length d the jobs longer than d/2 all
///     run at time d/2, each on gamma_i(d) processors or more, so they are a feasible shelf 1; and
///     no job does less work than S_i in that time, whatever its profile.)
/// Rejecting by work allows kExactTolerance for rounding, so a rejected d is certain.
/// O(n log m) and one knapsack, of at most 2m jobs under property (2).
std::optional<ShelfSplit> split_jobs(const Instance& instance, double d);

/// What became of a split: where the jobs run, and their order shelf by shelf.
struct ShelfSchedule {
  Placement placement;
  std::vector<int> order;  // shelf 0, shelf 1, shelf 2, small jobs
};

/// The transformations T1, T2, T3 until none applies, then T4 if shelf 2 still needs too many
/// processors, then the schedule: shelf 2 above shelf 1, small jobs into the gap between them on
/// the least loaded processors, and everything moved down as far as its processors allow.
///
/// Shelf 0 holds the jobs that have their processors for themselves, one job or two stacked.
///
/// T1  A shelf-1 job with t <= 3d/4 on more than one processor gives one up and moves to shelf 0:
///     there it takes at most 3d/2.
/// T2  Two shelf-1 jobs on one processor each, both with t <= 3d/4, are stacked in shelf 0.
/// T3  A shelf-2 job whose gamma(3d/2) processors are idle in shelf 1 moves: to shelf 0 if its time
///     exceeds d, else to shelf 1.
/// T4  The one sequential shelf-1 job e with t <= 3d/4 that T2 can leave goes behind a shelf-1 job
///     j with t_j + t_e <= 3d/2, on one of its processors, both in shelf 0; then T3 again.
///
/// Shelf 2 then fits whenever property (2) holds and the split's work is at most m d.  Suppose not:
/// with m0, m1 processors in shelves 0 and 1 and q = m - m0 - m1 idle, shelf 2 needs at least
/// m - m0 + 1.
/// Work, in units of d:
///   * shelf 0 has more than m0;
///   * shelf 1 has at least 3/4 m1, less up to 1/4 where e is left;
///   * a shelf-2 job on g = gamma(d/2) >= 2 processors has more than max((g-1)/2, 3q/2), since
///     fewer processors miss d/2 and q miss 3d/2; that is at least g/4 + max(0, (3q-1)/4).
/// Cases:
///   * Without e, or with two or more jobs in shelf 2, or with q = 0, these add up to more than m:
///     a contradiction.
///   * What is left is e, q >= 1 and a single shelf-2 job.  If every j had t_j + t_e > 3d/2,
///     shelf 1 would have 3/4 m1 after all: so j exists, and T4 frees one processor.  If the
///     shelf-2 job then needed more than q + 1 for 3d/2, its surplus of 1/2 more would again bring
///     the sum above m.  So T3 empties shelf 2.
///
/// No value where that argument does not hold (without property (2), or by rounding): the guess
/// then says nothing.
/// O(n log n + m log m).
std::optional<ShelfSchedule> build_shelves(const Instance& instance, const ShelfSplit& split);

}  // namespace cosched::moldable::dual
