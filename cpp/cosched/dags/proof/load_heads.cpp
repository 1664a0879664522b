#include "cosched/dags/proof/load_heads.hpp"

#include <algorithm>

#include "cosched/core/numeric.hpp"

namespace cosched::dags::proof {

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
