// A partition into packs under change: what would one more, one less or another task cost?
//
// The curve of a set S of tasks is c_S(q) = cost of S as one pack on q processors, q = |S|..p;
// infinite where S does not fit.  Two
// curves merge in O(p): from the fewest processors on, the side with the longer time gets the next
// one.  A pack keeps the curve of all its tasks and, for each task, that of the others; so the cost
// of the pack with another task j is the crossing of a curve with t_j, found by bisection, and a
// change of the pack costs O(|S| p).
#pragma once

#include "cosched/core/found.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/packs/model/coschedule.hpp"

namespace cosched::packs::search {

class Partition {
 public:
  /// `times` must outlive it; every pack must fit on p processors.  There are n + 1 places for
  /// packs, so that one is always empty.
  Partition(const Times& times, const Packs& packs)
      : times_(&times),
        procs_(times.procs()),
        width_(static_cast<std::size_t>(procs_) + 1),
        tasks_(times.tasks() + 1),
        pack_of_(times.tasks()),
        cost_(times.tasks() + 1, 0),
        full_(tasks_.size() * width_),
        hole_(times.tasks() * width_) {
    for (int place = times.tasks(); place >= static_cast<int>(packs.size()); --place)
      empty_.push_back(place);
    for (std::size_t pack = 0; pack < packs.size(); ++pack) {
      tasks_[pack] = packs[pack];
      for (const int i : packs[pack]) pack_of_[i] = static_cast<int>(pack);
      rebuild(static_cast<int>(pack));
      check_interrupt();
    }
  }

  /// The packs that hold tasks.
  Packs packs() const {
    Packs packs;
    for (const std::vector<int>& tasks : tasks_) {
      if (tasks.empty()) continue;
      packs.push_back(tasks);
      std::sort(packs.back().begin(), packs.back().end());
    }
    return packs;
  }

  /// A place without tasks.
  int empty_place() const { return empty_.back(); }

  int pack_of(int task) const { return pack_of_[task]; }
  int size(int pack) const { return static_cast<int>(tasks_[pack].size()); }
  double cost(int pack) const { return cost_[pack]; }

  /// Cost of task i's pack without i.  O(1).
  double without(int i) const { return size(pack_of_[i]) == 1 ? 0 : curve(hole_, i)[procs_]; }
  /// Cost of `pack` with j besides, infinite where they do not fit.  Requires size(pack) < p and j
  /// elsewhere.  O(log p).
  double with(int pack, int j) const { return crossing(curve(full_, pack), size(pack), j); }
  /// Cost of task i's pack with j instead of i.  O(log p).
  double replaced(int i, int j) const {
    return crossing(curve(hole_, i), size(pack_of_[i]) - 1, j);
  }
  /// Least cost of a pack of j and `others` more tasks, whatever they are.  O(1).
  double least_with(int j, int others) const { return times_->row(j)[procs_ - others - 1]; }

  /// Moves task i to `pack`.  O(p) for each task of the two packs.
  void move(int i, int pack) {
    const int from = pack_of_[i];
    take(i);
    put(i, pack);
    rebuild(from);
    rebuild(pack);
  }

  /// Exchanges two tasks of different packs.
  void exchange(int i, int j) {
    const int pack_i = pack_of_[i], pack_j = pack_of_[j];
    take(i);
    take(j);
    put(i, pack_j);
    put(j, pack_i);
    rebuild(pack_i);
    rebuild(pack_j);
  }

  /// Curve points computed so far: a measure of work.
  std::int64_t operations() const { return operations_; }

 private:
  const double* curve(const std::vector<double>& curves, int index) const {
    return &curves[static_cast<std::size_t>(index) * width_];
  }
  double* curve(std::vector<double>& curves, int index) const {
    return &curves[static_cast<std::size_t>(index) * width_];
  }

  // min over q of max(t_j(q), others(p - q)), q = 1..p - count: the first falls with q, the second
  // rises, so the least is at the first q where t_j(q) <= others(p - q), or just before.
  double crossing(const double* others, int count, int j) const {
    const double* t = times_->row(j);
    if (count == 0) return t[procs_ - 1];
    const int most = procs_ - count;
    int before = 0;  // t_j(q) > others(p - q) for q <= before
    for (int length = most; length > 0;) {
      const int half = length / 2, q = before + half + 1;
      const bool larger = t[q - 1] > others[procs_ - q];
      before = larger ? q : before;
      length = larger ? length - half - 1 : half;
    }
    double cost = before < most ? others[procs_ - before - 1] : kInfinity;
    if (before > 0) cost = std::min(cost, t[before - 1]);
    return cost;
  }

  // Curve of `count` tasks with curve `others` and one more task.
  void append(const double* others, int count, int task, double* to) {
    const double* t = times_->row(task) - 1;  // t[q]
    if (count == 0) {
      std::copy(t + 1, t + 1 + procs_, to + 1);
    } else {
      for (int q = count + 1, own = 1; q <= procs_; ++q) {
        const double a = others[q - own], b = t[own];
        to[q] = a < b ? b : a;
        own += a < b;
      }
    }
    operations_ += procs_ - count;
  }

  void merge(const double* a, int count_a, const double* b, int count_b, double* to) {
    if (count_a == 0 || count_b == 0) {
      std::copy_n(count_a == 0 ? b : a, width_, to);
    } else {
      for (int q = count_a + count_b, own = count_a; q <= procs_; ++q) {
        const double x = a[own], y = b[q - own];
        to[q] = x < y ? y : x;
        own += !(x < y);
      }
    }
    operations_ += procs_ - count_a - count_b;
  }

  void take(int i) {
    std::vector<int>& tasks = tasks_[pack_of_[i]];
    *require_found(std::find(tasks.begin(), tasks.end(), i), tasks.end(), "a task of a pack") =
        tasks.back();
    tasks.pop_back();
    if (tasks.empty()) empty_.push_back(pack_of_[i]);
  }

  void put(int i, int pack) {
    if (tasks_[pack].empty()) erase_found(empty_, pack, "an empty pack");
    tasks_[pack].push_back(i);
    pack_of_[i] = pack;
  }

  void rebuild(int pack) {
    const std::vector<int>& tasks = tasks_[pack];
    const int count = static_cast<int>(tasks.size());
    cost_[pack] = 0;
    if (count == 0) return;
    before_.resize(std::max(before_.size(), (tasks.size() + 1) * width_));
    after_.resize(before_.size());
    for (int k = 0; k < count; ++k) append(curve(before_, k), k, tasks[k], curve(before_, k + 1));
    for (int k = count - 1; k > 0; --k)
      append(curve(after_, k + 1), count - 1 - k, tasks[k], curve(after_, k));
    for (int k = 0; k < count; ++k)
      merge(curve(before_, k), k, curve(after_, k + 1), count - 1 - k, curve(hole_, tasks[k]));
    std::copy_n(curve(before_, count), width_, curve(full_, pack));
    cost_[pack] = curve(full_, pack)[procs_];
  }

  const Times* times_;
  int procs_;
  std::size_t width_;  // p + 1: a curve is indexed by q
  std::vector<std::vector<int>> tasks_;
  std::vector<int> pack_of_;
  std::vector<int> empty_;
  std::vector<double> cost_;
  std::vector<double> full_;            // a curve a pack
  std::vector<double> hole_;            // a curve a task: its pack without it
  std::vector<double> before_, after_;  // scratch: curves of a pack's first and last tasks
  std::int64_t operations_ = 0;
};

}  // namespace cosched::packs::search
