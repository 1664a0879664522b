#include "cosched/packs/heuristic/least_idle.hpp"

#include <algorithm>
#include <numeric>

#include "cosched/core/assert.hpp"
#include "cosched/core/errors.hpp"
#include "cosched/core/interrupt.hpp"

namespace cosched::packs::heuristic {
namespace {

constexpr double kMaxBits = 8589934592;  // 2^33: a GB
constexpr double kMaxCells = 67108864;   // 2^26: half a GB of numbers

// The places of candidates that an optimal choice needs, ascending, without the first: of each
// width those with the most work, as many as fit together.
std::vector<int> undominated_candidates(const std::vector<PackCandidate>& candidates, int procs,
                                        int max_tasks) {
  std::vector<int> order(candidates.size() - 1);
  std::iota(order.begin(), order.end(), 1);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    const PackCandidate &x = candidates[a], &y = candidates[b];
    return x.procs != y.procs ? x.procs < y.procs : x.work > y.work;
  });
  std::vector<int> chosen;
  int width = 0, remaining_places = 0;
  for (const int place : order) {
    if (candidates[place].procs > procs) break;
    if (candidates[place].procs != width) {
      width = candidates[place].procs;
      remaining_places = std::min(max_tasks, procs / width);
    }
    if (remaining_places > 0) chosen.push_back(place);
    --remaining_places;
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

// The most work of candidates from a place on, by the numbers of free processors and of tasks.
class WorkTable {
 public:
  // The number of tasks is no dimension of the table where processors limit it already.
  WorkTable(const std::vector<PackCandidate>& candidates, std::vector<int> places, int procs,
            int count)
      : candidates_(candidates),
        places_(std::move(places)),
        procs_(procs),
        counts_(count >= procs ? 0 : count) {
    const double cells = (counts_ + 1.0) * (procs + 1.0);
    if (cells * std::max(1.0, static_cast<double>(places_.size())) > kMaxBits || cells > kMaxCells)
      throw InvalidInstance("p = " + std::to_string(procs) + ", k = " + std::to_string(count) +
                            ": too many for a choice by idle time, expected at most 2^33 states of "
                            "at most 2^26 counts");
    most_work_.assign(static_cast<std::size_t>(cells), 0.0);
    takes_place_.assign(places_.size(), std::vector<bool>(most_work_.size()));
    for (int i = static_cast<int>(places_.size()) - 1; i >= 0; --i) {
      add_place(i);
      check_interrupt();
    }
  }

  std::vector<int> chosen() const {
    std::vector<int> places{0};
    int count = counts_, free = procs_;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (!takes_place_[i][cell(count, free)]) continue;
      places.push_back(places_[i]);
      free -= candidates_[places_[i]].procs;
      if (counts_ > 0) --count;
    }
    return places;
  }

 private:
  std::size_t cell(int count, int free) const {
    return static_cast<std::size_t>(count) * (procs_ + 1) + free;
  }

  // Adds the candidate at a place.  A cell depends on cells with fewer processors (and tasks) only,
  // so one table is enough.
  void add_place(int i) {
    const auto [width, work] = candidates_[places_[i]];
    for (int count = counts_; count >= (counts_ > 0 ? 1 : 0); --count)
      for (int free = procs_; free >= width; --free) {
        const double work_with = work + most_work_[cell(counts_ > 0 ? count - 1 : 0, free - width)];
        double& work_without = most_work_[cell(count, free)];
        if (work_with < work_without) continue;  // ties: the task that comes first
        work_without = work_with;
        takes_place_[i][cell(count, free)] = true;
      }
  }

  const std::vector<PackCandidate>& candidates_;
  std::vector<int> places_;
  int procs_, counts_;
  std::vector<double> most_work_;
  std::vector<std::vector<bool>> takes_place_;
};

}  // namespace

std::vector<int> least_idle(const std::vector<PackCandidate>& candidates, int procs,
                            int max_tasks) {
  COSCHED_ASSERT(!candidates.empty() && candidates.front().procs <= procs && max_tasks >= 1);
  const int free = procs - candidates.front().procs;
  if (max_tasks == 1 || free == 0) return {0};
  return WorkTable(candidates, undominated_candidates(candidates, free, max_tasks - 1), free,
                   max_tasks - 1)
      .chosen();
}

}  // namespace cosched::packs::heuristic
