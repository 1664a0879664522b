// A partition into packs that changes task by task, with the costs of its packs with one more, one
// less or another task.
//
// The curve of a set S of tasks is c_S(q) = cost of S as one pack on q processors, q = |S|..p;
// infinite where S does not fit.  Two curves merge in O(p): from the fewest processors on, the side
// with the longer time gets the next one.  A pack keeps the curve of all its tasks and, for each
// task, that of the others; so the cost of the pack with another task j is the crossing of a curve
// with t_j, found by bisection, and a change of the pack costs O(|S| p).
#pragma once

#include "cosched/core/assert.hpp"
#include "cosched/core/found.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/packs/model/coschedule.hpp"

namespace cosched::packs::search {

class PackPartition {
 public:
  /// `times` must outlive it; every pack must fit on p processors.  There are n + 1 places for
  /// packs, so that one is always empty.
  PackPartition(const Times& times, const Packs& packs);

  /// The packs that hold tasks.
  Packs packs() const;

  /// A place without tasks.
  int empty_place() const { return empty_places_.back(); }

  int pack_of(int task) const { return pack_of_[task]; }
  int size(int pack) const { return static_cast<int>(pack_tasks_[pack].size()); }
  double cost(int pack) const { return cost_[pack]; }

  /// Cost of task i's pack without i.  O(1).
  double cost_without(int i) const {
    return size(pack_of_[i]) == 1 ? 0 : curve(curve_without_, i)[procs_];
  }
  /// Cost of `pack` with j besides, infinite where they do not fit.  Requires size(pack) < p and j
  /// elsewhere.  O(log p).
  double cost_with(int pack, int j) const {
    COSCHED_ASSERT(pack_of(j) != pack);
    return crossing_cost(curve(pack_curve_, pack), size(pack), j);
  }
  /// Cost of task i's pack with j instead of i.  O(log p).
  double cost_replacing(int i, int j) const {
    return crossing_cost(curve(curve_without_, i), size(pack_of_[i]) - 1, j);
  }
  /// Least cost of a pack of j and `others` more tasks, whatever they are.  O(1).
  double least_cost_with(int j, int others) const { return times_->row(j)[procs_ - others - 1]; }

  /// Moves task i to `pack`.  O(p) for each task of the two packs.
  void move_task(int i, int pack);

  /// Exchanges two tasks of different packs.
  void exchange_tasks(int i, int j);

  /// Curve points computed so far: a measure of work.
  std::int64_t operations() const { return operations_; }

 private:
  const double* curve(const std::vector<double>& curves, int index) const {
    return &curves[static_cast<std::size_t>(index) * width_];
  }
  double* curve(std::vector<double>& curves, int index) const {
    return &curves[static_cast<std::size_t>(index) * width_];
  }

  double crossing_cost(const double* other_curve, int count, int j) const;
  void append_curve(const double* other_curve, int count, int task, double* to);
  void merge_curves(const double* a, int count_a, const double* b, int count_b, double* to);
  void remove_task(int i);
  void insert_task(int i, int pack);
  void rebuild_curves(int pack);

  const Times* times_;
  int procs_;
  std::size_t width_;  // p + 1: a curve is indexed by q
  std::vector<std::vector<int>> pack_tasks_;
  std::vector<int> pack_of_;
  std::vector<int> empty_places_;
  std::vector<double> cost_;
  std::vector<double> pack_curve_;     // a curve a pack
  std::vector<double> curve_without_;  // a curve a task: its pack without it
  std::vector<double> prefix_curves_,
      suffix_curves_;  // scratch: curves of a pack's first and last tasks
  std::int64_t operations_ = 0;
};

}  // namespace cosched::packs::search
