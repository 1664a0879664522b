#include "cosched/moldable/model/incumbent.hpp"

namespace cosched::moldable {

void Incumbent::offer(const Placement& placement) {
  const ObjectiveKey key = key_of(placement);
  if (!is_better(key)) return;
  key_ = key;
  placement_ = placement;
}

void Incumbent::offer(Placement&& placement) {
  const ObjectiveKey key = key_of(placement);
  if (!is_better(key)) return;
  key_ = key;
  placement_ = std::move(placement);
}

Incumbent::ObjectiveKey Incumbent::key_of(const Placement& placement) const {
  const Criteria value = evaluate_criteria(instance_, placement);
  if (objective_ == Objective::makespan) return {value.makespan, value.minsum};
  return {value.minsum, value.makespan};
}

bool Incumbent::is_better(const ObjectiveKey& key) const {
  return placement_.jobs() == 0 || key < key_;
}

}  // namespace cosched::moldable
