#include "cosched/bags/search/ttb_best.hpp"

#include "cosched/bags/rounding/baselines.hpp"
#include "cosched/bags/rounding/ttb.hpp"
#include "cosched/bags/search/annealing.hpp"
#include "cosched/bags/search/dive.hpp"
#include "cosched/bags/search/exchanges.hpp"
#include "cosched/bags/search/rate_bound.hpp"
#include "cosched/bags/search/recreation.hpp"

namespace cosched::bags::search {
namespace {

class TtbBestSearch {
 public:
  TtbBestSearch(const Instance& instance, const TtbBestParams& params)
      : params_(params), instance_(instance), best_plan_(rounding::min_energy(instance)) {}

  // What the others start from; ties: the first of them, min_energy last.
  void offer_starts() {
    bool first = true;
    const auto offer = [&](BagPlan plan) {
      const bool tie = first && plan.profit_rate == best_plan_.profit_rate;
      if (!tie && plan.profit_rate <= best_plan_.profit_rate) return;
      best_plan_ = std::move(plan);
      first = false;
    };
    offer(rounding::ttb(instance_, rounding::kDefaultEps));
    offer(rounding::ttb_exact(instance_));
    offer(rounding::tms(instance_));
    offer(rounding::min_makespan(instance_));
  }

  void try_makespans() {
    front_ = energy::energy_front(instance_, energy::Cut::long_tasks);
    const energy::BestRate best_relaxed = energy::best_rate(instance_, energy::Cut::long_tasks);
    rate_bound_ = best_relaxed.rate;
    if (best_relaxed.makespan < kInfinity && !leq(best_relaxed.rate, best_plan_.profit_rate) &&
        machine_count() <= params_.max_exchange_machines) {
      polish_best_plan(best_relaxed.makespan);
      std::vector<double> makespans = promising_makespans(params_.first_makespans);
      makespans.push_back(best_relaxed.makespan);
      double width = spacing(makespans);
      try_patterns_at(makespans);
      for (int round = 0; round < params_.refinement_rounds; ++round) {
        width /= 2;
        makespans.clear();
        for (int k = -params_.makespans_per_refinement / 2;
             k <= params_.makespans_per_refinement / 2; ++k)
          if (k != 0) makespans.push_back(best_limit_ * std::exp(k * width));
        try_patterns_at(makespans);
      }
    }
  }

  // Until `work` is done or the best plan is proved to be the best.  Requires try_makespans().
  void spend_work(std::int64_t work) {
    if (can_anneal()) run_annealings(std::min(work, kBestWork));
    improve_by_turns(work - kBestWork);
  }
  double rate_bound() const { return tight_bound_ ? rate_bound_ : kInfinity; }
  bool is_proved() const { return leq(rate_bound_, best_plan_.profit_rate); }

  BagPlan take_best_plan() { return std::move(best_plan_); }

 private:
  bool can_anneal() const {
    const auto& counts = instance_.counts();
    const std::int64_t tasks = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    return std::max(tasks, machine_count()) <= params_.max_annealed_tasks;
  }
  bool has_patterns() const {
    return instance_.types() + instance_.machine_types() <= params_.max_pattern_types &&
           machine_count() <= params_.max_exchange_machines;
  }

  // From the best plan by turns with what the other steps found.
  void run_annealings(std::int64_t work) {
    if (!annealing_start_) annealing_start_ = best_plan_;
    for (; work > 0 && !is_proved(); ++annealings_) {
      const std::int64_t moves =
          std::min(work, params_.moves_per_annealing << std::min(
                             annealings_ / params_.annealings_per_length, params_.max_doublings));
      AnnealingResult annealed = anneal_plan(
          instance_, annealings_ % 2 == 0 ? best_plan_ : *annealing_start_, moves, annealings_);
      if (annealed.plan.profit_rate > best_plan_.profit_rate) best_plan_ = std::move(annealed.plan);
      if (!annealed.is_complete) check_interrupt();
      work -= moves;
    }
  }

  // Turn by turn, each twice as long: a better bound, dives, parts of the best plan anew, and
  // annealing.
  void improve_by_turns(std::int64_t work) {
    const bool pays = instance_.price() > instance_.energy_cost() * instance_.least_joules();
    if (work > 0 && pays && has_patterns()) tight_bound_.emplace(instance_, front_);
    for (std::int64_t turn = params_.first_turn_work; work > 0 && !is_proved();
         turn = std::min(2 * turn, params_.first_turn_work << 20)) {
      check_interrupt();
      const std::int64_t part = std::min(work, turn);
      if (tight_bound_) {
        for (std::int64_t remaining_work = part; remaining_work > 0 && tighten_bound();
             remaining_work -= params_.bound_work)
          check_interrupt();
        for (std::int64_t remaining_work = part; remaining_work > 0 && !is_proved();
             remaining_work -= params_.dive_work) {
          try_dive();
          check_interrupt();
        }
        for (std::int64_t remaining_work = part; remaining_work > 0 && !is_proved();)
          remaining_work -= try_recreations();
      }
      if (can_anneal()) {
        run_annealings(part);
      } else if (!tight_bound_) {
        return try_more_makespans(work);
      }
      work -= 4 * part;
    }
  }

  bool tighten_bound() {
    const bool can_tighten = tight_bound_->tighten(best_plan_.profit_rate);
    rate_bound_ = std::min(rate_bound_, tight_bound_->rate_bound());
    return can_tighten && !is_proved();
  }

  // At a makespan at which a plan may earn more, or near the best one's.
  void try_dive() {
    std::optional<double> makespan = tight_bound_->draw_open_makespan(best_plan_.profit_rate, rng_);
    if (!makespan) return;
    if (rng_.uniform() < params_.near_dive_share)
      makespan = best_plan_.makespan *
                 std::exp(params_.near_makespan * (rng_.uniform() - params_.shorter_dive_share));
    for (const RelaxedPrices& prices : relaxed_prices_at(instance_, {*makespan})) {
      PatternPool pool(instance_, prices.makespan, task_values(instance_, prices));
      const PatternUse use = pool.solve(params_.pricing_rounds, kSurelyMissingTaskFactor);
      if (!use.is_complete ||
          instance_.profit_rate(use.joules, prices.makespan) <= best_plan_.profit_rate)
        continue;
      const Stock stock{instance_.counts(), instance_.all_machines()};
      polish_plan(ExchangeState(instance_, make_pattern_runs(instance_, pool, use)),
                  prices);  // a dive may take long
      if (const auto runs = dive_into_patterns(instance_, pool, use, stock, rng_))
        polish_plan(ExchangeState(instance_, *runs), prices);
    }
  }

  // Parts of the best plan anew until one is better; the work that took.
  std::int64_t try_recreations() {
    if (machine_count() > params_.max_recreation_machines) return params_.first_turn_work;
    const std::vector<RelaxedPrices> annealed = relaxed_prices_at(instance_, {best_plan_.makespan});
    if (annealed.empty()) return params_.first_turn_work;
    const PlanRecreation recreation(instance_, best_plan_, task_values(instance_, annealed[0]));
    std::int64_t steps_done = 0;
    while (steps_done < params_.first_turn_work) {
      steps_done += params_.recreation_work;
      check_interrupt();
      const double shorter = rng_.uniform();
      const double limit =
          best_plan_.makespan * (1 - (shorter < 0.5 ? 0 : params_.near_makespan * (shorter - 0.5)));
      const auto runs = recreation.try_recreation(limit, params_.max_recreated_machines, rng_);
      if (!runs) continue;
      const double before = best_plan_.profit_rate;
      offer_plan(ExchangeState(instance_, *runs), limit);
      if (best_plan_.profit_rate > before) break;
    }
    return steps_done;
  }

  // More and more makespans, each as dear as an annealing.
  void try_more_makespans(std::int64_t work) {
    for (int count = 2 * params_.first_makespans;
         work > 0 && !is_proved() && machine_count() <= params_.max_exchange_machines;
         count = std::min(2 * count, params_.max_makespans)) {
      const std::vector<double> makespans = promising_makespans(count);
      if (makespans.empty()) return;
      try_patterns_at(makespans);
      work -= params_.moves_per_annealing * static_cast<std::int64_t>(makespans.size());
      check_interrupt();
    }
  }

  std::int64_t machine_count() const {
    const auto& stock = instance_.all_machines();
    return std::accumulate(stock.begin(), stock.end(), std::int64_t{0});
  }

  double relaxed_rate(double makespan) const {
    return instance_.profit_rate(energy::joules_at(front_, makespan), makespan);
  }

  // `count` makespans spread evenly (in logarithms) over where the relaxation beats the best plan.
  std::vector<double> promising_makespans(int count) const {
    const int grid_size = params_.makespan_grid;
    const double least = front_.front().makespan;
    const double most = std::max(front_.back().makespan, best_plan_.makespan);
    std::vector<double> grid, makespans;
    for (int k = 0; k <= grid_size; ++k) {
      const double makespan = least * std::pow(most / least, static_cast<double>(k) / grid_size);
      if (relaxed_rate(makespan) > best_plan_.profit_rate) grid.push_back(makespan);
    }
    if (grid.empty()) return {};
    const double low = grid.front() * std::pow(most / least, -1.0 / grid_size);
    const double high = grid.back() * std::pow(most / least, 1.0 / grid_size);
    for (int k = 0; k < count; ++k) {
      const double makespan = low * std::pow(high / low, (k + 0.5) / count);
      if (relaxed_rate(makespan) > best_plan_.profit_rate) makespans.push_back(makespan);
    }
    return makespans;
  }

  // Mean distance of neighbours, in logarithms.
  static double spacing(std::vector<double> makespans) {
    constexpr double kSpacingOfOne = 1e-3;  // of a single makespan, which has no neighbour
    if (makespans.size() < 2) return kSpacingOfOne;
    const auto [low, high] = std::minmax_element(makespans.begin(), makespans.end());
    return std::log(*high / *low) / static_cast<double>(makespans.size() - 1);
  }

  // Joules that a second of makespan is worth, all machines together: more than any exchange
  // should pay for a second on one machine.
  double penalty(const RelaxedPrices& prices) const {
    double sum = 0;
    for (int j = 0; j < instance_.machine_types(); ++j)
      sum += prices.prices[j] * instance_.machines(j);
    return std::max(sum, best_plan_.joules / best_plan_.makespan);
  }

  void offer_plan(const ExchangeState& shop, double limit) {
    const double makespan = std::max(shop.makespan(), instance_.least_period(shop.joules()));
    if (instance_.profit_rate(shop.joules(), makespan) <= best_plan_.profit_rate) return;
    best_plan_ = make_plan_of_runs(instance_, shop.runs());
    best_limit_ = limit;
  }

  // Squeezes towards `goal`: at once, else halving the distance to what is known to work.
  void polish_plan(ExchangeState shop, const RelaxedPrices& prices) {
    double low = prices.makespan, high = shop.makespan(), limit = low;
    std::int64_t work = params_.exchanges_per_polishing;
    offer_plan(shop, prices.makespan);
    for (int k = 0; k < params_.limits_per_polishing && limit < high; ++k) {
      ExchangeState trial = shop;
      const bool steps_done = trial.lower_loads_to(limit, prices.prices, penalty(prices), work);
      offer_plan(trial, prices.makespan);
      if (steps_done) {
        shop = std::move(trial);
        high = limit;
      } else {
        low = limit;
      }
      limit = low + (high - low) / 2;
    }
  }

  void polish_best_plan(double makespan) {
    best_limit_ = makespan;
    for (const RelaxedPrices& prices : relaxed_prices_at(instance_, {makespan}))
      polish_plan(ExchangeState(instance_, best_plan_.runs), prices);
  }

  void try_patterns(const RelaxedPrices& prices) {
    PatternPool pool(instance_, prices.makespan, task_values(instance_, prices));
    const PatternUse use = pool.solve(params_.pricing_rounds);
    if (!use.is_complete ||
        instance_.profit_rate(use.joules, prices.makespan) <= best_plan_.profit_rate)
      return;
    polish_plan(ExchangeState(instance_, make_pattern_runs(instance_, pool, use)), prices);
  }

  void try_patterns_at(std::vector<double> makespans) {
    if (instance_.types() + instance_.machine_types() > params_.max_pattern_types) return;
    std::sort(makespans.rbegin(), makespans.rend());
    for (const RelaxedPrices& prices : relaxed_prices_at(instance_, makespans))
      if (relaxed_rate(prices.makespan) > best_plan_.profit_rate) try_patterns(prices);
  }

  TtbBestParams params_;
  const Instance& instance_;
  std::vector<energy::FrontPoint> front_;
  BagPlan best_plan_;
  std::optional<BagPlan> annealing_start_;
  int annealings_ = 0;
  std::optional<RateBound> tight_bound_;
  Rng rng_{0};
  double rate_bound_ = kInfinity;  // what no plan earns more than
  double best_limit_ = 0;          // the makespan that the best plan was made for
};

}  // namespace

TtbBestResult ttb_best(const Instance& instance, std::int64_t work,
                       std::optional<double> time_limit, const TtbBestParams& params) {
  if (work < 0)
    throw InvalidInstance("work = " + std::to_string(work) + ": expected a number >= 0");
  const ScopedTimeLimit limit(time_limit);
  TtbBestSearch search = without_deadline([&] { return TtbBestSearch(instance, params); });
  TtbBestResult result;
  {
    const ScopedDeadlineExtension grace(params.start_seconds);
    result.is_complete = finishes_within(std::nullopt, [&] { search.offer_starts(); });
  }
  if (result.is_complete)
    result.is_complete = finishes_within(std::nullopt, [&] {
      search.try_makespans();
      search.spend_work(work);
    });
  result.is_proved = search.is_proved();
  result.rate_bound = search.rate_bound();
  result.plan = search.take_best_plan();
  return result;
}

}  // namespace cosched::bags::search
