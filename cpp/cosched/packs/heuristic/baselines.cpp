#include "cosched/packs/heuristic/baselines.hpp"

#include "cosched/core/rng.hpp"
#include "cosched/packs/heuristic/candidate_costs.hpp"
#include "cosched/packs/heuristic/first_fit.hpp"

namespace cosched::packs::heuristic {
namespace {

void require_draws(int draws) {
  if (draws < 1)
    throw InvalidInstance("draws = " + std::to_string(draws) + ": expected at least one draw");
}

// The best of the partitions, ties: the first.
Coschedule best_of_partitions(const Instance& instance, const std::vector<Packs>& partitions) {
  Coschedule best;
  for (const Packs& packs : partitions) {
    Coschedule candidate = with_optimal_procs(instance.times(), packs);
    if (best.pack_of.empty() || candidate.cost < best.cost) best = std::move(candidate);
    check_interrupt();
  }
  return best;
}

// A task that cannot run on what its pack has left closes the pack and is drawn again.
Packs random_partition(const Instance& instance, const std::vector<int>& fewest, Rng& rng) {
  std::vector<int> remaining_tasks(instance.tasks());
  std::iota(remaining_tasks.begin(), remaining_tasks.end(), 0);
  Packs packs;
  while (!remaining_tasks.empty()) {
    const auto size =
        rng.between(1, std::min<std::int64_t>(instance.max_tasks(), remaining_tasks.size()));
    std::vector<int> pack;
    int free_procs = instance.procs();
    for (int k = 0; k < size; ++k) {
      std::swap(remaining_tasks[rng.below(remaining_tasks.size())], remaining_tasks.back());
      if (fewest[remaining_tasks.back()] > free_procs) break;
      free_procs -= fewest[remaining_tasks.back()];
      pack.push_back(remaining_tasks.back());
      remaining_tasks.pop_back();
    }
    std::sort(pack.begin(), pack.end());
    packs.push_back(std::move(pack));
  }
  return packs;
}

// The count on which task i is fastest; of those where it fits.
int fastest_count(const Instance& instance, int i) {
  const Times& times = instance.times();
  if (instance.sharing() == nullptr) return times.used(i, instance.procs());
  int best = 0;
  for (int q = 1; q <= times.procs(); ++q)
    if (times.measured_time(i, q) < kInfinity && instance.sharing()->fits_alone(i, q) &&
        (best == 0 || times.measured_time(i, q) < times.measured_time(i, best)))
      best = q;
  return best;
}

}  // namespace

Coschedule sequential(const Instance& instance) {
  Coschedule result;
  result.pack_of.resize(instance.tasks());
  std::iota(result.pack_of.begin(), result.pack_of.end(), 0);
  for (int i = 0; i < instance.tasks(); ++i) result.procs.push_back(fastest_count(instance, i));
  result.cost = cost(instance, result.pack_of, result.procs);
  return result;
}

std::vector<Packs> random_packs(const Instance& instance, int draws, std::uint64_t seed) {
  require_draws(draws);
  const std::vector<int> fewest = fewest_procs(instance.times());
  Rng rng(seed);
  std::vector<Packs> partitions;
  for (int k = 0; k < draws; ++k) {
    partitions.push_back(random_partition(instance, fewest, rng));
    check_interrupt();
  }
  return partitions;
}

std::vector<Packs> random_proc_packs(const Instance& instance, int draws, std::uint64_t seed) {
  require_draws(draws);
  const std::vector<int> fewest = fewest_procs(instance.times());
  Rng rng(seed);
  FirstFit first_fit(instance.tasks(), instance.procs(), instance.max_tasks());
  std::vector<Packs> partitions;
  for (int k = 0; k < draws; ++k) {
    std::vector<int> sigma = fewest;
    for (int& q : sigma) q = static_cast<int>(rng.between(q, instance.procs()));
    partitions.push_back(first_fit.pack_tasks(by_decreasing_time(instance.times(), sigma), sigma));
    check_interrupt();
  }
  return partitions;
}

Coschedule random_pack(const Instance& instance, int draws, std::uint64_t seed) {
  return best_of_partitions(instance, random_packs(instance, draws, seed));
}

Coschedule random_proc(const Instance& instance, int draws, std::uint64_t seed) {
  return best_of_partitions(instance, random_proc_packs(instance, draws, seed));
}

}  // namespace cosched::packs::heuristic
