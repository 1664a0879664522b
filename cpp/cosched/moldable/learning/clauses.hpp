// Clauses that a search has learnt from its conflicts.
#pragma once

#include <cstdint>
#include <vector>

#include "cosched/moldable/learning/trail.hpp"

namespace cosched::moldable::learning {

/// Disjunctions of literals.  Two literals of each clause are watched: while neither is false,
/// nothing follows from it (Moskewicz, Madigan, Zhao, Zhang, Malik, Chaff, DAC 2001).
class Clauses {
 public:
  explicit Clauses(int variables) : watches_(2 * variables) {}

  int size() const { return static_cast<int>(clauses_.size()); }

  /// Adds a clause of two literals or more of different sides.  The first is not false, the second
  /// is the last that became false.  `lbd` is the literal block distance: on how many levels its
  /// literals are.  Returns its number.
  int add(const std::vector<Literal>& literals, int lbd);

  /// What follows from a new bound of a side, which was `previous_bound`.  False: it contradicts a
  /// bound.
  bool propagate(Trail& trail, int side, int previous_bound);

  /// Appends the literals of a clause, negated, but that of the side of `consequence`.
  void explain(int number, Literal consequence, std::vector<Literal>& reasons) const;

  /// Notes that a conflict used the clause.
  void use(int number) { clauses_[number].last_use = ++uses_; }

  /// Forgets clauses that hold, and about half of the others, those on many levels and not used for
  /// long.  Numbers of clauses change.  Requires level 0 and finished propagation: each clause that
  /// does not hold then has two literals that are not false, and these become the watched ones.
  void forget(const Trail& trail);

  /// Watches that were looked at.
  std::int64_t operations() const { return operations_; }

 private:
  struct Clause {
    std::vector<Literal> literals;  // the first two are watched
    int lbd;
    std::int64_t last_use;
  };
  // In the list of the side that makes the watched literal false, from `bound` on.
  struct Watch {
    int bound;
    int clause;
    Literal other;  // another literal: where it is true, the clause holds
  };

  void watch(int number, int place);
  // Moves the watch of a false literal to one that is not false; false: there is none.
  bool move_watch(const Trail& trail, int number, Literal false_literal);

  std::vector<Clause> clauses_;
  std::vector<std::vector<Watch>> watches_;
  std::int64_t uses_ = 0;
  std::int64_t operations_ = 0;
};

}  // namespace cosched::moldable::learning
