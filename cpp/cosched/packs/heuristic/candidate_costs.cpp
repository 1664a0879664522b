#include "cosched/packs/heuristic/candidate_costs.hpp"

#include <algorithm>

namespace cosched::packs::heuristic {

Coschedule with_optimal_procs(const Times& times, const Packs& packs) {
  Coschedule result;
  result.pack_of.resize(times.tasks());
  result.procs.resize(times.tasks());
  OnePackSolver solver(times);
  for (std::size_t pack = 0; pack < packs.size(); ++pack) {
    const std::vector<int>& tasks = packs[pack];
    result.cost += solver.solve(tasks.data(), static_cast<int>(tasks.size()), times.procs());
    for (std::size_t k = 0; k < tasks.size(); ++k) {
      result.pack_of[tasks[k]] = static_cast<int>(pack);
      result.procs[tasks[k]] = times.used(tasks[k], solver.procs()[k]);
    }
  }
  return result;
}

double CandidateCosts::optimal_cost(const Packs& packs) {
  double sum = 0;
  for (const std::vector<int>& tasks : packs)
    sum += solver_.solve(tasks.data(), static_cast<int>(tasks.size()), times_->procs());
  return sum;
}

double CandidateCosts::cost_at_most(const Packs& packs, const std::vector<int>& procs) const {
  double sum = 0;
  for (const std::vector<int>& tasks : packs) {
    double longest = 0;
    for (const int i : tasks) longest = std::max(longest, (*times_)(i, procs[i]));
    sum += longest;
  }
  return sum;
}

}  // namespace cosched::packs::heuristic
