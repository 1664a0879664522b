// The packing step of Make-pack: first fit in an order of the tasks.
#pragma once

#include <vector>

#include "cosched/packs/model/coschedule.hpp"

namespace cosched::packs::heuristic {

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
  const Packs& pack_tasks(const std::vector<int>& order, const std::vector<int>& sigma);

 private:
  int first_pack_with(int need) const;
  void set_free(int pack, int free);

  int procs_, max_tasks_, leaves_;
  std::vector<int> free_;  // a tree of maxima; leaf = free processors, 0 when the pack is full
  Packs packs_;
};

}  // namespace cosched::packs::heuristic
