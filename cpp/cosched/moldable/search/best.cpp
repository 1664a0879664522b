#include "cosched/moldable/search/best.hpp"

#include "cosched/core/interrupt.hpp"
#include "cosched/core/rng.hpp"
#include "cosched/moldable/batches/demt.hpp"
#include "cosched/moldable/dual/dual_approx.hpp"
#include "cosched/moldable/list/list_schedule.hpp"
#include "cosched/moldable/search/local_search.hpp"
#include "cosched/moldable/search/starts.hpp"

namespace cosched::moldable::search {

std::vector<ParetoPoint>::const_iterator ParetoFront::first_longer(double makespan) const {
  return std::upper_bound(
      points_.begin(), points_.end(), makespan,
      [](double length, const ParetoPoint& point) { return length < point.value.makespan; });
}

bool ParetoFront::accepts(const Criteria& value) const {
  // Of the points that are not longer, the last has the least minsum.
  const auto after = first_longer(value.makespan);
  return after == points_.begin() || std::prev(after)->value.minsum > value.minsum;
}

void ParetoFront::offer(const Criteria& value, Placement placement) {
  if (!accepts(value)) return;
  // Dominated points: not shorter, not less minsum; they are neighbours.
  const auto first = std::lower_bound(
      points_.begin(), points_.end(), value.makespan,
      [](const ParetoPoint& point, double length) { return point.value.makespan < length; });
  const auto last = std::find_if(first, points_.end(), [&](const ParetoPoint& point) {
    return point.value.minsum < value.minsum;
  });
  const auto place = points_.erase(first, last);
  points_.insert(place, {value, std::move(placement)});
}

void ParetoFront::offer(const Instance& instance, Placement placement) {
  const Criteria value = criteria(instance, placement);
  offer(value, std::move(placement));
}

double scalar(const Criteria& value, double theta) {
  const double minsum = value.minsum > 0 ? std::log(value.minsum) : 0;
  return minsum + theta * std::log(value.makespan);
}

int choose(const ParetoFront& front, double theta, const Criteria& reference) {
  const auto& points = front.points();
  int best = -1;
  bool best_allowed = false;
  for (int k = 0; k < static_cast<int>(points.size()); ++k) {
    const Criteria& value = points[k].value;
    const bool allowed = value.makespan <= reference.makespan && value.minsum <= reference.minsum;
    if (best >= 0 && allowed < best_allowed) continue;
    if (best >= 0 && allowed == best_allowed &&
        scalar(value, theta) >= scalar(points[best].value, theta))
      continue;
    best = k;
    best_allowed = allowed;
  }
  return best;
}

namespace {

constexpr std::int64_t kEndOperations = 25;  // of annealing for a job placed: as long
// Temperatures, of logarithms: the first ones, in turn, beyond so many jobs as much less; the last,
// as a part of it.
constexpr double kHeats[] = {0.03, 0.2}, kHeatedJobs = 4, kCoolest = 0.01;

// --- constructions --------------------------------------------------------------------------

// The constructions in order of promise; may be left by an exception of check_interrupt().
class Constructions {
 public:
  Constructions(const Instance& instance, ParetoFront& front) : it_(instance), front_(front) {}

  void run(const dual::DualApproximation& dual) {
    marginal_costs();
    of_allotment(dual.schedule);
    batches(dual);
    offer(list::gang(it_));
    offer(list::sequential(it_));
  }

 private:
  void offer(Placement made) {
    check_interrupt();
    front_.offer(it_, std::move(made));
  }

  void marginal_costs() {
    const std::vector<int> orders[] = {list::by_density(it_), list::by_least_work(it_)};
    for (const double factor : {1.0, 2.0, 0.5, 4.0, 1.4, 2.8, 0.7, 8.0})
      for (const auto& order : orders) {
        Placement made = list::marginal_cost_schedule(it_, order, factor);
        // The same allotment, with overtaking: often shorter.
        offer(list::list_schedule(it_, made.procs, order));
        offer(std::move(made));
      }
  }

  void of_allotment(const dual::ShelfSchedule& shelves) {
    const Allotment& procs = shelves.placement.procs;
    for (const dual::ListOrder order :
         {dual::ListOrder::shelf, dual::ListOrder::lptf, dual::ListOrder::saf})
      offer(dual::list_graham(it_, order, shelves));
    offer(shelves.placement);
    offer(list::list_schedule(it_, procs, list::by_density(it_)));
  }

  void batches(const dual::DualApproximation& dual) {
    const double horizon = makespan(dual.schedule.placement);
    for (const double power : {0.0, 0.25, 0.5, 0.75}) {
      const auto selected = batches::select_batches(it_, horizon * std::exp2(power));
      for (const batches::LocalOrder order :
           {batches::LocalOrder::smith, batches::LocalOrder::density, batches::LocalOrder::weight,
            batches::LocalOrder::area})
        offer(batches::list_batches(it_, selected, order));
    }
  }

  const Instance& it_;
  ParetoFront& front_;
};

// --- local search ---------------------------------------------------------------------------

struct State {
  std::vector<int> order;
  Allotment procs;
  Criteria value;
};

class LocalSearch {
 public:
  LocalSearch(const Instance& instance, ParetoFront& front, Rng& rng)
      : it_(instance), front_(front), rng_(rng), scheduler_(instance.machines()) {}

  /// Spends `work` placements, or less when gains cease, from the front's best for theta.
  void improve(double theta, std::int64_t work) {
    const int patience = 1000 + 100 * it_.jobs();
    int since_gain = 0;
    walk(theta, work, [&](double gain, double) {
      since_gain = gain > 0 ? 0 : since_gain + 1;
      if (since_gain >= patience) return Step::end;
      return gain >= 0 ? Step::take : Step::leave;
    });
  }

  /// Spends `work` placements in annealing from there, cooled from `heat`.
  void anneal(double theta, std::int64_t work, double heat) {
    const double hot = heat * std::min(1.0, kHeatedJobs / it_.jobs());
    walk(theta, work, [&](double gain, double done) {
      const double temperature = hot * std::pow(kCoolest, done);
      return gain >= temperature * std::log(1 - rng_.uniform()) ? Step::take : Step::leave;
    });
  }

 private:
  enum class Step { take, leave, end };

  // From neighbour to neighbour, as `rule` says of what is gained and how much of the work is done.
  template <class Rule>
  void walk(double theta, std::int64_t work, const Rule& rule) {
    State now = start(theta);
    for (std::int64_t used = 0; used + it_.jobs() <= work; used += it_.jobs()) {
      check_interrupt();
      State next = neighbour(now);
      next.value = evaluate(next);
      const double gain = scalar(now.value, theta) - scalar(next.value, theta);
      const Step step = rule(gain, static_cast<double>(used) / static_cast<double>(work));
      if (step == Step::end) return;
      if (step == Step::leave) continue;
      now = std::move(next);
      if (front_.accepts(now.value)) front_.offer(now.value, placement(now));
    }
  }

  State start(double theta) {
    const Criteria any{kInfinity, kInfinity};
    const Placement& from = front_.points()[choose(front_, theta, any)].placement;
    State state{by_start(from), from.procs, {}};
    rule_ = list::Rule::append;
    const Criteria appended = evaluate(state);
    rule_ = list::Rule::list;
    state.value = evaluate(state);
    if (scalar(appended, theta) < scalar(state.value, theta)) {
      rule_ = list::Rule::append;
      state.value = appended;
    }
    return state;
  }

  Criteria evaluate(const State& state) {
    const std::size_t n = state.order.size();
    counts_.resize(n);
    length_.resize(n);
    for (std::size_t k = 0; k < n; ++k) {
      const int i = state.order[k];
      counts_[k] = state.procs[i];
      length_[k] = it_.time(i, counts_[k]);
    }
    scheduler_.run(rule_, counts_, length_, start_);
    Criteria value;
    for (std::size_t k = 0; k < n; ++k) {
      const double end = start_[k] + length_[k];
      value.makespan = std::max(value.makespan, end);
      value.minsum += it_.weight(state.order[k]) * end;
    }
    return value;
  }

  // Of the state that was evaluated last.
  Placement placement(const State& state) const {
    Placement made = unplaced(it_.jobs());
    for (std::size_t k = 0; k < state.order.size(); ++k)
      place(it_, made, state.order[k], counts_[k], start_[k]);
    return made;
  }

  State neighbour(const State& from) {
    State next = from;
    const int n = it_.jobs();
    const int position = static_cast<int>(rng_.below(n)), job = next.order[position];
    const auto kind = rng_.below(3);
    if (kind != 0) next.procs[job] = other_count(job, next.procs[job]);
    if (kind != 1) {
      const int target =
          rng_.below(2) == 0
              ? static_cast<int>(rng_.below(n))
              : std::clamp(position + static_cast<int>(rng_.between(-10, 10)), 0, n - 1);
      move_within(next.order, position, target);
    }
    return next;
  }

  // Half to twice as many, at least one more or less; of them those that the job uses, or, where
  // more are no faster, the next count that is.
  int other_count(int job, int procs) {
    const int most = it_.useful_machines();
    const int scaled = static_cast<int>(std::lround(procs * std::exp2(2 * rng_.uniform() - 1)));
    const int step = scaled != procs ? scaled : procs + (rng_.below(2) == 0 ? 1 : -1);
    const int count = it_.used(job, std::clamp(step, it_.fewest(job), most));
    return count == procs && step > procs ? std::max(procs, it_.faster(job, procs)) : count;
  }

  const Instance& it_;
  ParetoFront& front_;
  Rng& rng_;
  list::ListScheduler scheduler_;
  list::Rule rule_ = list::Rule::list;
  std::vector<int> counts_;
  std::vector<double> length_, start_;
};

// The ends of the front: each criterion searched on its own.
void search_ends(const Instance& instance, double bound, const BestOptions& options,
                 ParetoFront& front) {
  const Offer offer = [&](Placement made) { front.offer(instance, std::move(made)); };
  offer_canonical(instance, bound, offer);
  const std::int64_t most = kSearchWork * std::int64_t{instance.jobs()} / kEndOperations;
  const std::int64_t rounds = 1 + options.work / (kBestWork + 1);  // as long as the first
  const std::int64_t work = std::min(options.work, rounds * most) * kEndOperations;
  for (const Objective objective : {Objective::makespan, Objective::minsum}) {
    const bool shortest = objective == Objective::makespan;
    const auto& points = front.points();
    const Placement start = shortest ? points.front().placement : points.back().placement;
    const AnnealOptions annealing{objective, options.seed, work,
                                  shortest ? bound * (1 + kExactTolerance) : 0};
    anneal(instance, start, annealing, offer);
  }
}

// Rounds, each longer than the one before, while they fit into the work: the first improves the
// front's best for each theta, those after it anneal from there.  No round makes the makespan of
// what is chosen longer: that of `reference` becomes it.
void improve(const Instance& instance, const dual::DualApproximation& dual,
             const BestOptions& options, ParetoFront& front, Criteria& reference) {
  Constructions(instance, front).run(dual);
  Rng rng(options.seed);
  LocalSearch search(instance, front, rng);
  constexpr double kThetas[] = {1, 0.25, 0, 4};
  BestOptions round = options;
  GrowingRounds(kBestWork).run(options.work, [&](std::int64_t part, int number) {
    round.work = part;
    search_ends(instance, dual.bound, round, front);
    for (const double theta : kThetas) {
      const auto work = static_cast<std::int64_t>(part / std::size(kThetas));
      if (number == 0)
        search.improve(theta, work);
      else
        search.anneal(theta, work, kHeats[number % std::size(kHeats)]);
    }
    reference.makespan = front.points()[choose(front, 1, reference)].value.makespan;
    ++round.seed;
    return true;
  });
}

void simplest(const Instance& instance, ParetoFront& front) {
  front.offer(instance, list::gang(instance));
  front.offer(instance, list::sequential(instance));
}

}  // namespace

BestResult demt_best(const Instance& instance, const BestOptions& options) {
  instance.require_no_releases("demt-best");
  const ScopedTimeLimit limit(options.time_limit);
  BestResult result;
  std::optional<dual::DualApproximation> dual;
  Placement first;
  {
    const ScopedGrace grace(kStartSeconds);
    result.complete = finishes_within(std::nullopt, [&] {
      dual = dual::dual_approximation(instance);
      batches::DemtOptions demt_options;
      demt_options.seed = options.seed;
      demt_options.horizon = makespan(dual->schedule.placement);
      first = batches::demt(instance, demt_options);
    });
  }
  Criteria reference{kInfinity, kInfinity};
  if (result.complete) {
    reference = criteria(instance, first);
    result.front.offer(reference, std::move(first));
    result.complete = finishes_within(
        std::nullopt, [&] { improve(instance, *dual, options, result.front, reference); });
  } else {
    unhurried([&] { simplest(instance, result.front); });
  }
  result.chosen = choose(result.front, 1, reference);
  return result;
}

}  // namespace cosched::moldable::search
