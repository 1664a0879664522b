#include "cosched/moldable/learning/clauses.hpp"

#include <algorithm>

#include "cosched/core/assert.hpp"

namespace cosched::moldable::learning {
namespace {

// Clauses on so few levels are never forgotten (Audemard and Simon, Glucose, IJCAI 2009).
constexpr int kKeptLbd = 2;

}  // namespace

int Clauses::add(const std::vector<Literal>& literals, int lbd) {
  const int number = size();
  clauses_.push_back({literals, lbd, ++uses_});
  watch(number, 0);
  watch(number, 1);
  return number;
}

void Clauses::watch(int number, int place) {
  const std::vector<Literal>& literals = clauses_[number].literals;
  const Literal false_when = negation(literals[place]);
  watches_[false_when.side].push_back({false_when.bound, number, literals[1 - place]});
}

bool Clauses::propagate(Trail& trail, int side, int previous_bound) {
  std::vector<Watch>& watches = watches_[side];
  const int bound = trail.bound(side);
  operations_ += static_cast<std::int64_t>(watches.size());
  std::size_t watch_count = 0;
  bool is_consistent = true;
  for (std::size_t k = 0; k < watches.size(); ++k) {
    const Watch watch = watches[k];
    const bool is_newly_false = previous_bound < watch.bound && watch.bound <= bound;
    if (!is_consistent || !is_newly_false || trail.is_true(watch.other)) {
      watches[watch_count++] = watch;
      continue;
    }
    const Literal false_literal = negation({side, watch.bound});
    if (move_watch(trail, watch.clause, false_literal)) continue;
    const Literal last = clauses_[watch.clause].literals[0];
    watches[watch_count++] = {watch.bound, watch.clause, last};
    is_consistent = trail.raise(last, {Reason::Kind::clause, watch.clause, 0});
  }
  watches.resize(watch_count);
  return is_consistent;
}

bool Clauses::move_watch(const Trail& trail, int number, Literal false_literal) {
  std::vector<Literal>& literals = clauses_[number].literals;
  if (literals[0] == false_literal) std::swap(literals[0], literals[1]);
  if (trail.is_true(literals[0])) return false;
  operations_ += static_cast<std::int64_t>(literals.size());
  for (std::size_t k = 2; k < literals.size(); ++k)
    if (!trail.is_false(literals[k])) {
      std::swap(literals[1], literals[k]);
      watch(number, 1);
      return true;
    }
  return false;
}

void Clauses::explain(int number, Literal consequence, std::vector<Literal>& reasons) const {
  for (const Literal literal : clauses_[number].literals)
    if (literal.side != consequence.side) reasons.push_back(negation(literal));
}

void Clauses::forget(const Trail& trail) {
  COSCHED_ASSERT(trail.level() == 0);
  const auto holds = [&](const Clause& clause) {
    return std::any_of(clause.literals.begin(), clause.literals.end(),
                       [&](Literal literal) { return trail.is_true(literal); });
  };
  std::erase_if(clauses_, holds);
  const auto middle = clauses_.begin() + static_cast<std::ptrdiff_t>(clauses_.size() / 2);
  std::stable_sort(clauses_.begin(), clauses_.end(), [](const Clause& a, const Clause& b) {
    if (a.lbd != b.lbd) return a.lbd < b.lbd;
    return a.last_use > b.last_use;
  });
  clauses_.erase(std::find_if(middle, clauses_.end(),
                              [](const Clause& clause) { return clause.lbd > kKeptLbd; }),
                 clauses_.end());
  for (std::vector<Watch>& watches : watches_) watches.clear();
  for (int number = 0; number < size(); ++number) {
    // False literals of level 0 stay false: the watched ones are others.
    std::vector<Literal>& literals = clauses_[number].literals;
    std::erase_if(literals, [&](Literal literal) { return trail.is_false(literal); });
    COSCHED_ASSERT(literals.size() >= 2);  // else the propagation has not finished
    watch(number, 0);
    watch(number, 1);
  }
}

}  // namespace cosched::moldable::learning
