#include "cosched/packs/heuristic/longest_first.hpp"

#include <algorithm>
#include <numeric>

#include "cosched/packs/heuristic/candidate_costs.hpp"
#include "cosched/packs/model/bounds.hpp"

namespace cosched::packs::heuristic {
namespace {

// Poll steps (a nanosecond each) of a task that a pack looks at: a bisection over its times.
constexpr std::int64_t kPollStepsPerTask = 50;

class LongestFirst {
 public:
  LongestFirst(const Instance& instance, int max_refused_tasks)
      : max_refused_tasks_(max_refused_tasks), instance_(instance), order_(instance.tasks()) {
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
      packs.push_back(
          make_pack(first, instance_.times().least(order_[first]) * (1 + slack), packed));
    }
    return packs;
  }

 private:
  std::vector<int> make_pack(std::size_t first, double length, std::vector<char>& packed) {
    std::vector<int> tasks;
    int free_procs = instance_.procs(), free_places = instance_.max_tasks(), refused = 0;
    for (std::size_t position = first;
         position < order_.size() && free_places > 0 && refused < max_refused_tasks_; ++position) {
      const int task = order_[position];
      if (packed[task]) continue;
      const int need = fewest_within(instance_.times(), task, length);
      poll_.count(kPollStepsPerTask);
      if (need > free_procs - (tasks.empty() ? 0 : free_places - 1)) {
        ++refused;
        continue;
      }
      packed[task] = 1;
      free_procs -= need;
      --free_places;
      tasks.push_back(task);
      if (free_procs < free_places) free_places = free_procs;
    }
    std::sort(tasks.begin(), tasks.end());
    return tasks;
  }

  int max_refused_tasks_;
  const Instance& instance_;
  std::vector<int> order_;
  Poll poll_;
};

}  // namespace

Coschedule longest_first(const Instance& instance, const LongestFirstParams& params) {
  LongestFirst heuristic(instance, params.max_refused_tasks);
  CandidateCosts costs(instance.times());
  Packs best;
  double least = kInfinity;
  for (const double slack : params.slacks) {
    Packs packs = heuristic.packs(slack);
    const double cost = costs.optimal_cost(packs);
    if (cost < least) {
      least = cost;
      best = std::move(packs);
    }
  }
  return with_optimal_procs(instance.times(), best);
}

}  // namespace cosched::packs::heuristic
