#include "cosched/packs/heuristic/pack_choice.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>

#include "cosched/core/errors.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/packs/heuristic/one_pack.hpp"

namespace cosched::packs::heuristic {
namespace {

constexpr std::int64_t kMostBits = std::int64_t{1} << 33;

// Ascending places, the first left out: of each width the largest works that fit together.
std::vector<int> worth_a_look(const std::vector<Candidate>& candidates, int procs, int max_tasks) {
  std::vector<int> order(candidates.size() - 1);
  std::iota(order.begin(), order.end(), 1);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    const Candidate &x = candidates[a], &y = candidates[b];
    return x.procs != y.procs ? x.procs < y.procs : x.work > y.work;
  });
  std::vector<int> chosen;
  int width = 0, left = 0;
  for (const int place : order) {
    if (candidates[place].procs > procs) break;
    if (candidates[place].procs != width) {
      width = candidates[place].procs;
      left = std::min(max_tasks, procs / width);
    }
    if (left-- > 0) chosen.push_back(place);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

// Most work of the candidates from a place on, by processors and tasks that are left.
class MostWork {
 public:
  // Counts of tasks need no table where processors limit them already.
  MostWork(const std::vector<Candidate>& candidates, std::vector<int> places, int procs, int count)
      : candidates_(candidates),
        places_(std::move(places)),
        procs_(procs),
        counts_(count >= procs ? 0 : count),
        most_(static_cast<std::size_t>(counts_ + 1) * (procs + 1), 0.0) {
    const std::int64_t cells = static_cast<std::int64_t>(most_.size());
    if (cells * static_cast<std::int64_t>(places_.size()) > kMostBits)
      throw InvalidInstance("p = " + std::to_string(procs) + ", k = " + std::to_string(count) +
                            ": too many for a choice by idle time, expected at most 2^33 states");
    takes_.assign(places_.size(), std::vector<bool>(most_.size()));
    for (int i = static_cast<int>(places_.size()) - 1; i >= 0; --i) {
      step(i);
      check_interrupt();
    }
  }

  std::vector<int> chosen() const {
    std::vector<int> found{0};
    int count = counts_, free = procs_;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (!takes_[i][cell(count, free)]) continue;
      found.push_back(places_[i]);
      free -= candidates_[places_[i]].procs;
      if (counts_ > 0) --count;
    }
    return found;
  }

 private:
  std::size_t cell(int count, int free) const {
    return static_cast<std::size_t>(count) * (procs_ + 1) + free;
  }

  // Cells only look at those with fewer processors (and tasks), so one table does.
  void step(int i) {
    const auto [width, work] = candidates_[places_[i]];
    for (int count = counts_; count >= (counts_ > 0 ? 1 : 0); --count)
      for (int free = procs_; free >= width; --free) {
        const double with = work + most_[cell(counts_ > 0 ? count - 1 : 0, free - width)];
        double& without = most_[cell(count, free)];
        if (with < without) continue;  // ties: the task that comes first
        without = with;
        takes_[i][cell(count, free)] = true;
      }
  }

  const std::vector<Candidate>& candidates_;
  std::vector<int> places_;
  int procs_, counts_;
  std::vector<double> most_;
  std::vector<std::vector<bool>> takes_;
};

}  // namespace

std::vector<int> least_idle(const std::vector<Candidate>& candidates, int procs, int max_tasks) {
  const int free = procs - candidates.front().procs;
  if (max_tasks == 1 || free == 0) return {0};
  return MostWork(candidates, worth_a_look(candidates, free, max_tasks - 1), free, max_tasks - 1)
      .chosen();
}

Packs best_cuts(const Instance& instance, const std::vector<int>& order) {
  const int n = static_cast<int>(order.size());
  OnePackSolver solver(instance.times());
  std::vector<double> cost(n + 1, kInfinity);  // of the first j tasks
  std::vector<int> begin(n + 1, 0);            // of the last pack among them
  cost[0] = 0;
  for (int j = 1; j <= n; ++j) {
    for (int i = j - 1; i >= 0 && j - i <= instance.max_tasks(); --i) {
      const double last = solver.solve(order.data() + i, j - i, instance.procs());
      if (last == kInfinity) break;  // more tasks need more processors still
      if (cost[i] + last >= cost[j]) continue;
      cost[j] = cost[i] + last;
      begin[j] = i;
    }
    check_interrupt();
  }
  Packs packs;
  for (int j = n; j > 0; j = begin[j]) {
    packs.emplace_back(order.begin() + begin[j], order.begin() + j);
    std::sort(packs.back().begin(), packs.back().end());
  }
  std::reverse(packs.begin(), packs.end());
  return packs;
}

}  // namespace cosched::packs::heuristic
