#include "cosched/packs/heuristic/longest_first.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/packs/heuristic/optimal_procs.hpp"

namespace cosched::packs::heuristic {
namespace {

constexpr double kSlacks[] = {0, 0.1, 0.3, 0.8};
constexpr int kMostRefused = 200;  // tasks that a pack looks at in vain

class LongestFirst {
 public:
  explicit LongestFirst(const Instance& instance) : instance_(instance), order_(instance.tasks()) {
    const Times& times = instance.times();
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(),
                     [&](int a, int b) { return times.least(a) > times.least(b); });
  }

  Packs packs(double slack) {
    Packs packs;
    std::vector<char> packed(order_.size(), 0);
    for (std::size_t first = 0; first < order_.size(); ++first) {
      if (packed[order_[first]]) continue;
      packs.push_back(pack(first, instance_.times().least(order_[first]) * (1 + slack), packed));
    }
    return packs;
  }

 private:
  std::vector<int> pack(std::size_t first, double length, std::vector<char>& packed) {
    std::vector<int> tasks;
    int left = instance_.procs(), places = instance_.max_tasks(), refused = 0;
    for (std::size_t at = first; at < order_.size() && places > 0 && refused < kMostRefused; ++at) {
      const int task = order_[at];
      if (packed[task]) continue;
      const int need = least_need(task, length);
      poll_.count(50);
      if (need > left - (tasks.empty() ? 0 : places - 1)) {
        ++refused;
        continue;
      }
      packed[task] = 1;
      left -= need;
      --places;
      tasks.push_back(task);
      if (left < places) places = left;
    }
    std::sort(tasks.begin(), tasks.end());
    return tasks;
  }

  int least_need(int task, double length) const {
    const double* row = instance_.times().row(task);
    return static_cast<int>(std::partition_point(row, row + instance_.procs(),
                                                 [length](double t) { return t > length; }) -
                            row) +
           1;
  }

  const Instance& instance_;
  std::vector<int> order_;
  Poll poll_;
};

}  // namespace

Coschedule longest_first(const Instance& instance) {
  LongestFirst heuristic(instance);
  CandidateCosts costs(instance.times());
  Packs best;
  double least = kInfinity;
  for (const double slack : kSlacks) {
    Packs packs = heuristic.packs(slack);
    const double cost = costs.optimal(packs);
    if (cost < least) {
      least = cost;
      best = std::move(packs);
    }
  }
  return with_optimal_procs(instance.times(), best);
}

}  // namespace cosched::packs::heuristic
