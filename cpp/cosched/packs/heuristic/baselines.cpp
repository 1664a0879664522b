#include "cosched/packs/heuristic/baselines.hpp"

#include "cosched/core/rng.hpp"
#include "cosched/packs/heuristic/make_pack.hpp"
#include "cosched/packs/heuristic/one_pack.hpp"

namespace cosched::packs::heuristic {
namespace {

void require_draws(int draws) {
  if (draws < 1)
    throw InvalidInstance("draws = " + std::to_string(draws) + ": expected at least one draw");
}

// The best of the partitions, ties: the first.
Coschedule best_of(const Instance& instance, const std::vector<Packs>& drawn) {
  Coschedule best;
  for (const Packs& packs : drawn) {
    Coschedule candidate = with_optimal_procs(instance.times(), packs);
    if (best.pack_of.empty() || candidate.cost < best.cost) best = std::move(candidate);
    check_interrupt();
  }
  return best;
}

// A task that cannot run on what its pack has left closes the pack and is drawn again.
Packs random_partition(const Instance& instance, const std::vector<int>& fewest, Rng& rng) {
  std::vector<int> left(instance.tasks());
  std::iota(left.begin(), left.end(), 0);
  Packs packs;
  while (!left.empty()) {
    const auto size = rng.between(1, std::min<std::int64_t>(instance.max_tasks(), left.size()));
    std::vector<int> pack;
    int free = instance.procs();
    for (int k = 0; k < size; ++k) {
      std::swap(left[rng.below(left.size())], left.back());
      if (fewest[left.back()] > free) break;
      free -= fewest[left.back()];
      pack.push_back(left.back());
      left.pop_back();
    }
    std::sort(pack.begin(), pack.end());
    packs.push_back(std::move(pack));
  }
  return packs;
}

// The count on which task i is fastest; of those where it fits.
int fastest(const Instance& instance, int i) {
  const Times& times = instance.times();
  if (instance.sharing() == nullptr) return times.used(i, instance.procs());
  int best = 0;
  for (int q = 1; q <= times.procs(); ++q)
    if (times.given(i, q) < kInfinity && instance.sharing()->fits_alone(i, q) &&
        (best == 0 || times.given(i, q) < times.given(i, best)))
      best = q;
  return best;
}

}  // namespace

Coschedule sequential(const Instance& instance) {
  Coschedule result;
  result.pack_of.resize(instance.tasks());
  std::iota(result.pack_of.begin(), result.pack_of.end(), 0);
  for (int i = 0; i < instance.tasks(); ++i) result.procs.push_back(fastest(instance, i));
  result.cost = cost(instance, result.pack_of, result.procs);
  return result;
}

std::vector<Packs> random_packs(const Instance& instance, int draws, std::uint64_t seed) {
  require_draws(draws);
  const std::vector<int> fewest = fewest_procs(instance.times());
  Rng rng(seed);
  std::vector<Packs> drawn;
  for (int k = 0; k < draws; ++k) {
    drawn.push_back(random_partition(instance, fewest, rng));
    check_interrupt();
  }
  return drawn;
}

std::vector<Packs> random_proc_packs(const Instance& instance, int draws, std::uint64_t seed) {
  require_draws(draws);
  const std::vector<int> fewest = fewest_procs(instance.times());
  Rng rng(seed);
  FirstFit first_fit(instance.tasks(), instance.procs(), instance.max_tasks());
  std::vector<Packs> drawn;
  for (int k = 0; k < draws; ++k) {
    std::vector<int> sigma = fewest;
    for (int& q : sigma) q = static_cast<int>(rng.between(q, instance.procs()));
    drawn.push_back(first_fit.pack(by_decreasing_time(instance.times(), sigma), sigma));
    check_interrupt();
  }
  return drawn;
}

Coschedule random_pack(const Instance& instance, int draws, std::uint64_t seed) {
  return best_of(instance, random_packs(instance, draws, seed));
}

Coschedule random_proc(const Instance& instance, int draws, std::uint64_t seed) {
  return best_of(instance, random_proc_packs(instance, draws, seed));
}

}  // namespace cosched::packs::heuristic
