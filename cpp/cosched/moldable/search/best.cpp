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
  const Criteria value = evaluate_criteria(instance, placement);
  offer(value, std::move(placement));
}

double scalarize(const Criteria& value, double theta) {
  const double minsum = value.minsum > 0 ? std::log(value.minsum) : 0;
  return minsum + theta * std::log(value.makespan);
}

int choose_point(const ParetoFront& front, double theta, const Criteria& reference) {
  const auto& points = front.points();
  int best = -1;
  bool best_allowed = false;
  for (int k = 0; k < static_cast<int>(points.size()); ++k) {
    const Criteria& value = points[k].value;
    const bool allowed = value.makespan <= reference.makespan && value.minsum <= reference.minsum;
    if (best >= 0 && allowed < best_allowed) continue;
    if (best >= 0 && allowed == best_allowed &&
        scalarize(value, theta) >= scalarize(points[best].value, theta))
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
  void offer(Placement made) {
    check_interrupt();
    front_.offer(instance_, std::move(made));
  }

  void offer_marginal_cost_lists() {
    const std::vector<int> orders[] = {list::order_by_density(instance_),
                                       list::order_by_least_work(instance_)};
    for (const double factor : {1.0, 2.0, 0.5, 4.0, 1.4, 2.8, 0.7, 8.0})
      for (const auto& order : orders) {
        Placement made = list::marginal_cost_schedule(instance_, order, factor);
        // The same allotment, with overtaking: often shorter.
        offer(list::list_schedule(instance_, made.procs, order));
        offer(std::move(made));
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
      const auto selected = batches::make_batches(instance_, horizon * std::exp2(power));
      for (const batches::LocalOrder order :
           {batches::LocalOrder::smith, batches::LocalOrder::density, batches::LocalOrder::weight,
            batches::LocalOrder::area})
        offer(batches::list_batches(instance_, selected, order));
    }
  }

  const Instance& instance_;
  ParetoFront& front_;
};

// --- local search ---------------------------------------------------------------------------

struct ListState {
  std::vector<int> order;
  Allotment procs;
  Criteria value;
};

class BicriteriaListSearch {
 public:
  BicriteriaListSearch(const Instance& instance, ParetoFront& front, Rng& rng)
      : instance_(instance), front_(front), rng_(rng), scheduler_(instance.machines()) {}

  /// Spends `work` placements, or less when gains cease, from the front's best for theta.
  void improve(double theta, std::int64_t work) {
    const int patience = 1000 + 100 * instance_.jobs();
    int since_gain = 0;
    walk(theta, work, [&](double gain, double) {
      since_gain = gain > 0 ? 0 : since_gain + 1;
      if (since_gain >= patience) return WalkAction::end;
      return gain >= 0 ? WalkAction::take : WalkAction::leave;
    });
  }

  /// Spends `work` placements in annealing from there, cooled from `heat`.
  void anneal(double theta, std::int64_t work, double heat) {
    const double hot = heat * std::min(1.0, kHeatedJobs / instance_.jobs());
    walk(theta, work, [&](double gain, double done) {
      const double temperature = hot * std::pow(kCoolest, done);
      return gain >= temperature * std::log(1 - rng_.uniform()) ? WalkAction::take
                                                                : WalkAction::leave;
    });
  }

 private:
  enum class WalkAction { take, leave, end };

  // From neighbour to neighbour, as `rule` says of what is gained and how much of the work is done.
  template <class Rule>
  void walk(double theta, std::int64_t work, const Rule& rule) {
    ListState now = start_from_front(theta);
    for (std::int64_t used = 0; used + instance_.jobs() <= work; used += instance_.jobs()) {
      check_interrupt();
      ListState next = draw_neighbour(now);
      next.value = evaluate(next);
      const double gain = scalarize(now.value, theta) - scalarize(next.value, theta);
      const WalkAction step = rule(gain, static_cast<double>(used) / static_cast<double>(work));
      if (step == WalkAction::end) return;
      if (step == WalkAction::leave) continue;
      now = std::move(next);
      if (front_.accepts(now.value)) front_.offer(now.value, placement(now));
    }
  }

  ListState start_from_front(double theta) {
    const Criteria any{kInfinity, kInfinity};
    const Placement& from = front_.points()[choose_point(front_, theta, any)].placement;
    ListState state{order_by_start(from), from.procs, {}};
    list_rule_ = list::Rule::append;
    const Criteria appended = evaluate(state);
    list_rule_ = list::Rule::list;
    state.value = evaluate(state);
    if (scalarize(appended, theta) < scalarize(state.value, theta)) {
      list_rule_ = list::Rule::append;
      state.value = appended;
    }
    return state;
  }

  Criteria evaluate(const ListState& state) {
    const std::size_t n = state.order.size();
    counts_.resize(n);
    length_.resize(n);
    for (std::size_t k = 0; k < n; ++k) {
      const int i = state.order[k];
      counts_[k] = state.procs[i];
      length_[k] = instance_.time(i, counts_[k]);
    }
    scheduler_.schedule(list_rule_, counts_, length_, start_);
    Criteria value;
    for (std::size_t k = 0; k < n; ++k) {
      const double end = start_[k] + length_[k];
      value.makespan = std::max(value.makespan, end);
      value.minsum += instance_.weight(state.order[k]) * end;
    }
    return value;
  }

  // Of the state that was evaluated last.
  Placement placement(const ListState& state) const {
    Placement made = empty_placement(instance_.jobs());
    for (std::size_t k = 0; k < state.order.size(); ++k)
      place(instance_, made, state.order[k], counts_[k], start_[k]);
    return made;
  }

  ListState draw_neighbour(const ListState& from) {
    ListState next = from;
    const int n = instance_.jobs();
    const int position = static_cast<int>(rng_.below(n)), job = next.order[position];
    const auto kind = rng_.below(3);
    if (kind != 0) next.procs[job] = draw_count(job, next.procs[job]);
    if (kind != 1) {
      const int target =
          rng_.below(2) == 0
              ? static_cast<int>(rng_.below(n))
              : std::clamp(position + static_cast<int>(rng_.between(-10, 10)), 0, n - 1);
      move_entry(next.order, position, target);
    }
    return next;
  }

  // Half to twice as many, at least one more or less; of them those that the job uses, or, where
  // more are no faster, the next count that is.
  int draw_count(int job, int procs) {
    const int most = instance_.useful_machines();
    const int scaled = static_cast<int>(std::lround(procs * std::exp2(2 * rng_.uniform() - 1)));
    const int step = scaled != procs ? scaled : procs + (rng_.below(2) == 0 ? 1 : -1);
    const int count =
        instance_.used_procs(job, std::clamp(step, instance_.fewest_procs(job), most));
    return count == procs && step > procs ? std::max(procs, instance_.next_faster_procs(job, procs))
                                          : count;
  }

  const Instance& instance_;
  ParetoFront& front_;
  Rng& rng_;
  list::ListScheduler scheduler_;
  list::Rule list_rule_ = list::Rule::list;
  std::vector<int> counts_;
  std::vector<double> length_, start_;
};

// The ends of the front: each criterion searched on its own.
void search_ends(const Instance& instance, double bound, const DemtBestOptions& options,
                 ParetoFront& front) {
  const Offer offer = [&](Placement made) { front.offer(instance, std::move(made)); };
  offer_canonical_lists(instance, bound, offer);
  const std::int64_t most = kSearchWork * std::int64_t{instance.jobs()} / kEndOperations;
  const std::int64_t rounds = 1 + options.work / (kDemtBestWork + 1);  // as long as the first
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
             const DemtBestOptions& options, ParetoFront& front, Criteria& reference) {
  Constructions(instance, front).offer_all(dual);
  Rng rng(options.seed);
  BicriteriaListSearch search(instance, front, rng);
  constexpr double kThetas[] = {1, 0.25, 0, 4};
  DemtBestOptions round = options;
  GrowingRounds(kDemtBestWork).run(options.work, [&](std::int64_t part, int number) {
    round.work = part;
    search_ends(instance, dual.bound, round, front);
    for (const double theta : kThetas) {
      const auto work = static_cast<std::int64_t>(part / std::size(kThetas));
      if (number == 0)
        search.improve(theta, work);
      else
        search.anneal(theta, work, kHeats[number % std::size(kHeats)]);
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
  Placement first;
  {
    const ScopedDeadlineExtension grace(kStartSeconds);
    result.is_complete = finishes_within(std::nullopt, [&] {
      dual = dual::dual_approximation(instance);
      batches::DemtOptions demt_options;
      demt_options.seed = options.seed;
      demt_options.horizon = makespan(dual->schedule.placement);
      first = batches::demt(instance, demt_options);
    });
  }
  Criteria reference{kInfinity, kInfinity};
  if (result.is_complete) {
    reference = evaluate_criteria(instance, first);
    result.front.offer(reference, std::move(first));
    result.is_complete = finishes_within(
        std::nullopt, [&] { improve(instance, *dual, options, result.front, reference); });
  } else {
    without_deadline([&] { offer_simplest(instance, result.front); });
  }
  result.chosen_point = choose_point(result.front, 1, reference);
  return result;
}

}  // namespace cosched::moldable::search
