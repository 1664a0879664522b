#include "cosched/moldable/search/independent_jobs_search.hpp"

#include "cosched/core/interrupt.hpp"
#include "cosched/moldable/bounds/makespan.hpp"
#include "cosched/moldable/dual/dual_approx.hpp"
#include "cosched/moldable/search/annealing.hpp"
#include "cosched/moldable/search/starts.hpp"

namespace cosched::moldable::search {
namespace {

// Annealings of a round: several short ones differ more than one long one gains.
constexpr int kChains = 8;

// The part of the work that goes to full_machine_search.hpp where such a schedule may exist, and
// the operations of annealing that take as long as one of its steps.
constexpr double kFullMachineShare = 0.5, kOperationsPerStep = 2;

// No schedule has a lower minsum.
double sum_of_least_ends(const Instance& instance) {
  double sum = 0;
  for (int i = 0; i < instance.jobs(); ++i)
    sum += instance.weight(i) * (instance.release(i) + instance.least_time(i));
  return sum;
}

}  // namespace

IndependentJobsSearch::IndependentJobsSearch(const Instance& instance, const SearchOptions& options)
    : instance_(instance), options_(options), incumbent_(instance, options.objective) {
  const Offer offer = [&](Placement placement) { incumbent_.offer(std::move(placement)); };
  makespan_bound_ = without_deadline([&] {
    offer_simple_schedules(instance, offer);
    for (const Placement& start : options.starts) offer(start);
    return bounds::window_bound(instance);
  });
  const bool minimizes_makespan = options.objective == Objective::makespan;
  const ScopedDeadlineExtension grace(kStartSeconds);
  has_first_schedules_ = finishes_within(std::nullopt, [&] {
    offer_family_schedules(instance, options.seed, offer);
    makespan_bound_ = std::max(makespan_bound_,
                               dual::dual_approximation_bound(instance, dual::kDefaultTolerance));
    if (minimizes_makespan) full_machine_search_ = create_full_machine_search();
  });
  target_value_ =
      (minimizes_makespan ? makespan_bound_ : sum_of_least_ends(instance)) * (1 + kExactTolerance);
}

void IndependentJobsSearch::offer_first_schedules() {
  const Offer offer = [&](Placement placement) { incumbent_.offer(std::move(placement)); };
  offer_canonical_lists(instance_, makespan_bound_, offer);
}

std::optional<FullMachineSearch> IndependentJobsSearch::create_full_machine_search() const {
  std::optional<FullMachineSearch> search = FullMachineSearch::create(instance_, options_.seed);
  if (search && search->makespan() < makespan_bound_ * (1 - kExactTolerance)) return std::nullopt;
  return search;
}

std::int64_t IndependentJobsSearch::look_for_full_machine(std::int64_t work) {
  if (!full_machine_search_ || full_machine_search_->is_exhausted()) return work;
  const auto share = static_cast<std::int64_t>(kFullMachineShare * static_cast<double>(work));
  const double steps = static_cast<double>(total_work(instance_, share)) / kOperationsPerStep;
  if (std::optional<Placement> placement =
          full_machine_search_->run(static_cast<std::int64_t>(steps)))
    incumbent_.offer(std::move(*placement));
  return work - share;
}

bool IndependentJobsSearch::run_round(std::int64_t work_of_round, int) {
  const std::int64_t work = look_for_full_machine(work_of_round);
  if (is_proved()) return false;
  const int chains = work_of_round < kSearchWork ? 1 : kChains;
  const Placement start = incumbent_.placement();
  const auto run_chain = [&](int k, const Offer& offer_of_chain) {
    const AnnealOptions options{.objective = options_.objective,
                                .seed = next_seed_ + k,
                                .work = total_work(instance_, work / chains),
                                .target_value = target_value_};
    anneal(instance_, start, options, offer_of_chain);
  };
  run_chains(chains, run_chain,
             [&](Placement placement) { incumbent_.offer(std::move(placement)); });
  next_seed_ += chains;
  return !is_proved();
}

}  // namespace cosched::moldable::search
