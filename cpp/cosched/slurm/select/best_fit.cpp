#include "cosched/slurm/select/best_fit.hpp"

namespace cosched::slurm {

void BestFit::choose(const NodeBits& candidate_nodes, int wanted, NodeBits& chosen_nodes) {
  runs_.clear();
  candidate_nodes.for_each_run([&](int first, int length) { runs_.push_back({first, length}); });
  chosen_nodes.clear();
  while (wanted > 0 && !runs_.empty()) {
    auto best = runs_.begin();
    for (auto run = best + 1; run != runs_.end(); ++run) {
      const bool is_sufficient = run->length >= wanted;
      const bool is_best_sufficient = best->length >= wanted;
      const bool is_better = is_sufficient ? !is_best_sufficient || run->length < best->length
                                           : !is_best_sufficient && run->length > best->length;
      if (is_better) best = run;
    }
    const int count = std::min(best->length, wanted);
    chosen_nodes.add_range(best->first, best->first + count);
    wanted -= count;
    runs_.erase(best);
  }
}

}  // namespace cosched::slurm
