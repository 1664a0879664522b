#include "cosched/packs/search/local_search.hpp"

#include "cosched/core/annealing.hpp"
#include "cosched/packs/heuristic/candidate_costs.hpp"
#include "cosched/packs/heuristic/longest_first.hpp"
#include "cosched/packs/heuristic/pack_by_pack.hpp"
#include "cosched/packs/model/bounds.hpp"
#include "cosched/packs/search/partition_annealing.hpp"
#include "cosched/packs/search/subset_programme.hpp"

namespace cosched::packs::search {
namespace {

// Up to so many tasks the subset programme, O(3^n), takes milliseconds.
constexpr int kFewTasks = 12;

void require_work(std::int64_t work) {
  if (work < 0)
    throw InvalidInstance("work = " + std::to_string(work) + ": expected a number >= 0");
}

// The greatest cost that is surely optimal: no co-schedule costs less than the bounds.
double target_cost(const Instance& instance) {
  return std::max(area_bound(instance), longest_bound(instance)) * (1 + kMonotoneTolerance);
}

// Converts operations a task into operations of all tasks.
std::int64_t total_work(const Instance& instance, std::int64_t work) {
  const std::int64_t max_work = std::numeric_limits<std::int64_t>::max();
  return work > max_work / instance.tasks() ? max_work : work * instance.tasks();
}

// An optimal co-schedule, in milliseconds; `start` where that is as good, or a time limit ends it.
SearchedCoschedule solve_few_tasks(const Instance& instance, SearchedCoschedule start) {
  start.is_complete = finishes_within(std::nullopt, [&] {
    Coschedule best = subset_programme(instance);
    if (best.cost < start.coschedule.cost) start.coschedule = std::move(best);
    start.is_proved = true;
  });
  return start;
}

}  // namespace

std::int64_t default_work(int tasks) {
  return std::min(kLocalSearchWork, kLocalSearchTotalWork / std::max(1, tasks));
}

SearchedCoschedule first_schedule(const Instance& instance) {
  SearchedCoschedule start = heuristic::best_pack_by_pack(instance);
  if (!start.is_complete) return start;
  start.is_complete = finishes_within(std::nullopt, [&] {
    Coschedule other = heuristic::longest_first(instance);
    if (other.cost < start.coschedule.cost) start.coschedule = std::move(other);
  });
  return start;
}

SearchedCoschedule local_search(const Instance& instance, std::uint64_t seed,
                                std::optional<std::int64_t> given_work,
                                std::optional<double> time_limit) {
  require_unshared(instance, "packs::search::local_search");
  const std::int64_t work = given_work.value_or(default_work(instance.tasks()));
  require_work(work);
  const ScopedTimeLimit limit(time_limit);
  if (work == 0) return heuristic::best_pack_by_pack(instance);
  SearchedCoschedule start = first_schedule(instance);
  if (!start.is_complete) return start;
  if (instance.tasks() <= kFewTasks) return solve_few_tasks(instance, std::move(start));
  return local_search_from(instance, packs_of(start.coschedule.pack_of), seed, work, std::nullopt);
}

SearchedCoschedule local_search_from(const Instance& instance, const Packs& start,
                                     std::uint64_t seed, std::int64_t work,
                                     std::optional<double> time_limit,
                                     const AfterRound& after_round) {
  require_unshared(instance, "packs::search::local_search_from");
  require_work(work);
  SearchedCoschedule best;
  const auto offer = [&](const Packs& packs) {
    Coschedule candidate =
        without_deadline([&] { return heuristic::with_optimal_procs(instance.times(), packs); });
    if (best.coschedule.pack_of.empty() || candidate.cost < best.coschedule.cost)
      best.coschedule = std::move(candidate);
    best.is_proved = instance.max_tasks() == 1 || best.coschedule.cost <= target_cost(instance);
  };
  offer(start);
  best.is_complete = finishes_within(time_limit, [&] {
    GrowingRounds(default_work(instance.tasks())).run(work, [&](std::int64_t part, int number) {
      if (best.is_proved) return false;
      const double cost_before = best.coschedule.cost;
      PartitionAnnealing annealing(instance, packs_of(best.coschedule.pack_of), seed + number);
      const bool is_finished = finishes_within(
          std::nullopt, [&] { annealing.run(total_work(instance, part), target_cost(instance)); });
      offer(annealing.best());
      if (!is_finished) check_interrupt();
      if (best.is_proved || !after_round) return !best.is_proved;
      return after_round(best, best.coschedule.cost < cost_before, number);
    });
  });
  return best;
}

}  // namespace cosched::packs::search
