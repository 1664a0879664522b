#include "cosched/dags/proof/open_types.hpp"

#include <algorithm>

#include "cosched/core/numeric.hpp"

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

double all_done(std::vector<Load>& loads) {
  std::sort(loads.begin(), loads.end(), [](const Load& a, const Load& b) {
    return a.head != b.head ? a.head > b.head : a.work > b.work;
  });
  double sum = 0, most = 0;
  for (const Load& load : loads) most = std::max(most, load.head + (sum += load.work));
  return most;
}

double LoadHeads::of(int task, const std::vector<double>& work, const std::vector<double>& head,
                     bool backward) {
  ancestors_.clear();
  stack_.assign(1, task);
  ++stamp_;
  std::int64_t scanned = 0;
  while (!stack_.empty()) {
    const TaskGraph::Range next = before(stack_.back(), backward);
    stack_.pop_back();
    scanned += next.size();
    for (const int other : next) {
      if (seen_[other] == stamp_) continue;
      seen_[other] = stamp_;
      stack_.push_back(other);
      if (work[other] > 0) ancestors_.push_back({head[other], work[other]});
    }
  }
  steps_ += 2 * scanned + 40 * static_cast<std::int64_t>(ancestors_.size());
  return all_done(ancestors_);
}

std::vector<double> least_work(const OpenTypes& open, const std::vector<double>& weights) {
  const Instance& instance = open.instance();
  std::vector<double> work(instance.tasks(), kInfinity);
  for (int task = 0; task < instance.tasks(); ++task)
    for (int type = 0; type < instance.types(); ++type)
      if (open.open(task, type))
        work[task] =
            std::min(work[task], weights[type] * instance.time(task, type) / instance.units(type));
  return work;
}

std::vector<std::vector<double>> load_mixtures(std::vector<double> loads, bool each_type) {
  const std::size_t types = loads.size();
  std::vector<std::vector<double>> mixtures;
  for (std::size_t type = 0; type < types && (each_type || types == 1); ++type) {
    mixtures.emplace_back(types, 0.0);
    mixtures.back()[type] = 1;
  }
  double sum = 0;
  for (const double load : loads) sum += load;
  if (types > 1 && sum > 1e-6) {
    for (double& load : loads) load /= sum;
    mixtures.push_back(std::move(loads));
  }
  return mixtures;
}

}  // namespace cosched::dags::proof
