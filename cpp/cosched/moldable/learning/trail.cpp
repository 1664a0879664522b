#include "cosched/moldable/learning/trail.hpp"

namespace cosched::moldable::learning {

int Trail::add_variable(int low, int high) {
  const int variable = variables();
  for (const Literal literal : {at_least(variable, low), at_most(variable, high)}) {
    bounds_.push_back(literal.bound);
    last_entries_.push_back(size());
    entries_.push_back({literal, -1, 0, {}});
  }
  return variable;
}

bool Trail::raise(Literal literal, Reason reason) {
  if (is_true(literal)) return true;
  const Entry entry{literal, last_entries_[literal.side], level(), reason};
  if (is_false(literal)) {
    conflict_ = entry;
    return false;
  }
  bounds_[literal.side] = literal.bound;
  last_entries_[literal.side] = size();
  entries_.push_back(entry);
  return true;
}

void Trail::backjump_to(int level) {
  if (level >= this->level()) return;
  const int end = level_starts_[level];
  for (int k = size() - 1; k >= end; --k) {
    const Entry& entry = entries_[k];
    bounds_[entry.literal.side] = entries_[entry.previous].literal.bound;
    last_entries_[entry.literal.side] = entry.previous;
  }
  entries_.resize(end);
  explanation_literals_.resize(level_explanations_[level]);
  level_starts_.resize(level);
  level_explanations_.resize(level);
}

int Trail::entry_of(Literal literal) const {
  int entry = last_entries_[literal.side];
  for (;;) {
    const int previous = entries_[entry].previous;
    if (previous < 0 || entries_[previous].literal.bound < literal.bound) return entry;
    entry = previous;
  }
}

}  // namespace cosched::moldable::learning
