#include "cosched/packs/heuristic/make_pack.hpp"

#include "cosched/packs/heuristic/candidate_costs.hpp"
#include "cosched/packs/heuristic/first_fit.hpp"

namespace cosched::packs::heuristic {
namespace {

void require_procs(const Instance& instance, const std::vector<int>& procs) {
  if (procs.size() != static_cast<std::size_t>(instance.tasks()))
    throw InvalidInstance("procs has " + std::to_string(procs.size()) + " entries: expected " +
                          std::to_string(instance.tasks()));
  for (std::size_t i = 0; i < procs.size(); ++i) {
    const std::string entry = "procs[" + std::to_string(i) + "] = " + std::to_string(procs[i]);
    if (procs[i] < 1 || procs[i] > instance.procs())
      throw InvalidInstance(entry + ": expected 1.." + std::to_string(instance.procs()));
    if (instance.times().measured_time(static_cast<int>(i), procs[i]) == kInfinity)
      throw InvalidInstance(entry + ": task " + std::to_string(i) + " cannot run on so many");
  }
}

}  // namespace

Coschedule make_pack(const Instance& instance, const std::vector<int>& procs, bool reoptimise) {
  require_procs(instance, procs);
  const Times& times = instance.times();
  std::vector<double> time(procs.size());
  for (int i = 0; i < instance.tasks(); ++i) time[i] = times.measured_time(i, procs[i]);
  FirstFit first_fit(instance.tasks(), instance.procs(), instance.max_tasks());
  const Packs& packs = first_fit.pack_tasks(by_decreasing(time), procs);
  return reoptimise ? with_optimal_procs(times, packs) : with_procs(instance, packs, procs);
}

}  // namespace cosched::packs::heuristic
