#include "cosched/moldable/slots/slots_bound.hpp"

#include "cosched/moldable/dual/dual_approx.hpp"
#include "cosched/moldable/search/fastest_choices.hpp"
#include "cosched/moldable/search/local_search.hpp"
#include "cosched/moldable/search/time_prices.hpp"

namespace cosched::moldable::slots {
namespace {

using search::TimePrices;

constexpr double kRelativePrecision = 1e-3, kFirstRise = 4e-3;
constexpr std::int64_t kMaxColumns = 200'000;  // counts x cells of a deadline
constexpr std::int64_t kSearchWork = 20'000;   // for a schedule, a job
constexpr int kMaxJobs = 2'000;                // beyond, one set of prices takes too long
constexpr std::int64_t kMinPriceSets = 20;     // of prices: fewer are not worth the time

std::int64_t count_columns(const Instance& instance, int cells) {
  return std::int64_t{instance.jobs()} * instance.useful_machines() * cells;
}

search::SearchResult find_schedule(const Instance& instance, Objective objective) {
  search::SearchOptions options;
  options.objective = objective;
  options.work = kSearchWork;
  return search::local_search(instance, options);
}

// At the last doubling.
int last_cell_count(int jobs) {
  if (jobs <= 20) return 256;
  if (jobs <= 60) return 192;
  return jobs <= 300 ? 96 : 64;
}

}  // namespace

bounds::BoundResult slots_bound(const Instance& instance, double lower, double upper,
                                const SlotsOptions& options) {
  bounds::BoundResult result{lower};
  const auto choices = search::fastest_choices(instance);
  std::int64_t work = 0;
  result.complete = finishes_within(std::nullopt, [&] {
    // From the bound upwards: where a deadline is refuted, that is soon.
    double step = kFirstRise;
    while (upper - result.value > kRelativePrecision * result.value && work < options.work) {
      const double middle = result.value + (upper - result.value) / 2;
      const double deadline = std::min(result.value * (1 + step), middle);
      TimePrices prices(instance, choices, deadline, options.cells, TimePrices::JobCosts::deadline);
      if (prices.prove_deadline_infeasible(options.rounds))
        result.value = deadline;
      else
        upper = deadline;
      step *= 2;
      work += prices.take_work();
    }
  });
  return result;
}

bounds::BoundResult slots_bound(const Instance& instance) {
  if (!instance.has_independent_jobs()) return slots_bound(instance.as_independent_jobs());
  const double lower = dual::dual_approximation_bound(instance, dual::kDefaultTolerance);
  const SlotsOptions options;
  if (count_columns(instance, options.cells) > kMaxColumns) return {lower};
  const auto searched = find_schedule(instance, Objective::makespan);
  bounds::BoundResult result = slots_bound(instance, lower, makespan(searched.placement), options);
  result.complete = result.complete && searched.is_complete;
  return result;
}

bounds::BoundResult time_indexed_bound(const Instance& instance, double upper, double horizon,
                                       const TimeIndexedOptions& options) {
  bounds::BoundResult result;
  const auto choices = search::fastest_choices(instance);
  TimePrices prices(instance, choices, horizon, options.cells,
                    TimePrices::JobCosts::weighted_completion);
  result.complete = finishes_within(
      std::nullopt, [&] { prices.subgradient_ascent(upper, options.work, options.doublings); });
  result.value = prices.bound();
  return result;
}

bounds::BoundResult time_indexed_bound(const Instance& instance) {
  if (!instance.has_independent_jobs()) return time_indexed_bound(instance.as_independent_jobs());
  bounds::BoundResult result;
  if (instance.jobs() > kMaxJobs) return result;
  TimeIndexedOptions options;
  options.cells = last_cell_count(instance.jobs()) >> options.doublings;
  options.work = 50'000'000 + 500'000LL * instance.jobs();
  if (count_columns(instance, last_cell_count(instance.jobs())) > options.work / kMinPriceSets)
    return result;
  const auto searched = find_schedule(instance, Objective::minsum);
  const Criteria upper = evaluate_criteria(instance, searched.placement);
  if (upper.minsum > 0)
    result = time_indexed_bound(instance, upper.minsum, upper.makespan, options);
  result.complete = result.complete && searched.is_complete;
  return result;
}

}  // namespace cosched::moldable::slots
