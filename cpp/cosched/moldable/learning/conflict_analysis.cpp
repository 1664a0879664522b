#include "cosched/moldable/learning/conflict_analysis.hpp"

#include <algorithm>

namespace cosched::moldable::learning {

Lesson ConflictAnalysis::analyse() {
  needed_sides_.clear();
  met_literals_.clear();
  needs_of_last_level_ = 0;
  const Trail::Entry& refused = trail_.refused();
  need(negation(refused.literal));
  need_reasons(refused.literal, refused.reason);
  for (int number = trail_.size() - 1;; --number) {
    const Trail::Entry& entry = trail_[number];
    const int side = entry.literal.side;
    if (needs_[side].entry != number) continue;
    if (needs_of_last_level_ == 1) return make_lesson(side);
    const Literal literal{side, needs_[side].least};
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
    case Reason::Kind::listed:
      for (int k = 0; k < reason.detail; ++k) reasons_.push_back(trail_.listed(reason.number + k));
      break;
  }
}

void ConflictAnalysis::need_reasons(Literal literal, const Reason& reason) {
  if (reason.kind == Reason::Kind::clause) clauses_.use(reason.number);
  explain(literal, reason);
  for (const Literal each : reasons_) need(each);
}

void ConflictAnalysis::need(Literal literal) {
  Need& known = needs_[literal.side];
  if (known.entry != kNoEntry && known.least >= literal.least) return;
  const int entry = trail_.entry_of(literal);
  if (trail_[entry].level == 0) return;
  met_literals_.push_back(literal);
  if (known.entry >= trail_.level_start()) --needs_of_last_level_;
  if (entry >= trail_.level_start()) ++needs_of_last_level_;
  needed_sides_.push_back(literal.side);
  known = {entry, literal.least};
}

bool ConflictAnalysis::is_implied(int side) {
  const Need& need = needs_[side];
  const Reason& reason = trail_[need.entry].reason;
  if (reason.kind == Reason::Kind::decision) return false;
  explain({side, need.least}, reason);
  return std::all_of(reasons_.begin(), reasons_.end(), [&](Literal literal) {
    if (trail_[trail_.entry_of(literal)].level == 0) return true;
    const Need& other = needs_[literal.side];
    // Earlier entries only, so that no two needs imply each other.
    return other.entry != kNoEntry && other.entry < need.entry && other.least >= literal.least;
  });
}

Lesson ConflictAnalysis::make_lesson(int last_side) {
  Lesson lesson;
  lesson.literals.push_back(negation({last_side, needs_[last_side].least}));
  std::vector<int> entry_levels;
  std::sort(needed_sides_.begin(), needed_sides_.end());
  needed_sides_.erase(std::unique(needed_sides_.begin(), needed_sides_.end()), needed_sides_.end());
  for (const int side : needed_sides_) {
    if (side == last_side || needs_[side].entry == kNoEntry || is_implied(side)) continue;
    lesson.literals.push_back(negation({side, needs_[side].least}));
    const int level = trail_[needs_[side].entry].level;
    entry_levels.push_back(level);
    if (level <= lesson.return_level) continue;
    lesson.return_level = level;
    std::swap(lesson.literals[1], lesson.literals.back());
  }
  std::sort(entry_levels.begin(), entry_levels.end());
  entry_levels.erase(std::unique(entry_levels.begin(), entry_levels.end()), entry_levels.end());
  lesson.levels = 1 + static_cast<int>(entry_levels.size());
  for (const int side : needed_sides_) drop_need(side);
  return lesson;
}

}  // namespace cosched::moldable::learning
