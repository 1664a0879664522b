#include "cosched/moldable/search/demt_best.hpp"

#include "cosched/core/interrupt.hpp"
#include "cosched/core/rng.hpp"
#include "cosched/moldable/batches/demt.hpp"
#include "cosched/moldable/dual/list_graham.hpp"
#include "cosched/moldable/list/list_schedule.hpp"
#include "cosched/moldable/list/marginal_cost.hpp"
#include "cosched/moldable/list/standard.hpp"
#include "cosched/moldable/search/annealing.hpp"
#include "cosched/moldable/search/bicriteria_list_search.hpp"
#include "cosched/moldable/search/search_options.hpp"
#include "cosched/moldable/search/starts.hpp"

namespace cosched::moldable::search {
namespace {

// Operations of anneal() that take as long as the placement of a job in a list.
constexpr std::int64_t kOperationsPerPlacement = 25;
// First temperatures of the annealings over lists, in turn; values are logarithms.
constexpr double kListHeats[] = {0.03, 0.2};
// Weights of the makespan for which the lists are searched, in this order.
constexpr double kListThetas[] = {1, 0.25, 0, 4};

// Offers the constructions in order of promise.  May throw as check_interrupt().
class Constructions {
 public:
  Constructions(const Instance& instance, ParetoFront& front)
      : instance_(instance), front_(front) {}

  void offer_all(const dual::DualApproximation& dual) {
    offer_marginal_cost_lists();
    offer_allotment_lists(dual.schedule);
    offer_batch_lists(dual);
    offer(list::gang(instance_));
    offer(list::sequential(instance_));
  }

 private:
  void offer(Placement placement) {
    check_interrupt();
    front_.offer(instance_, std::move(placement));
  }

  void offer_marginal_cost_lists() {
    const std::vector<int> orders[] = {list::order_by_density(instance_),
                                       list::order_by_least_work(instance_)};
    for (const double factor : {1.0, 2.0, 0.5, 4.0, 1.4, 2.8, 0.7, 8.0})
      for (const auto& order : orders) {
        Placement placement = list::marginal_cost_schedule(instance_, order, factor);
        // A list of the same allotment lets jobs overtake, and is often shorter.
        offer(list::list_schedule(instance_, placement.procs, order));
        offer(std::move(placement));
      }
  }

  void offer_allotment_lists(const dual::ShelfSchedule& shelves) {
    const Allotment& procs = shelves.placement.procs;
    for (const dual::ListOrder order :
         {dual::ListOrder::shelf, dual::ListOrder::lptf, dual::ListOrder::saf})
      offer(dual::list_graham(instance_, order, shelves));
    offer(shelves.placement);
    offer(list::list_schedule(instance_, procs, list::order_by_density(instance_)));
  }

  void offer_batch_lists(const dual::DualApproximation& dual) {
    const double horizon = makespan(dual.schedule.placement);
    for (const double power : {0.0, 0.25, 0.5, 0.75}) {
      const auto made_batches = batches::make_batches(instance_, horizon * std::exp2(power));
      for (const batches::LocalOrder order :
           {batches::LocalOrder::smith, batches::LocalOrder::density, batches::LocalOrder::weight,
            batches::LocalOrder::area})
        offer(batches::list_batches(instance_, made_batches, order));
    }
  }

  const Instance& instance_;
  ParetoFront& front_;
};

// Searches for each criterion on its own, from the ends of the front.
void search_ends(const Instance& instance, double bound, const DemtBestOptions& options,
                 ParetoFront& front) {
  const Offer offer = [&](Placement placement) { front.offer(instance, std::move(placement)); };
  offer_canonical_lists(instance, bound, offer);
  const std::int64_t max_round_work =
      kSearchWork * std::int64_t{instance.jobs()} / kOperationsPerPlacement;
  const std::int64_t rounds_of_default_work = 1 + options.work / (kDemtBestWork + 1);
  const std::int64_t work =
      std::min(options.work, rounds_of_default_work * max_round_work) * kOperationsPerPlacement;
  for (const Objective objective : {Objective::makespan, Objective::minsum}) {
    const bool is_makespan = objective == Objective::makespan;
    const auto& points = front.points();
    const Placement start = is_makespan ? points.front().placement : points.back().placement;
    const AnnealOptions annealing{.objective = objective,
                                  .seed = options.seed,
                                  .work = work,
                                  .target_value = is_makespan ? bound * (1 + kExactTolerance) : 0};
    anneal(instance, start, annealing, offer);
  }
}

// Runs rounds, each longer than the one before, while they fit into the work: the first improves
// the best point of the front for each theta, those after it anneal from there.  The makespan of
// the chosen point becomes that of `reference`, so that no later round makes it longer.
void improve_front(const Instance& instance, const dual::DualApproximation& dual,
                   const DemtBestOptions& options, ParetoFront& front, Criteria& reference) {
  Constructions(instance, front).offer_all(dual);
  Rng rng(options.seed);
  BicriteriaListSearch search(instance, front, rng);
  DemtBestOptions round = options;
  GrowingRounds(kDemtBestWork).run(options.work, [&](std::int64_t part, int number) {
    round.work = part;
    search_ends(instance, dual.bound, round, front);
    for (const double theta : kListThetas) {
      const auto work = static_cast<std::int64_t>(part / std::size(kListThetas));
      if (number == 0)
        search.improve(theta, work);
      else
        search.anneal(theta, work, kListHeats[number % std::size(kListHeats)]);
    }
    reference.makespan = front.points()[choose_point(front, 1, reference)].value.makespan;
    ++round.seed;
    return true;
  });
}

void offer_simplest(const Instance& instance, ParetoFront& front) {
  front.offer(instance, list::gang(instance));
  front.offer(instance, list::sequential(instance));
}

}  // namespace

DemtBestResult demt_best(const Instance& instance, const DemtBestOptions& options) {
  instance.require_no_releases("demt-best");
  const ScopedTimeLimit limit(options.time_limit);
  DemtBestResult result;
  std::optional<dual::DualApproximation> dual;
  Placement demt_placement;
  {
    const ScopedDeadlineExtension grace(kStartSeconds);
    result.is_complete = finishes_within(std::nullopt, [&] {
      dual = dual::dual_approximation(instance);
      batches::DemtOptions demt_options;
      demt_options.seed = options.seed;
      demt_options.horizon = makespan(dual->schedule.placement);
      demt_placement = batches::demt(instance, demt_options);
    });
  }
  Criteria reference{kInfinity, kInfinity};
  if (result.is_complete) {
    reference = evaluate_criteria(instance, demt_placement);
    result.front.offer(reference, std::move(demt_placement));
    result.is_complete = finishes_within(
        std::nullopt, [&] { improve_front(instance, *dual, options, result.front, reference); });
  } else {
    without_deadline([&] { offer_simplest(instance, result.front); });
  }
  result.chosen_point = choose_point(result.front, 1, reference);
  return result;
}

}  // namespace cosched::moldable::search
