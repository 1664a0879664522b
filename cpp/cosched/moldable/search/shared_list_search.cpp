#include "cosched/moldable/search/shared_list_search.hpp"

#include "cosched/core/annealing.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/moldable/search/order_chains.hpp"

namespace cosched::moldable::search {

SharedListSearch::SharedListSearch(const Instance& instance, const SearchOptions& options,
                                   const SharedListParams& params)
    : instance_(instance),
      params_(params),
      objective_(options.objective),
      decoder_(instance),
      seed_(options.seed),
      rng_(options.seed),
      incumbent_(instance, options.objective) {
  if (!uses_orders() && !instance.sharing()->slows()) active_search_.emplace(instance, objective_);
}

void SharedListSearch::offer(list::JobList list) {
  if (active_search_) offer(active_search_->decode(list.order, list.procs));
  for (const double theta : list::kThetas) {
    list.theta = theta;
    consider_list(list);
  }
  if (prices_.empty()) return;
  list.prices = prices_;
  consider_list(list);
}

void SharedListSearch::set_prices(std::vector<double> prices, int draws) {
  prices_ = std::move(prices);
  if (uses_orders()) return;
  for (int k = 0; k < draws; ++k) {
    std::vector<double> drawn_prices = prices_;
    if (k > 0)
      for (double& price : drawn_prices)
        price *= 1 + params_.price_noise * (2 * rng_.uniform() - 1);
    const Placement placement = decoder_.decode_greedily(drawn_prices);
    offer(placement);
    list::JobList list = list::to_list(decoder_, placement);
    list.prices = drawn_prices;
    consider_list(list);
  }
}

void SharedListSearch::run_round(std::int64_t work, int number) {
  if (!uses_orders()) {
    // Lists first, then active schedules from the best: either finds what the other misses.
    anneal_lists(work, number % 2 == 0 ? 1 : params_.cooler_factor);
    if (active_search_) anneal_active_orders(work / 2, number);
    return;
  }
  if (!prices_.empty())
    run_beams(static_cast<std::int64_t>(params_.beam_part * static_cast<double>(work) /
                                        params_.work_per_beam_operation));
  const double work_per_operation = instance_.sharing()->slows()
                                        ? params_.work_per_order_operation
                                        : params_.work_per_order_operation_without_slowdowns;
  offer(anneal_order_chains(instance_, decoder_, best(),
                            static_cast<double>(work) / work_per_operation, rng_));
  check_interrupt();
}

void SharedListSearch::run_beams(std::int64_t operations) {
  while (operations > 0) {
    std::vector<double> drawn_prices = prices_;
    const double noise = beam_count_ == 0 ? 0 : params_.beam_noises[beam_count_ / 2 % 2];
    for (double& price : drawn_prices) price *= 1 + noise * (2 * rng_.uniform() - 1);
    const shared::BeamOptions options{
        .width = std::min(params_.beam_width, 1 << std::min(2 * beam_count_, 20)),
        .branches = params_.beam_branches,
        .waste = params_.beam_wastes[beam_count_ % 2]};
    const std::optional<Placement> placement =
        shared::beam_search(instance_, decoder_, drawn_prices, options, operations);
    if (!placement) return;
    offer(*placement);
    ++beam_count_;
  }
}

void SharedListSearch::anneal_lists(std::int64_t work, double heat) {
  list::JobList current = best_list_;
  double current_value = best_list_value_;
  const double scale = best_list_value_;
  const double first_temperature = params_.first_temperature * heat;
  const std::int64_t first_operation = decoder_.operations();
  const auto spent = [&] { return decoder_.operations() - first_operation; };
  const double operations = params_.list_operations * static_cast<double>(work);
  const double last_warmth = params_.last_temperature / first_temperature;
  cosched::anneal(last_warmth, operations, spent, [&](double warmth) {
    const double temperature = scale * first_temperature * warmth;
    for (int k = 0; k < params_.moves_per_temperature; ++k) {
      list::JobList neighbour = draw_neighbour(current);
      const Placement placement = decoder_.decode(neighbour);
      const double value = plateau_value(placement);
      offer(placement);
      if (value < best_list_value_) {
        best_list_value_ = value;
        best_list_ = neighbour;
      }
      if (value > current_value &&
          !(rng_.uniform() < std::exp((current_value - value) / temperature)))
        continue;
      current_value = value;
      current = std::move(neighbour);
    }
    return true;
  });
}

void SharedListSearch::consider_list(const list::JobList& list) {
  const Placement placement = decoder_.decode(list);
  const double value = plateau_value(placement);
  offer(placement);
  if (!best_list_.order.empty() && !(value < best_list_value_)) return;
  best_list_value_ = value;
  best_list_ = list;
}

list::JobList SharedListSearch::draw_neighbour(const list::JobList& from) {
  list::JobList to = from;
  const int n = instance_.jobs();
  const std::uint64_t kind = rng_.below(16);
  const auto a = static_cast<int>(rng_.below(n));
  const auto b = static_cast<int>(
      rng_.below(2) == 0
          ? std::clamp<std::int64_t>(a + rng_.between(-params_.near_places, params_.near_places), 0,
                                     n - 1)
          : static_cast<std::int64_t>(rng_.below(n)));
  if (kind == 0 && rng_.below(2) == 0 && !prices_.empty()) {
    if (to.prices.empty()) to.prices = prices_;
    to.prices[a] *= 1 + params_.price_noise * (2 * rng_.uniform() - 1);
  } else if (kind == 0) {
    to.theta = list::kThetas[rng_.below(std::size(list::kThetas))];
    to.prices.clear();
  } else if (kind < 7) {
    const auto& counts = decoder_.counts(a);
    auto index = std::find_if(counts.begin(), counts.end(),
                              [&](const Choice& c) { return c.procs == to.procs[a]; }) -
                 counts.begin();
    const auto last = static_cast<std::int64_t>(counts.size()) - 1;
    if (rng_.below(4) == 0)
      index = rng_.between(0, last);
    else
      index = std::clamp<std::int64_t>(index + (rng_.below(2) == 0 ? 1 : -1), 0, last);
    to.procs[a] = counts[index].procs;
  } else if (kind < 11) {
    std::swap(to.order[a], to.order[b]);
  } else {
    const int job = to.order[a];
    to.order.erase(to.order.begin() + a);
    to.order.insert(to.order.begin() + b, job);
  }
  return to;
}

}  // namespace cosched::moldable::search
