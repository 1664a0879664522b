// Packs for tasks whose processor counts are given (Algorithm 4.4 of the paper).
#pragma once

#include "cosched/packs/model/coschedule.hpp"

namespace cosched::packs::heuristic {

/// Make-pack(sigma): tasks by decreasing time on sigma(i) processors, as measured (ties: the lower
/// number), each into the first pack with enough free processors and fewer than k tasks, else into
/// a new pack.  `reoptimise` then gives each pack its optimal processors (one_pack): never worse;
/// without it sigma is kept as it is.
/// Throws InvalidInstance when procs has not n entries in 1..p, or one on which its task cannot
/// run. O(n (log n + log P)).
Coschedule make_pack(const Instance& instance, const std::vector<int>& procs, bool reoptimise);

/// Tasks by decreasing time, ties by number: the order in which Make-pack takes them.
std::vector<int> by_decreasing(const std::vector<double>& time);

/// The same for t_i(sigma(i)).
std::vector<int> by_decreasing_time(const Times& times, const std::vector<int>& sigma);

/// Of each task the fewest processors that it can run on: where searches for sigma start.
std::vector<int> fewest_procs(const Times& times);

/// The packing step of Make-pack alone, for callers that keep the order themselves: the packs as
/// lists, first-fit of `order` with sizes sigma, at most k tasks a pack on p processors.
/// Unchecked.  First-fit searches a tree of the packs' free processors: O(log P) a task.
class FirstFit {
 public:
  FirstFit(int tasks, int procs, int max_tasks);
  const Packs& pack(const std::vector<int>& order, const std::vector<int>& sigma);

 private:
  int first_with(int need) const;
  void set_free(int pack, int free);

  int procs_, max_tasks_, leaves_;
  std::vector<int> free_;  // a tree of maxima; leaf = free processors, 0 when the pack is full
  Packs packs_;
};

// pack-Approx (section 4.4 of the paper), for any table: where the paper starts from one processor
// each, a task that cannot run on one starts from the fewest that it can run on.

/// pack-Approx: from sigma = 1, the longest task gets one more processor until the total work
/// exceeds p times the longest time; Make-pack on every sigma on the way, the best is kept.
/// Cost at most 3 times the optimum when k = p and property (2) holds (Theorem 5).  `reoptimise`
/// runs the 1-pack algorithm on every candidate's packs, which the paper does not: never worse.
/// O(steps n log n), steps <= n p.
Coschedule pack_approx(const Instance& instance, bool reoptimise);

}  // namespace cosched::packs::heuristic
