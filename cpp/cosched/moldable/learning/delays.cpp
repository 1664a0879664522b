#include "cosched/moldable/learning/delays.hpp"

namespace cosched::moldable::learning {

void Delays::add(int before, int after, int delay, Literal condition) {
  for (const Arc& arc : {Arc{lower_side(before), lower_side(after), delay, condition},
                         Arc{upper_side(after), upper_side(before), delay, condition}}) {
    const int number = static_cast<int>(arcs_.size());
    arcs_.push_back(arc);
    arcs_of_side_[arc.from].push_back(number);
    if (condition != kAlways) arcs_of_condition_[condition.side].push_back(number);
  }
}

bool Delays::propagate(Trail& trail, int side) {
  operations_ += static_cast<std::int64_t>(arcs_of_side_[side].size()) +
                 static_cast<std::int64_t>(arcs_of_condition_[side].size());
  for (const int number : arcs_of_side_[side])
    if (!propagate_arc(trail, number)) return false;
  for (const int number : arcs_of_condition_[side])
    if (!propagate_arc(trail, number)) return false;
  return true;
}

bool Delays::propagate_arc(Trail& trail, int number) const {
  const Arc& arc = arcs_[number];
  const int from_least = trail.bound(arc.from);
  const Literal consequence{arc.to, from_least + arc.delay};
  if (arc.condition == kAlways || trail.is_true(arc.condition))
    return trail.raise(consequence, {Reason::Kind::delay, number, 0});
  if (!trail.is_false(consequence)) return true;
  return trail.raise(negation(arc.condition), {Reason::Kind::impossible, number, from_least});
}

void Delays::explain_delay(int number, Literal literal, std::vector<Literal>& reasons) const {
  const Arc& arc = arcs_[number];
  reasons.push_back({arc.from, literal.bound - arc.delay});
  if (arc.condition != kAlways) reasons.push_back(arc.condition);
}

void Delays::explain_impossible(int number, int bound, std::vector<Literal>& reasons) const {
  const Arc& arc = arcs_[number];
  reasons.push_back({arc.from, bound});
  reasons.push_back(negation({arc.to, bound + arc.delay}));
}

}  // namespace cosched::moldable::learning
