#include "cosched/moldable/learning/conflict_analysis.hpp"

#include <algorithm>

namespace cosched::moldable::learning {

LearntClause ConflictAnalysis::analyse() {
  needed_sides_.clear();
  bumped_literals_.clear();
  needs_of_last_level_ = 0;
  const Trail::Entry& conflict = trail_.conflict();
  need(negation(conflict.literal));
  need_reasons(conflict.literal, conflict.reason);
  for (int number = trail_.size() - 1;; --number) {
    const Trail::Entry& entry = trail_[number];
    const int side = entry.literal.side;
    if (needs_[side].entry != number) continue;
    if (needs_of_last_level_ == 1) return make_learnt_clause(side);
    const Literal literal{side, needs_[side].bound};
    drop_need(side);
    --needs_of_last_level_;
    need_reasons(literal, entry.reason);
  }
}

void ConflictAnalysis::explain(Literal literal, const Reason& reason) {
  reasons_.clear();
  switch (reason.kind) {
    case Reason::Kind::decision:
      break;
    case Reason::Kind::clause:
      clauses_.explain(reason.number, literal, reasons_);
      break;
    case Reason::Kind::delay:
      delays_.explain_delay(reason.number, literal, reasons_);
      break;
    case Reason::Kind::impossible:
      delays_.explain_impossible(reason.number, reason.detail, reasons_);
      break;
    case Reason::Kind::explanation:
      for (int k = 0; k < reason.detail; ++k)
        reasons_.push_back(trail_.explanation_literal(reason.number + k));
      break;
  }
}

void ConflictAnalysis::need_reasons(Literal literal, const Reason& reason) {
  if (reason.kind == Reason::Kind::clause) clauses_.use(reason.number);
  explain(literal, reason);
  for (const Literal each : reasons_) need(each);
}

void ConflictAnalysis::need(Literal literal) {
  Need& side_need = needs_[literal.side];
  if (side_need.entry != kNoEntry && side_need.bound >= literal.bound) return;
  const int entry = trail_.entry_of(literal);
  if (trail_[entry].level == 0) return;
  bumped_literals_.push_back(literal);
  if (side_need.entry >= trail_.level_start()) --needs_of_last_level_;
  if (entry >= trail_.level_start()) ++needs_of_last_level_;
  needed_sides_.push_back(literal.side);
  side_need = {entry, literal.bound};
}

bool ConflictAnalysis::is_redundant(int side) {
  const Need& need = needs_[side];
  const Reason& reason = trail_[need.entry].reason;
  if (reason.kind == Reason::Kind::decision) return false;
  explain({side, need.bound}, reason);
  return std::all_of(reasons_.begin(), reasons_.end(), [&](Literal literal) {
    if (trail_[trail_.entry_of(literal)].level == 0) return true;
    const Need& other = needs_[literal.side];
    // Earlier entries only, so that no two needs imply each other.
    return other.entry != kNoEntry && other.entry < need.entry && other.bound >= literal.bound;
  });
}

LearntClause ConflictAnalysis::make_learnt_clause(int last_side) {
  LearntClause learnt_clause;
  learnt_clause.literals.push_back(negation({last_side, needs_[last_side].bound}));
  std::vector<int> entry_levels;
  std::sort(needed_sides_.begin(), needed_sides_.end());
  needed_sides_.erase(std::unique(needed_sides_.begin(), needed_sides_.end()), needed_sides_.end());
  for (const int side : needed_sides_) {
    if (side == last_side || needs_[side].entry == kNoEntry || is_redundant(side)) continue;
    learnt_clause.literals.push_back(negation({side, needs_[side].bound}));
    const int level = trail_[needs_[side].entry].level;
    entry_levels.push_back(level);
    if (level <= learnt_clause.backjump_level) continue;
    learnt_clause.backjump_level = level;
    std::swap(learnt_clause.literals[1], learnt_clause.literals.back());
  }
  std::sort(entry_levels.begin(), entry_levels.end());
  entry_levels.erase(std::unique(entry_levels.begin(), entry_levels.end()), entry_levels.end());
  learnt_clause.lbd = 1 + static_cast<int>(entry_levels.size());
  for (const int side : needed_sides_) drop_need(side);
  return learnt_clause;
}

}  // namespace cosched::moldable::learning
