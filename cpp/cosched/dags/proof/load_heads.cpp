#include "cosched/dags/proof/load_heads.hpp"

namespace cosched::dags::proof {

double completion_time(std::vector<AncestorLoad>& loads) {
  std::sort(loads.begin(), loads.end(), [](const AncestorLoad& a, const AncestorLoad& b) {
    return a.head != b.head ? a.head > b.head : a.work > b.work;
  });
  double sum = 0, completion = 0;
  for (const AncestorLoad& load : loads) {
    sum += load.work;
    completion = std::max(completion, load.head + sum);
  }
  return completion;
}

double LoadHeads::load_head(int task, const std::vector<double>& work,
                            const std::vector<double>& head, bool backward) {
  ancestors_.clear();
  stack_.assign(1, task);
  ++stamp_;
  std::int64_t scanned_edges = 0;
  while (!stack_.empty()) {
    const TaskGraph::TaskRange neighbours = preceding_tasks(stack_.back(), backward);
    stack_.pop_back();
    scanned_edges += neighbours.size();
    for (const int other : neighbours) {
      if (visit_stamp_[other] == stamp_) continue;
      visit_stamp_[other] = stamp_;
      stack_.push_back(other);
      if (work[other] > 0) ancestors_.push_back({head[other], work[other]});
    }
  }
  steps_ += 2 * scanned_edges + 40 * static_cast<std::int64_t>(ancestors_.size());
  return completion_time(ancestors_);
}

std::vector<double> least_work(const OpenTypes& open, const std::vector<double>& weights) {
  const Instance& instance = open.instance();
  std::vector<double> work(instance.tasks(), kInfinity);
  for (int task = 0; task < instance.tasks(); ++task)
    for (int type = 0; type < instance.types(); ++type)
      if (open.is_open(task, type))
        work[task] =
            std::min(work[task], weights[type] * instance.time(task, type) / instance.units(type));
  return work;
}

std::vector<std::vector<double>> load_mixtures(std::vector<double> loads, bool tries_each_type) {
  const std::size_t types = loads.size();
  std::vector<std::vector<double>> mixtures;
  for (std::size_t type = 0; type < types && (tries_each_type || types == 1); ++type) {
    mixtures.emplace_back(types, 0.0);
    mixtures.back()[type] = 1;
  }
  double sum = 0;
  for (const double load : loads) sum += load;
  constexpr double kLeastSum = 1e-6;  // loads that add up to less, as shares of T, prove nothing
  if (types > 1 && sum > kLeastSum) {
    for (double& load : loads) load /= sum;
    mixtures.push_back(std::move(loads));
  }
  return mixtures;
}

}  // namespace cosched::dags::proof
