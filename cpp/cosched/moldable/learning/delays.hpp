// Delays between variables, some of them on a condition.
#pragma once

#include <cstdint>
#include <vector>

#include "cosched/moldable/learning/trail.hpp"

namespace cosched::moldable::learning {

/// Keeps "after >= before + delay" for pairs of variables: always, or where a literal is true.
/// Each delay is two arcs between sides: before >= t gives after >= t + delay, and
/// after <= t gives before <= t - delay.
class Delays {
 public:
  explicit Delays(int variables)
      : arcs_of_side_(2 * variables), arcs_of_condition_(2 * variables) {}

  void add(int before, int after, int delay) { add(before, after, delay, kAlways); }
  void add(int before, int after, int delay, Literal condition);

  /// What follows from a new bound of a side.  False: it contradicts another bound.
  bool propagate(Trail& trail, int side);

  /// Appends literals that make `literal` true, which arc `number` has made true.
  void explain_delay(int number, Literal literal, std::vector<Literal>& reasons) const;
  /// Appends literals with which the condition of arc `number` cannot hold, where its side `from`
  /// was at least `bound`.
  void explain_impossible(int number, int bound, std::vector<Literal>& reasons) const;

  /// Arcs that were looked at.
  std::int64_t operations() const { return operations_; }

 private:
  static constexpr Literal kAlways{-1, 0};
  struct Arc {
    int from, to, delay;
    Literal condition;
  };

  // What an arc says with the bounds of now.
  bool propagate_arc(Trail& trail, int number) const;

  std::vector<Arc> arcs_;
  std::vector<std::vector<int>> arcs_of_side_, arcs_of_condition_;
  std::int64_t operations_ = 0;
};

}  // namespace cosched::moldable::learning
