// What a search learns from a conflict.
#pragma once

#include <vector>

#include "cosched/moldable/learning/clauses.hpp"
#include "cosched/moldable/learning/delays.hpp"
#include "cosched/moldable/learning/trail.hpp"

namespace cosched::moldable::learning {

/// A clause that a conflict proves.  Its first literal is the only one of the last level; where all
/// levels above `return_level` are taken back, it is the only one that is not false.
struct Lesson {
  std::vector<Literal> literals;
  int return_level = 0;
  int levels = 1;  // on how many levels its literals are
};

/// Replaces literals of a conflict by their reasons, until one of the last level is left (first
/// unique implication point: Marques-Silva and Sakallah, GRASP, IEEE Transactions on Computers
/// 1999).  Literals are bounds, of which only the strongest of each side counts.
class ConflictAnalysis {
 public:
  ConflictAnalysis(const Trail& trail, const Delays& delays, Clauses& clauses)
      : trail_(trail),
        delays_(delays),
        clauses_(clauses),
        needs_(2 * static_cast<std::size_t>(trail.variables()), Need{kNoEntry, 0}) {}

  /// Learns from the literal that the trail refused last.  Requires a level above 0.
  Lesson analyse();
  /// The literals that the last analysis met.
  const std::vector<Literal>& met_literals() const { return met_literals_; }

 private:
  static constexpr int kNoEntry = -1;
  // That a side is at least so much, which an entry of the trail has made true.
  struct Need {
    int entry;
    int least;
  };

  void explain(Literal literal, const Reason& reason);
  // Needs the reasons of a literal.
  void need_reasons(Literal literal, const Reason& reason);
  void need(Literal literal);
  void drop_need(int side) { needs_[side].entry = kNoEntry; }
  // Whether other needs imply this one.
  bool is_implied(int side);
  Lesson make_lesson(int last_side);

  const Trail& trail_;
  const Delays& delays_;
  Clauses& clauses_;
  std::vector<Need> needs_;  // of each side
  std::vector<int> needed_sides_;
  std::vector<Literal> reasons_, met_literals_;
  int needs_of_last_level_ = 0;
};

}  // namespace cosched::moldable::learning
