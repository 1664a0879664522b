// Optimal packs of at most two tasks; declared in exact.hpp.
#include <algorithm>
#include <string>

#include "cosched/core/errors.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/opt/matching.hpp"
#include "cosched/packs/exact.hpp"

namespace cosched::packs {
namespace {

// best(i, q) = processors q' <= q with the least t_i(q'), the highest such: q itself where
// property (1) holds.
class BestProcs {
 public:
  explicit BestProcs(const Times& times)
      : procs_(times.procs()), best_(static_cast<std::size_t>(times.tasks()) * procs_) {
    for (int i = 0; i < times.tasks(); ++i)
      for (int q = 1; q <= procs_; ++q) {
        const int before = q == 1 ? 1 : (*this)(i, q - 1);
        at(i, q) = times(i, q) <= times(i, before) ? q : before;
      }
  }
  int operator()(int i, int q) const { return best_[index(i, q)]; }

 private:
  int& at(int i, int q) { return best_[index(i, q)]; }
  std::size_t index(int i, int q) const { return static_cast<std::size_t>(i) * procs_ + q - 1; }

  int procs_;
  std::vector<int> best_;
};

struct Split {
  double cost;
  int procs;  // of the first task; the second has the others
};

// Least cost of tasks i and j together.
Split best_split(const Times& times, const BestProcs& best, int i, int j) {
  const int p = times.procs();
  Split split{kInfinity, 0};
  for (int q = 1; q < p; ++q) {
    const double longest = std::max(times(i, best(i, q)), times(j, best(j, p - q)));
    if (longest < split.cost) split = {longest, q};
  }
  return split;
}

std::vector<opt::WeightedEdge> savings(const Times& times, const BestProcs& best) {
  const int n = times.tasks(), p = times.procs();
  std::vector<opt::WeightedEdge> edges;
  for (int i = 0; i < n; ++i) {
    for (int j = i + 1; j < n; ++j) {
      const double alone = times(i, best(i, p)) + times(j, best(j, p));
      const double saved = alone - best_split(times, best, i, j).cost;
      if (saved > 0) edges.push_back({i, j, saved});
    }
    check_interrupt();
  }
  return edges;
}

}  // namespace

Coschedule pairs(const Instance& instance) {
  if (instance.max_tasks() > 2)
    throw InvalidInstance("max_tasks = " + std::to_string(instance.max_tasks()) +
                          ": expected 1 or 2 for pairs (optimal takes any)");
  const Times& times = instance.times();
  const int n = instance.tasks(), p = instance.procs();
  const BestProcs best(times);
  std::vector<int> partner(n, -1);
  if (instance.max_tasks() == 2) partner = opt::maximum_weight_matching(n, savings(times, best));
  Packs packs;
  std::vector<int> procs(n);
  for (int i = 0; i < n; ++i) {
    const int j = partner[i];
    if (j == -1) {
      packs.push_back({i});
      procs[i] = best(i, p);
    } else if (i < j) {
      packs.push_back({i, j});
      const int q = best_split(times, best, i, j).procs;
      procs[i] = best(i, q);
      procs[j] = best(j, p - q);
    }
  }
  return with_procs(times, packs, procs);
}

}  // namespace cosched::packs
