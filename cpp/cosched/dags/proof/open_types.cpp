#include "cosched/dags/proof/open_types.hpp"

namespace cosched::dags::proof {

OpenTypes::OpenTypes(const Instance& instance, double makespan)
    : instance_(&instance),
      makespan_(makespan),
      is_open_(instance.times().size()),
      only_type_(instance.tasks()) {
  for (int task = 0; task < instance.tasks(); ++task) {
    for (int type = 0; type < instance.types(); ++type)
      is_open_[pair_index(task, type)] = instance.can_run(task, type);
    update_only_type(task);
    undecided_tasks_ += only_type_[task] < 0;
  }
}

Table OpenTypes::decided_shares() const {
  Table share(instance_->tasks(), instance_->types());
  for (int task = 0; task < instance_->tasks(); ++task)
    if (only_type_[task] >= 0) share(task, only_type_[task]) = 1;
  return share;
}

bool OpenTypes::mark_closed(int task, int type) {
  if (!is_open(task, type)) return false;
  const bool was_undecided = only_type_[task] < 0;
  is_open_[pair_index(task, type)] = 0;
  update_only_type(task);
  undecided_tasks_ -= was_undecided && only_type_[task] >= 0;
  return true;
}

void OpenTypes::mark_open(int task, int type) {
  const bool was_decided = only_type_[task] >= 0;  // a task without a type counts as decided
  is_open_[pair_index(task, type)] = 1;
  update_only_type(task);
  undecided_tasks_ += was_decided;
}

void OpenTypes::update_only_type(int task) {
  int count = 0;
  for (int type = 0; type < instance_->types(); ++type)
    if (is_open(task, type)) {
      only_type_[task] = type;
      ++count;
    }
  if (count != 1) only_type_[task] = -1;
}

}  // namespace cosched::dags::proof
