#include "cosched/moldable/slots/slots_bound.hpp"

#include "cosched/moldable/dual/dual_approx.hpp"
#include "cosched/moldable/search/local_search.hpp"
#include "cosched/moldable/search/time_prices.hpp"

namespace cosched::moldable::slots {
namespace {

using search::TimePrices;

constexpr double kPrecision = 1e-3, kFirstRise = 4e-3;
constexpr std::int64_t kMostColumns = 200'000;  // counts x cells of a deadline
constexpr std::int64_t kSearchWork = 20'000;    // for a schedule, a job
constexpr int kMostJobs = 2'000;                // beyond, one set of prices takes too long
constexpr std::int64_t kLeastSets = 20;         // of prices: fewer are not worth the time

std::int64_t columns(const Instance& instance, int cells) {
  return std::int64_t{instance.jobs()} * instance.useful_machines() * cells;
}

search::SearchResult some_schedule(const Instance& instance, Objective objective) {
  search::SearchOptions options;
  options.objective = objective;
  options.work = kSearchWork;
  return search::local_search(instance, options);
}

// At the last doubling.
int cells_for(int jobs) {
  if (jobs <= 20) return 256;
  if (jobs <= 60) return 192;
  return jobs <= 300 ? 96 : 64;
}

}  // namespace

bounds::Found slots_bound(const Instance& instance, double lower, double upper,
                          const SlotsOptions& options) {
  bounds::Found result{lower};
  const auto choices = search::choices_of(instance);
  std::int64_t work = 0;
  result.complete = finishes_within(std::nullopt, [&] {
    // From the bound upwards: where a deadline is refuted, that is soon.
    double step = kFirstRise;
    while (upper - result.value > kPrecision * result.value && work < options.work) {
      const double middle = result.value + (upper - result.value) / 2;
      const double deadline = std::min(result.value * (1 + step), middle);
      TimePrices prices(instance, choices, deadline, options.cells,
                        TimePrices::Jobs::keep_the_deadline);
      (prices.refutes_deadline(options.rounds) ? result.value : upper) = deadline;
      step *= 2;
      work += prices.take_work();
    }
  });
  return result;
}

bounds::Found slots_bound(const Instance& instance) {
  if (!instance.is_alone()) return slots_bound(instance.alone());
  const double lower = dual::dual_approximation_bound(instance, dual::kDefaultTolerance);
  const SlotsOptions options;
  if (columns(instance, options.cells) > kMostColumns) return {lower};
  const auto found = some_schedule(instance, Objective::makespan);
  bounds::Found result = slots_bound(instance, lower, makespan(found.placement), options);
  result.complete = result.complete && found.complete;
  return result;
}

bounds::Found time_indexed_bound(const Instance& instance, double upper, double horizon,
                                 const TimeIndexedOptions& options) {
  bounds::Found result;
  const auto choices = search::choices_of(instance);
  TimePrices prices(instance, choices, horizon, options.cells, TimePrices::Jobs::pay_for_their_end);
  result.complete =
      finishes_within(std::nullopt, [&] { prices.climb(upper, options.work, options.doublings); });
  result.value = prices.bound();
  return result;
}

bounds::Found time_indexed_bound(const Instance& instance) {
  if (!instance.is_alone()) return time_indexed_bound(instance.alone());
  bounds::Found result;
  if (instance.jobs() > kMostJobs) return result;
  TimeIndexedOptions options;
  options.cells = cells_for(instance.jobs()) >> options.doublings;
  options.work = 50'000'000 + 500'000LL * instance.jobs();
  if (columns(instance, cells_for(instance.jobs())) > options.work / kLeastSets) return result;
  const auto found = some_schedule(instance, Objective::minsum);
  const Criteria upper = criteria(instance, found.placement);
  if (upper.minsum > 0)
    result = time_indexed_bound(instance, upper.minsum, upper.makespan, options);
  result.complete = result.complete && found.complete;
  return result;
}

}  // namespace cosched::moldable::slots
