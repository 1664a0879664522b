#include "cosched/dags/search/hlp_best.hpp"

#include "cosched/dags/check/bounds.hpp"
#include "cosched/dags/hlp/bounds.hpp"
#include "cosched/dags/hlp/rounding.hpp"
#include "cosched/dags/hlp/structured.hpp"
#include "cosched/dags/hlp/trade_off.hpp"
#include "cosched/dags/search/rounds.hpp"

namespace cosched::dags::search {
namespace {

// The best plan so far.
struct Best {
  Plan plan;
  double makespan = kInfinity;

  void offer(Plan other) {
    const double end = other.makespan();
    if (end >= makespan) return;
    makespan = end;
    plan = std::move(other);
  }
};

// round_allocation(), except that `type` takes every task of which it has at least `share`,
// and no other that another type could take.
Allocation biased_rounding(const Instance& instance, const Table& x, int type, double share) {
  Table biased = x;
  for (int task = 0; task < instance.tasks(); ++task)
    biased(task, type) = x(task, type) >= share - kExactTolerance ? 2 : -1;
  return hlp::round_allocation(instance.times(), biased);
}

// The instance in which a task only has the types of which it holds at least `share`.
Instance restricted(const Instance& instance, const Table& x, double share) {
  Table times = instance.times();
  for (int task = 0; task < instance.tasks(); ++task)
    for (int type = 0; type < instance.types(); ++type)
      if (x(task, type) < std::min(share, x.row(task).greatest())) times(task, type) = kInfinity;
  return {std::move(times), instance.graph(), instance.units(), instance.transfers()};
}

// Where a limit has ended the LP early, its best x knows little of the paths.
void offer_even_flows(const Instance& instance, const std::vector<double>& weights, Best& best) {
  double price = 0;  // of a second on a unit of the dearest type
  for (int type = 0; type < instance.types(); ++type)
    price = std::max(price, weights[type] / instance.units(type));
  if (price <= 0) return;
  for (const double share : {0.05, 0.1, 0.025, 0.2, 0.0125, 0.4}) {
    best.offer(list::ols(instance, hlp::cheapest_types(instance, weights, share * price)));
    check_interrupt();
  }
}

// MemHEFT, the same by another order, and task after task as the graph has them.
void offer_memory_schedules(const Instance& instance, Best& best) {
  list::require_room(instance);
  const std::vector<int>& order = instance.graph().order();
  std::vector<double> deep(instance.tasks()), place(instance.tasks());
  for (std::size_t k = 0; k < order.size(); ++k) place[order[k]] = -static_cast<double>(k);
  for (const int task : order)  // what frees data soon goes first
    for (const int next : instance.graph().successors(task))
      deep[next] = std::max(deep[next], deep[task] + 1);
  for (const std::vector<double>& rank : {list::heft_ranks(instance), deep, place}) {
    try {
      best.offer(list::memory_schedule(instance, rank));
    } catch (const InfeasibleError&) {  // this order does not fit
    }
  }
}

// Tasks that the LP splits between types: their type is worth a try.
std::vector<int> split_tasks(const Instance& instance, const Table& x) {
  std::vector<int> split;
  for (int task = 0; task < instance.tasks(); ++task)
    if (x.row(task).greatest() < 1 - 1e-6) split.push_back(task);
  return split;
}

std::int64_t default_evaluations(const Instance& instance) {
  const double size = instance.tasks() + static_cast<double>(instance.graph().edges());
  return static_cast<std::int64_t>(std::min(50000.0, std::max(50.0, 1e7 / size)));
}

constexpr std::int64_t kEndless = std::numeric_limits<std::int64_t>::max();
constexpr int kMostTasks = 100;  // the bound `transfers` takes longer than the search above
constexpr double kFirstBoundShare = 0.1;  // of the time
constexpr double kOnlyTheMakespan = 1;    // as precision: one T, just below it

// Steps 2 to 4, until the bound is met; may be left by an exception of check_interrupt().
class Improvement {
 public:
  Improvement(const Instance& instance, const BestOptions& options, BestResult& result, Best& best)
      : instance_(instance), options_(options), result_(result), best_(best) {}

  void run() {
    if (!limited()) round_otherwise();
    if (done()) return;
    if (options_.time_limit) return use_the_time();
    bound_from(best_.makespan);
    if (done()) return;
    if (instance_.transfers().free() && !limited())
      search_types(evaluations());
    else
      search_places();
    if (!done() && best_.makespan < proved_from_) bound_from(best_.makespan);
  }

 private:
  bool limited() const { return instance_.transfers().limited(); }

  std::int64_t evaluations() const {
    return options_.evaluations >= 0 ? options_.evaluations : default_evaluations(instance_);
  }

  bool offer(const Plan& plan) {
    best_.offer(plan);
    return !done();
  }

  // Schedules first: those of the default work, then rounds from the best of them.  Bounds, which
  // may be cut short, take a share of the time.
  void use_the_time() {
    const double begin = seconds_left();
    bound_within(kFirstBoundShare * std::max(0.0, begin));
    std::int64_t work = options_.evaluations >= 0 ? options_.evaluations : kEndless;
    if (!done()) work -= search_as_by_default(work);
    if (!done() && work > 0) search_in_rounds(begin, work);
    if (!done() && (cut_ > 0 || best_.makespan < proved_from_)) bound_from(best_.makespan);
  }

  // The seconds that it has taken.
  double bound_within(double seconds) {
    const double before = seconds_left();
    const bool is_whole = finishes_within(seconds, [&] { bound_from(best_.makespan); });
    const double spent = before - seconds_left();
    cut_ = is_whole ? 0 : spent;
    check_interrupt();
    return spent;
  }

  // How many schedules it has built: at most those of the default work.
  std::int64_t search_as_by_default(std::int64_t most) {
    const std::int64_t evaluations = std::min(most, default_evaluations(instance_));
    if (instance_.transfers().free() && !limited()) {
      search_types(evaluations);
    } else {
      PlaceSearch search(instance_, start(), options_.seed);
      const auto better = [&](const Plan& plan) { return offer(plan); };
      if (instance_.tasks() <= kMostTasks) search.run(evaluations / 4, better);
      if (!done()) search.run(evaluations, better);
    }
    return evaluations;
  }

  void search_in_rounds(double begin, std::int64_t work) {
    constexpr double kShare = 0.25;
    constexpr int kShorter = 8;  // the first round than a search of fixed work
    double bounding = 0;         // seconds
    Rounds rounds(instance_, start(), split_tasks(instance_, result_.relaxation.x), options_.seed,
                  std::max<std::int64_t>(1, default_evaluations(instance_) / kShorter));
    while (!done() && work > 0) {
      const double share = kShare * (begin - seconds_left()) - bounding;
      if (share > 2 * cut_ && (cut_ > 0 || best_.makespan < proved_from_))
        bounding += bound_within(share);
      if (done()) return;
      work -= rounds.run(work, [&](const Plan& plan) { return offer(plan); });
      check_interrupt();
    }
  }

  void search_types(std::int64_t evaluations) {
    OrderSearch search(instance_, best_.plan, split_tasks(instance_, result_.relaxation.x),
                       options_.seed);
    search.run(evaluations, [&](const Plan& plan) { return offer(plan); });
  }

  void search_places() {
    PlaceSearch search(instance_, start(), options_.seed);
    const auto better = [&](const Plan& plan) { return offer(plan); };
    if (instance_.tasks() <= kMostTasks) {
      search.run(evaluations() / 4, better);
      if (!done() && best_.makespan < proved_from_) bound_from(best_.makespan);
    }
    if (!done()) search.run(evaluations(), better);
  }

  // Where nothing has fitted into the memories yet: a plan that does not either.
  Plan start() const {
    return best_.makespan < kInfinity ? best_.plan : list::together(instance_, 0);
  }

  bool done() const {
    return meets(best_.makespan, std::max(result_.bound.value, result_.memory)) ||
           (result_.moving && meets(best_.makespan, result_.moving->value));
  }

  void bound_from(double makespan) {
    proof::BoundOptions options;
    options.upper = proved_from_ = makespan;
    proof::WindowsBound found =
        proof::windows_bound(instance_, result_.relaxation.certificate, options);
    if (found.value > result_.bound.value) result_.bound = std::move(found);
    check_interrupt();  // windows_bound() returns at a limit
    if (instance_.transfers().free() || instance_.tasks() > kMostTasks) return;
    proof::TransfersBound moving =
        proof::transfers_bound(instance_, result_.bound.certificate, {makespan, kOnlyTheMakespan});
    if (!result_.moving || moving.value > result_.moving->value) result_.moving = std::move(moving);
    check_interrupt();
  }

  // With two types, a share of one type is the rest of the other's.
  void round_otherwise() {
    const Table& x = result_.relaxation.x;
    const int types = instance_.types();
    for (int type = 0; type < (types == 1 ? 0 : types == 2 ? 1 : types) && !done(); ++type)
      for (int k = 1; k <= 19; ++k)
        best_.offer(list::ols(instance_, biased_rounding(instance_, x, type, 0.05 * k)));
    if (done()) return;
    if (!instance_.transfers().free()) {
      best_.offer(list::etf(instance_));
      best_.offer(list::min_min(instance_));
      for (int type = 0; type < types; ++type) best_.offer(list::together(instance_, type));
    }
    const std::vector<double> rank =
        list::ranks_with_transfers(instance_, hlp::fractional_durations(instance_, x));
    for (const double share : {0.01, 0.1, 0.3})
      best_.offer(list::insertion_schedule(restricted(instance_, x, share), rank));
  }

  const Instance& instance_;
  const BestOptions& options_;
  BestResult& result_;
  Best& best_;
  double proved_from_ = kInfinity;
  double cut_ = 0;  // seconds that a bound has had in vain
};

}  // namespace

std::pair<double, const char*> BestResult::proven() const {
  std::pair<double, const char*> greatest{bound.value, "windows"};
  if (moving && moving->value > greatest.first) greatest = {moving->value, "transfers"};
  if (memory > greatest.first) greatest = {memory, "memory"};
  return greatest;
}

std::string BestResult::failure() const {
  if (moving && !moving->failure.empty()) return moving->failure;
  return bound.failure.empty() ? relaxation.failure : bound.failure;
}

bool meets(double makespan, double bound) { return makespan <= bound * (1 + kExactTolerance); }

BestResult hlp_best(const Instance& instance, const BestOptions& options,
                    const hlp::Solution* relaxation) {
  constexpr double kGrace = 0.5;  // seconds, so that a short limit does not cost the guarantee
  constexpr double kMoreGrace = 0.2;
  const ScopedTimeLimit limit(options.time_limit);
  Best best;
  BestResult result;
  if (relaxation) {
    result.relaxation = *relaxation;
  } else {  // before all else: it has as long as HLP-OLS has under the same limit
    const ScopedDeadlineExtension grace(kGrace);
    const ScopedTimeLimit share(options.time_limit
                                    ? std::optional(std::max(kGrace, 0.5 * *options.time_limit))
                                    : std::nullopt);
    result.relaxation = hlp::hlp_so_far(instance);
  }
  if (instance.transfers().limited()) result.memory = hlp::memory_bound(instance);
  without_deadline([&] {
    if (instance.transfers().limited())
      offer_memory_schedules(instance, best);
    else
      best.offer(list::heft(instance));
    if (!instance.transfers().free() && !instance.transfers().limited()) {
      best.offer(list::cpop(instance));
      best.offer(list::peft(instance));
    }
    if (!instance.transfers().limited())
      best.offer(list::ols(instance, hlp::round_allocation(instance.times(), result.relaxation.x)));
    result.bound.certificate.relaxation = result.relaxation.certificate;
    result.bound.value = check::certified_bound(instance, result.bound.certificate);
  });
  if (!result.relaxation.complete && !instance.transfers().limited()) {
    const ScopedDeadlineExtension grace(kMoreGrace);
    (void)finishes_within(std::nullopt, [&] {
      offer_even_flows(instance, result.relaxation.certificate.weights, best);
    });
  }
  const bool whole = result.relaxation.complete || !result.relaxation.failure.empty();
  result.complete = whole || options.time_limit;  // of which the LP has a share only
  if (!meets(best.makespan, result.bound.value))
    result.complete =
        finishes_within(std::nullopt,
                        [&] { Improvement(instance, options, result, best).run(); }) &&
        result.complete;
  if (best.makespan == kInfinity)
    throw InfeasibleError(
        "memory_capacity: no schedule that was built fits (which does not prove that none does)");
  result.plan = std::move(best.plan);
  return result;
}

}  // namespace cosched::dags::search
