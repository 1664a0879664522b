// The bounds of integer variables during a search, in the order in which they were found.
#pragma once

#include <vector>

#include "cosched/moldable/learning/literal.hpp"

namespace cosched::moldable::learning {

/// Why a bound holds.
struct Reason {
  enum class Kind {
    decision,     // the search tries it; or it is known from the start
    clause,       // clause `number` has no other literal left
    delay,        // by arc `number` (delays.hpp)
    impossible,   // arc `number` would be broken if its condition held; its side `from` was at
                  // least `detail` then
    explanation,  // `detail` literals of the trail's explanations, from `number` on
  };
  Kind kind = Kind::decision;
  int number = 0;
  int detail = 0;
};

/// Bounds by levels: a level is a decision and what follows from it.
class Trail {
 public:
  /// A side got a higher bound.
  struct Entry {
    Literal literal;
    int previous;  // the entry of this side before; -1: none
    int level;
    Reason reason;
  };

  /// Adds a variable between two numbers, at level 0.  Returns its number.
  int add_variable(int low, int high);

  int variables() const { return static_cast<int>(bounds_.size()) / 2; }
  int bound(int side) const { return bounds_[side]; }
  int low(int variable) const { return bounds_[lower_side(variable)]; }
  int high(int variable) const { return -bounds_[upper_side(variable)]; }
  bool is_fixed(int variable) const { return low(variable) == high(variable); }
  bool is_true(Literal literal) const { return bounds_[literal.side] >= literal.bound; }
  bool is_false(Literal literal) const { return is_true(negation(literal)); }

  int level() const { return static_cast<int>(level_starts_.size()); }
  /// The first entry of the level.
  int level_start() const { return level_starts_.empty() ? 0 : level_starts_.back(); }
  void open_level() {
    level_starts_.push_back(size());
    level_explanations_.push_back(static_cast<int>(explanation_literals_.size()));
  }
  /// Backjumps: takes back all levels above this one.
  void backjump_to(int level);

  /// Makes a literal true.  False where it contradicts a bound: conflict() then is that entry, and
  /// the bounds remain.
  bool raise(Literal literal, Reason reason);
  const Entry& conflict() const { return conflict_; }

  /// For reasons: literals between begin_explanation() and explanation_reason() are kept until the
  /// level is taken back.
  void begin_explanation() { explanation_begin_ = static_cast<int>(explanation_literals_.size()); }
  void add_to_explanation(Literal literal) { explanation_literals_.push_back(literal); }
  Reason explanation_reason() const {
    return {Reason::Kind::explanation, explanation_begin_,
            static_cast<int>(explanation_literals_.size()) - explanation_begin_};
  }
  Literal explanation_literal(int place) const { return explanation_literals_[place]; }

  int size() const { return static_cast<int>(entries_.size()); }
  const Entry& operator[](int entry) const { return entries_[entry]; }
  /// The entry that made a true literal true.
  int entry_of(Literal literal) const;

 private:
  std::vector<int> bounds_, last_entries_;  // of each side
  std::vector<Entry> entries_;
  std::vector<int> level_starts_, level_explanations_;  // where each level begins
  std::vector<Literal> explanation_literals_;
  int explanation_begin_ = 0;
  Entry conflict_{};
};

}  // namespace cosched::moldable::learning
