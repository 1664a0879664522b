#include "cosched/cluster/slurm/best_fit.hpp"

#include <algorithm>

namespace cosched::cluster::slurm {

void best_fit(const NodeBits& candidates, int wanted, NodeBits& chosen) {
  struct Run {
    int first, length;
  };
  thread_local std::vector<Run> runs;
  runs.clear();
  candidates.runs([](int first, int length) { runs.push_back({first, length}); });
  chosen.clear();
  while (wanted > 0 && !runs.empty()) {
    auto best = runs.begin();
    for (auto run = best + 1; run != runs.end(); ++run) {
      const bool enough = run->length >= wanted, had = best->length >= wanted;
      if (enough ? !had || run->length < best->length : !had && run->length > best->length)
        best = run;
    }
    const int take = std::min(best->length, wanted);
    chosen.add_range(best->first, best->first + take);
    wanted -= take;
    runs.erase(best);
  }
}

namespace {

struct CoreRun {
  int first, last, cores;  // nodes [first, last)
};

// The node that suffices alone with the fewest free cores, or -1.
int single_node(const CoreRun& run, const std::vector<int>& free, int cores) {
  int best = -1;
  for (int node = run.first; node < run.last; ++node)
    if (free[node] >= cores && (best < 0 || free[node] < free[best])) best = node;
  return best;
}

}  // namespace

bool best_fit_cores(const NodeBits& candidates, const std::vector<int>& free, int cores,
                    NodeBits& chosen) {
  thread_local std::vector<CoreRun> runs;
  runs.clear();
  candidates.runs([&](int first, int length) {
    CoreRun run{first, first + length, 0};
    for (int node = first; node < run.last; ++node) run.cores += free[node];
    if (run.cores > 0) runs.push_back(run);
  });
  chosen.clear();
  while (cores > 0 && !runs.empty()) {
    auto best = runs.begin();
    for (auto run = best + 1; run != runs.end(); ++run) {
      const bool enough = run->cores >= cores, had = best->cores >= cores;
      if (enough ? !had || run->cores < best->cores : !had && run->cores > best->cores) best = run;
    }
    const int alone = single_node(*best, free, cores);
    for (int node = best->first; node < best->last && cores > 0; ++node) {
      if ((alone >= 0 && node != alone) || free[node] <= 0) continue;
      chosen.add(node);
      cores -= free[node];
    }
    runs.erase(best);
  }
  return cores <= 0;
}

}  // namespace cosched::cluster::slurm
