#include "cosched/moldable/learning/branching.hpp"

#include <algorithm>

namespace cosched::moldable::learning {
namespace {

constexpr double kDecay = 0.95;  // of activities, by each conflict
constexpr double kHighestActivity = 1e100;

}  // namespace

int Branching::number_of(Literal literal) {
  // The same candidate for x >= v and for x <= v - 1.
  const Literal lower = literal.side % 2 == 0 ? literal : negation(literal);
  const int variable = lower.side / 2;
  const auto [entry, is_new] =
      numbers_[variable].try_emplace(lower.bound, static_cast<int>(candidates_.size()));
  if (is_new) {
    candidates_.push_back({variable, lower.bound, 0, -1});
    insert(entry->second);
  }
  return entry->second;
}

void Branching::bump(Literal literal) {
  const int number = number_of(literal);
  Candidate& candidate = candidates_[number];
  candidate.activity += increment_;
  if (candidate.place >= 0) move_up(candidate.place);
  if (candidate.activity < kHighestActivity) return;
  for (Candidate& each : candidates_) each.activity /= kHighestActivity;
  increment_ /= kHighestActivity;
}

void Branching::decay() { increment_ /= kDecay; }

std::optional<Literal> Branching::choose(const Trail& trail) {
  while (!heap_.empty()) {
    const int top = heap_.front();
    const Candidate& candidate = candidates_[top];
    const Literal literal = at_least(candidate.variable, candidate.value);
    const int last = heap_.back();
    heap_.pop_back();
    candidates_[top].place = -1;
    if (!heap_.empty()) {
      set_place(0, last);
      move_down(0);
    }
    if (trail.is_true(literal) || trail.is_false(literal)) continue;
    const bool is_true_for_saved_value = has_saved_value_[candidate.variable] &&
                                         saved_values_[candidate.variable] >= candidate.value;
    return is_true_for_saved_value ? literal : negation(literal);
  }
  return std::nullopt;
}

void Branching::reopen(const Trail& trail, const Trail::Entry& entry) {
  const int side = entry.literal.side;
  const int variable = side / 2;
  const int previous_bound = trail[entry.previous].literal.bound;
  const bool is_lower = side == lower_side(variable);
  // The entry had decided "at least v" for the values v of the half-open interval (above, last].
  const int above = is_lower ? previous_bound : -entry.literal.bound;
  const int last = is_lower ? entry.literal.bound : -previous_bound;
  const std::map<int, int>& numbers = numbers_[variable];
  for (auto candidate = numbers.upper_bound(above);
       candidate != numbers.end() && candidate->first <= last; ++candidate)
    if (candidates_[candidate->second].place < 0) insert(candidate->second);
}

void Branching::insert(int candidate) {
  heap_.push_back(candidate);
  const int place = static_cast<int>(heap_.size()) - 1;
  candidates_[candidate].place = place;
  move_up(place);
}

void Branching::move_up(int place) {
  const int candidate = heap_[place];
  while (place > 0 && is_above(candidate, heap_[(place - 1) / 2])) {
    set_place(place, heap_[(place - 1) / 2]);
    place = (place - 1) / 2;
  }
  set_place(place, candidate);
}

void Branching::move_down(int place) {
  const int candidate = heap_[place];
  const int size = static_cast<int>(heap_.size());
  for (;;) {
    int child = 2 * place + 1;
    if (child >= size) break;
    if (child + 1 < size && is_above(heap_[child + 1], heap_[child])) ++child;
    if (!is_above(heap_[child], candidate)) break;
    set_place(place, heap_[child]);
    place = child;
  }
  set_place(place, candidate);
}

}  // namespace cosched::moldable::learning
