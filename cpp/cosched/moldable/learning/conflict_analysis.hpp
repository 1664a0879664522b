// What a search learns from a conflict.
#pragma once

#include <vector>

#include "cosched/moldable/learning/clauses.hpp"
#include "cosched/moldable/learning/delays.hpp"
#include "cosched/moldable/learning/trail.hpp"

namespace cosched::moldable::learning {

/// A clause that a conflict proves.  Its first literal is the only one of the last level; where all
/// levels above `backjump_level` are taken back, it is the only one that is not false.
struct LearntClause {
  std::vector<Literal> literals;
  int backjump_level = 0;
  int lbd = 1;  // literal block distance: on how many levels its literals are
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

  /// Learns from the last conflict of the trail.  Requires a level above 0.
  LearntClause analyse();
  /// The literals that the last analysis needed: their activity is bumped.
  const std::vector<Literal>& bumped_literals() const { return bumped_literals_; }

 private:
  static constexpr int kNoEntry = -1;
  // That a side is at least so much, which an entry of the trail has made true.
  struct Need {
    int entry;
    int bound;
  };

  void explain(Literal literal, const Reason& reason);
  // Needs the reasons of a literal.
  void need_reasons(Literal literal, const Reason& reason);
  void need(Literal literal);
  void drop_need(int side) { needs_[side].entry = kNoEntry; }
  // Whether other needs imply this one, so that the clause does without it.
  bool is_redundant(int side);
  LearntClause make_learnt_clause(int last_side);

  const Trail& trail_;
  const Delays& delays_;
  Clauses& clauses_;
  std::vector<Need> needs_;  // of each side
  std::vector<int> needed_sides_;
  std::vector<Literal> reasons_, bumped_literals_;
  int needs_of_last_level_ = 0;
};

}  // namespace cosched::moldable::learning
