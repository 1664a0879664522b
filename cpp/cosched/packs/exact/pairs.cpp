#include "cosched/packs/exact/pairs.hpp"

#include "cosched/core/interrupt.hpp"
#include "cosched/opt/matching.hpp"

namespace cosched::packs::exact {
namespace {

struct PairSplit {
  double cost;
  int procs;  // of the first task; the second has the others
};

// Least cost of tasks i and j together; infinite where they do not fit.
PairSplit best_split(const Times& times, int i, int j) {
  const int p = times.procs();
  PairSplit split{kInfinity, 0};
  for (int q = 1; q < p; ++q) {
    const double longest = std::max(times(i, q), times(j, p - q));
    if (longest < split.cost) split = {longest, q};
  }
  return split;
}

std::vector<opt::WeightedEdge> pair_savings(const Times& times) {
  const int n = times.tasks();
  std::vector<opt::WeightedEdge> edges;
  for (int i = 0; i < n; ++i) {
    for (int j = i + 1; j < n; ++j) {
      const double saved = times.least(i) + times.least(j) - best_split(times, i, j).cost;
      if (saved > 0) edges.push_back({i, j, saved});
    }
    check_interrupt();
  }
  return edges;
}

}  // namespace

Coschedule pairs(const Instance& instance) {
  require_unshared(instance, "packs::exact::pairs");
  if (instance.max_tasks() > 2)
    throw InvalidInstance("max_tasks = " + std::to_string(instance.max_tasks()) +
                          ": expected 1 or 2 for pairs (optimal takes any)");
  const Times& times = instance.times();
  const int n = instance.tasks(), p = instance.procs();
  std::vector<int> partner(n, -1);
  if (instance.max_tasks() == 2) partner = opt::maximum_weight_matching(n, pair_savings(times));
  Packs packs;
  std::vector<int> procs(n);
  for (int i = 0; i < n; ++i) {
    const int j = partner[i];
    if (j == -1) {
      packs.push_back({i});
      procs[i] = times.used(i, p);
    } else if (i < j) {
      packs.push_back({i, j});
      const int q = best_split(times, i, j).procs;
      procs[i] = times.used(i, q);
      procs[j] = times.used(j, p - q);
    }
  }
  return with_procs(instance, packs, procs);
}

}  // namespace cosched::packs::exact
