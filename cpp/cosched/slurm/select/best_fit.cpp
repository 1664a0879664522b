#include "cosched/slurm/select/best_fit.hpp"

#include <algorithm>
#include <vector>

namespace cosched::slurm {

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

}  // namespace cosched::slurm
