#include "cosched/dags/search/hlp_best.hpp"

#include "cosched/dags/check/bounds.hpp"
#include "cosched/dags/hlp/area.hpp"
#include "cosched/dags/hlp/bounds.hpp"
#include "cosched/dags/hlp/fractional.hpp"
#include "cosched/dags/hlp/rounding.hpp"
#include "cosched/dags/hlp/structured.hpp"
#include "cosched/dags/list/cpop.hpp"
#include "cosched/dags/list/heft.hpp"
#include "cosched/dags/list/list_rules.hpp"
#include "cosched/dags/list/memheft.hpp"
#include "cosched/dags/list/peft.hpp"
#include "cosched/dags/list/ranks.hpp"
#include "cosched/dags/list/ready_rules.hpp"
#include "cosched/dags/search/rounds.hpp"

namespace cosched::dags::search {
namespace {

// The best plan so far, with its makespan.
struct BestPlan {
  Plan plan;
  double makespan = kInfinity;

  void offer(Plan other) {
    const double other_makespan = other.makespan();
    if (other_makespan >= makespan) return;
    makespan = other_makespan;
    plan = std::move(other);
  }
};

// round_allocation(), except that `type` takes every task of which it has at least `share`,
// and no other that another type could take.
Allocation round_towards(const Instance& instance, const Table& x, int type, double share) {
  Table biased = x;
  for (int task = 0; task < instance.tasks(); ++task)
    biased(task, type) = x(task, type) >= share - kExactTolerance ? 2 : -1;
  return hlp::round_allocation(instance.times(), biased);
}

// The instance in which a task can run only on types of which it has at least `share`.
Instance restrict_types(const Instance& instance, const Table& x, double share) {
  Table times = instance.times();
  for (int task = 0; task < instance.tasks(); ++task)
    for (int type = 0; type < instance.types(); ++type)
      if (x(task, type) < std::min(share, x.row(task).greatest())) times(task, type) = kInfinity;
  return {std::move(times), instance.graph(), instance.units(), instance.transfers()};
}

// Offers OLS schedules for allocations by the loads' weights and a few flows: where a time limit
// has ended the LP early, its best x takes little account of the paths.
void offer_even_flows(const Instance& instance, const std::vector<double>& weights,
                      BestPlan& best) {
  double price = 0;  // of a second of the dearest type
  for (int type = 0; type < instance.types(); ++type)
    price = std::max(price, weights[type] / instance.units(type));
  if (price <= 0) return;
  constexpr double kFlowShares[] = {0.05, 0.1, 0.025, 0.2, 0.0125, 0.4};  // the likely ones first
  for (const double share : kFlowShares) {
    best.offer(list::ols(instance, hlp::cheapest_types(instance, weights, share * price)));
    check_interrupt();
  }
}

// Offers MemHEFT and the same list rule by two other orders: depth first, and the graph's own.
void offer_memory_schedules(const Instance& instance, BestPlan& best) {
  list::require_room(instance);
  const std::vector<int>& order = instance.graph().order();
  std::vector<double> depth(instance.tasks()), place(instance.tasks());
  for (std::size_t k = 0; k < order.size(); ++k) place[order[k]] = -static_cast<double>(k);
  for (const int task : order)  // deep tasks come first: they free data soon
    for (const int next : instance.graph().successors(task))
      depth[next] = std::max(depth[next], depth[task] + 1);
  for (const std::vector<double>& rank : {list::heft_ranks(instance), depth, place}) {
    try {
      best.offer(list::memory_schedule(instance, rank));
    } catch (const InfeasibleError&) {  // no schedule by this order fits
    }
  }
}

// Tasks that the LP splits between types, whose type is therefore worth changing.
std::vector<int> split_tasks(const Instance& instance, const Table& x) {
  constexpr double kSplitTolerance = 1e-6;  // shares of an LP are that of a whole up to 1e-7
  std::vector<int> split;
  for (int task = 0; task < instance.tasks(); ++task)
    if (x.row(task).greatest() < 1 - kSplitTolerance) split.push_back(task);
  return split;
}

std::int64_t default_evaluations(const Instance& instance) {
  const double size = instance.tasks() + static_cast<double>(instance.graph().edges());
  constexpr double kDefaultWork = 1e7;  // tasks and edges of all schedules together
  constexpr double kMinEvaluations = 50, kMaxEvaluations = 50'000;
  return static_cast<std::int64_t>(
      std::clamp(kDefaultWork / size, kMinEvaluations, kMaxEvaluations));
}

constexpr std::int64_t kUnlimitedSchedules = std::numeric_limits<std::int64_t>::max();
// Step 2 gives a type the tasks of which it has at least a multiple of this share, up to 1.
constexpr int kShareSteps = 20;
constexpr double kShareStep = 0.05;
// Step 3 lets a task use only types of which it has at least this share.
constexpr double kLeastShares[] = {0.01, 0.1, 0.3};
// As the precision of a bound: one guess T, just below the best makespan.
constexpr double kSingleGuessPrecision = 1;

// Steps 2 to 4 of hlp_best.hpp, until the best plan meets a bound.  May be left by an exception of
// check_interrupt().
class Improvement {
 public:
  Improvement(const Instance& instance, const HlpBestOptions& options, const HlpBestParams& params,
              HlpBestResult& result, BestPlan& best)
      : params_(params), instance_(instance), options_(options), result_(result), best_(best) {}

  void run() {
    if (!has_memory_limits()) try_other_roundings();
    if (is_done()) return;
    if (options_.time_limit) return search_until_limit();
    compute_bounds(best_.makespan);
    if (is_done()) return;
    if (instance_.transfers().is_free() && !has_memory_limits())
      search_types(evaluations());
    else
      search_places();
    if (!is_done() && best_.makespan < last_upper_bound_) compute_bounds(best_.makespan);
  }

 private:
  bool has_memory_limits() const { return instance_.transfers().has_memory_limits(); }

  std::int64_t evaluations() const {
    return options_.evaluations >= 0 ? options_.evaluations : default_evaluations(instance_);
  }

  bool offer_plan(const Plan& plan) {
    best_.offer(plan);
    return !is_done();
  }

  // Searches with the default work, and then in rounds from the best schedule, until the time
  // limit. Bounds get a share of the time, which may cut them short.
  void search_until_limit() {
    const double begin = seconds_left();
    compute_bounds_within(params_.first_bound_share * std::max(0.0, begin));
    std::int64_t work = options_.evaluations >= 0 ? options_.evaluations : kUnlimitedSchedules;
    if (!is_done()) work -= search_default_work(work);
    if (!is_done() && work > 0) search_in_rounds(begin, work);
    if (!is_done() && (lost_seconds_ > 0 || best_.makespan < last_upper_bound_))
      compute_bounds(best_.makespan);
  }

  // Computes bounds for at most so many seconds; returns the seconds taken.
  double compute_bounds_within(double seconds) {
    const double before = seconds_left();
    const bool is_whole = finishes_within(seconds, [&] { compute_bounds(best_.makespan); });
    const double spent = before - seconds_left();
    lost_seconds_ = is_whole ? 0 : spent;
    check_interrupt();
    return spent;
  }

  // Searches with the default work, at most `max_schedules`; returns how many schedules were built.
  std::int64_t search_default_work(std::int64_t max_schedules) {
    const std::int64_t evaluations = std::min(max_schedules, default_evaluations(instance_));
    if (instance_.transfers().is_free() && !has_memory_limits()) {
      search_types(evaluations);
    } else {
      PlaceSearch search(instance_, start_plan(), options_.seed);
      const auto on_better_plan = [&](const Plan& plan) { return offer_plan(plan); };
      if (instance_.tasks() <= params_.max_transfer_bound_tasks)
        search.run(evaluations / params_.schedules_before_bound_divisor, on_better_plan);
      if (!is_done()) search.run(evaluations, on_better_plan);
    }
    return evaluations;
  }

  void search_in_rounds(double begin, std::int64_t work) {
    double bounding_seconds = 0;
    Rounds rounds(
        instance_, start_plan(), split_tasks(instance_, result_.relaxation.x), options_.seed,
        std::max<std::int64_t>(1, default_evaluations(instance_) / params_.first_round_divisor));
    while (!is_done() && work > 0) {
      const double share = params_.bound_share * (begin - seconds_left()) - bounding_seconds;
      if (share > 2 * lost_seconds_ && (lost_seconds_ > 0 || best_.makespan < last_upper_bound_))
        bounding_seconds += compute_bounds_within(share);
      if (is_done()) return;
      work -= rounds.run_round(work, [&](const Plan& plan) { return offer_plan(plan); });
      check_interrupt();
    }
  }

  void search_types(std::int64_t evaluations) {
    OrderSearch search(instance_, best_.plan, split_tasks(instance_, result_.relaxation.x),
                       options_.seed);
    search.run(evaluations, [&](const Plan& plan) { return offer_plan(plan); });
  }

  void search_places() {
    PlaceSearch search(instance_, start_plan(), options_.seed);
    const auto on_better_plan = [&](const Plan& plan) { return offer_plan(plan); };
    if (instance_.tasks() <= params_.max_transfer_bound_tasks) {
      search.run(evaluations() / params_.schedules_before_bound_divisor, on_better_plan);
      if (!is_done() && best_.makespan < last_upper_bound_) compute_bounds(best_.makespan);
    }
    if (!is_done()) search.run(evaluations(), on_better_plan);
  }

  // The plan from which searches start: the best, or, where nothing has fitted into the memories
  // yet, one that does not fit.
  Plan start_plan() const {
    return best_.makespan < kInfinity ? best_.plan : list::schedule_on_one_unit(instance_, 0);
  }

  bool is_done() const {
    return is_proven_optimal(best_.makespan,
                             std::max(result_.windows_bound.value, result_.memory_bound)) ||
           (result_.transfers_bound &&
            is_proven_optimal(best_.makespan, result_.transfers_bound->value));
  }

  void compute_bounds(double makespan) {
    proof::BoundOptions options;
    options.upper = makespan;
    last_upper_bound_ = makespan;
    proof::WindowsBound windows_bound =
        proof::windows_bound(instance_, result_.relaxation.certificate, options);
    if (windows_bound.value > result_.windows_bound.value)
      result_.windows_bound = std::move(windows_bound);
    check_interrupt();  // windows_bound() returns at a time limit without an exception
    if (instance_.transfers().is_free() || instance_.tasks() > params_.max_transfer_bound_tasks)
      return;
    proof::TransfersBound transfers_bound = proof::transfers_bound(
        instance_, result_.windows_bound.certificate, {makespan, kSingleGuessPrecision});
    if (!result_.transfers_bound || transfers_bound.value > result_.transfers_bound->value)
      result_.transfers_bound = std::move(transfers_bound);
    check_interrupt();
  }

  // Steps 2 and 3.  With two types one of them is enough, because their shares sum to 1.
  void try_other_roundings() {
    const Table& x = result_.relaxation.x;
    const int types = instance_.types();
    const int rounded_types = types <= 2 ? types - 1 : types;
    for (int type = 0; type < rounded_types && !is_done(); ++type)
      for (int k = 1; k < kShareSteps; ++k)
        best_.offer(list::ols(instance_, round_towards(instance_, x, type, kShareStep * k)));
    if (is_done()) return;
    if (!instance_.transfers().is_free()) {
      best_.offer(list::etf(instance_));
      best_.offer(list::min_min(instance_));
      for (int type = 0; type < types; ++type)
        best_.offer(list::schedule_on_one_unit(instance_, type));
    }
    const std::vector<double> rank =
        list::ranks_with_transfers(instance_, hlp::fractional_durations(instance_, x));
    for (const double share : kLeastShares)
      best_.offer(list::insertion_schedule(restrict_types(instance_, x, share), rank));
  }

  const HlpBestParams& params_;
  const Instance& instance_;
  const HlpBestOptions& options_;
  HlpBestResult& result_;
  BestPlan& best_;
  double last_upper_bound_ = kInfinity;
  double lost_seconds_ = 0;  // of the last bound that its time limit has cut short; 0: none
};

}  // namespace

std::pair<double, const char*> HlpBestResult::best_bound() const {
  std::pair<double, const char*> greatest{windows_bound.value, "windows"};
  if (transfers_bound && transfers_bound->value > greatest.first)
    greatest = {transfers_bound->value, "transfers"};
  if (memory_bound > greatest.first) greatest = {memory_bound, "memory"};
  return greatest;
}

std::string HlpBestResult::solver_failure() const {
  if (transfers_bound && !transfers_bound->failure.empty()) return transfers_bound->failure;
  return windows_bound.failure.empty() ? relaxation.failure : windows_bound.failure;
}

bool is_proven_optimal(double makespan, double bound) {
  return makespan <= bound * (1 + kExactTolerance);
}

HlpBestResult hlp_best(const Instance& instance, const HlpBestOptions& options,
                       const hlp::HlpSolution* relaxation, const HlpBestParams& params) {
  const ScopedTimeLimit limit(options.time_limit);
  BestPlan best;
  HlpBestResult result;
  if (relaxation) {
    result.relaxation = *relaxation;
  } else {  // first of all, so that it has as long as under the same limit in HLP-OLS
    const ScopedDeadlineExtension grace(params.relaxation_seconds);
    const ScopedTimeLimit share(
        options.time_limit ? std::optional(std::max(params.relaxation_seconds,
                                                    params.relaxation_share * *options.time_limit))
                           : std::nullopt);
    result.relaxation = hlp::hlp_so_far(instance);
  }
  if (instance.transfers().has_memory_limits()) result.memory_bound = hlp::memory_bound(instance);
  without_deadline([&] {
    if (instance.transfers().has_memory_limits())
      offer_memory_schedules(instance, best);
    else
      best.offer(list::heft(instance));
    if (!instance.transfers().is_free() && !instance.transfers().has_memory_limits()) {
      best.offer(list::cpop(instance));
      best.offer(list::peft(instance));
    }
    if (!instance.transfers().has_memory_limits())
      best.offer(list::ols(instance, hlp::round_allocation(instance.times(), result.relaxation.x)));
    result.windows_bound.certificate.relaxation = result.relaxation.certificate;
    result.windows_bound.value = check::certified_bound(instance, result.windows_bound.certificate);
  });
  if (!result.relaxation.complete && !instance.transfers().has_memory_limits()) {
    const ScopedDeadlineExtension grace(params.flow_seconds);
    (void)finishes_within(std::nullopt, [&] {
      offer_even_flows(instance, result.relaxation.certificate.weights, best);
    });
  }
  const bool has_relaxation = result.relaxation.complete || !result.relaxation.failure.empty();
  result.is_complete =
      has_relaxation || options.time_limit;  // the LP has only a share of the limit
  if (!is_proven_optimal(best.makespan, result.windows_bound.value))
    result.is_complete =
        finishes_within(std::nullopt,
                        [&] { Improvement(instance, options, params, result, best).run(); }) &&
        result.is_complete;
  if (best.makespan == kInfinity)
    throw InfeasibleError(
        "memory_capacity: no schedule that was built fits (which does not prove that none does)");
  result.plan = std::move(best.plan);
  return result;
}

}  // namespace cosched::dags::search
