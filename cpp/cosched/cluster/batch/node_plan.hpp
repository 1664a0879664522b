// Free cores, memory and GPUs of each node over time, as planned.
#pragma once

#include <vector>

#include "cosched/cluster/batch/site.hpp"

namespace cosched::cluster::batch {

/// The counterpart of Profile: a step function of time; the last step never ends.
class NodePlan {
 public:
  using Share = Placement;

  explicit NodePlan(const Site& site);

  struct Busy {
    double end;
    const Share* share;
  };
  /// All free from `now` on but for these shares until their ends.
  void reset(double now, std::vector<Busy> busy);
  /// Forgets what was before `now`.
  void advance(double now);
  /// Takes (sign -1) or gives back (+1) the share from `begin` to `end`.  O(steps x pieces).
  void change(double begin, double end, const Share& share, int sign);

  struct Slot {
    double start;
    Share share;
  };
  /// The earliest start in [now, before) (`now` or a step's begin) from which the need finds its
  /// amounts on the same nodes for `length` seconds; else `before`, without nodes.
  /// O(steps x nodes) where single steps decide.
  Slot earliest(double now, const Need& need, double length, double before) const;
  /// Whether the need finds its amounts at some time in [now, before): else no start is earlier.
  bool room(double now, const Need& need, double before) const;

 private:
  struct Step {
    double time;  // its begin
    Amounts total;
    Free free;
    // The most of each on a node, or more than that unless exact: it rejects most needs.
    mutable Amounts most;
    mutable bool exact = false;
  };
  bool fits(const Step& step, const Need& need) const;
  std::size_t step_at(double time) const;  // the step that contains the time
  std::size_t border_at(double time);      // a step that begins at the time, made if need be
  void merge(std::size_t step);            // with the one before, if they are alike

  const Site& site_;
  std::vector<Step> steps_;
};

}  // namespace cosched::cluster::batch
