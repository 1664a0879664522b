#include "cosched/dags/proof/open_types.hpp"

namespace cosched::dags::proof {

OpenTypes::OpenTypes(const Instance& instance, double makespan)
    : instance_(&instance),
      makespan_(makespan),
      open_(instance.times().size()),
      only_type_(instance.tasks()) {
  for (int task = 0; task < instance.tasks(); ++task) {
    for (int type = 0; type < instance.types(); ++type)
      open_[pair(task, type)] = instance.can_run(task, type);
    refresh(task);
    undecided_ += only_type_[task] < 0;
  }
}

OpenTypes::OpenTypes(const OpenTypes& longer, double makespan) : OpenTypes(longer) {
  makespan_ = makespan;
}

void OpenTypes::refresh(int task) {
  int count = 0;
  for (int type = 0; type < instance_->types(); ++type)
    if (open(task, type)) {
      only_type_[task] = type;
      ++count;
    }
  if (count != 1) only_type_[task] = -1;
}

bool OpenTypes::close_type(int task, int type) {
  if (!open(task, type)) return false;
  const bool undecided = only_type_[task] < 0;
  open_[pair(task, type)] = 0;
  refresh(task);
  undecided_ -= undecided && only_type_[task] >= 0;
  return true;
}

void OpenTypes::open_type(int task, int type) {
  const bool decided = only_type_[task] >= 0;  // a task without a type counts as decided
  open_[pair(task, type)] = 1;
  refresh(task);
  undecided_ += decided;
}

Table OpenTypes::decided() const {
  Table share(instance_->tasks(), instance_->types());
  for (int task = 0; task < instance_->tasks(); ++task)
    if (only_type_[task] >= 0) share(task, only_type_[task]) = 1;
  return share;
}

}  // namespace cosched::dags::proof
