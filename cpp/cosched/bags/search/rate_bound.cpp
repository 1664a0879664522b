#include "cosched/bags/search/rate_bound.hpp"

#include "cosched/core/assert.hpp"

namespace cosched::bags::search {

RateBound::RateBound(const Instance& instance, const std::vector<energy::FrontPoint>& front,
                     const RateBoundParams& params)
    : params_(params), instance_(&instance), front_(&front) {
  COSCHED_ASSERT(!front.empty());
  COSCHED_ASSERT(instance.price() > instance.energy_cost() * instance.least_joules());
  const double shortest = front.front().makespan, longest = front.back().makespan;
  rate_beyond_ = instance.profit_rate(instance.least_joules(), longest);
  std::vector<double> highs;
  for (int k = params_.first_intervals; k > 0; --k)
    highs.push_back(shortest *
                    std::pow(longest / shortest, static_cast<double>(k) / params_.first_intervals));
  for (const RelaxedPrices& prices : relaxed_prices_at(instance, highs)) {
    const double low =
        highs.size() == intervals_.size() + 1 ? shortest : highs[intervals_.size() + 1];
    const double joules = energy::joules_at(front, prices.makespan);
    intervals_.push_back({low, prices.makespan, joules, max_rate(joules, low, prices.makespan),
                          false, task_values(instance, prices)});
  }
}

bool RateBound::tighten(double floor) {
  const auto weakest = std::max_element(intervals_.begin(), intervals_.end(),
                                        [](const MakespanInterval& a, const MakespanInterval& b) {
                                          return a.rate_bound < b.rate_bound;
                                        });
  if (weakest == intervals_.end() || weakest->rate_bound <= std::max(floor, rate_beyond_))
    return false;
  if (!weakest->is_priced) {
    price_interval(*weakest);
    return true;
  }
  if (weakest->high <= weakest->low * (1 + params_.least_width)) return false;
  halve_interval(static_cast<std::size_t>(std::distance(intervals_.begin(), weakest)));
  return true;
}

std::optional<double> RateBound::draw_open_makespan(double floor, Rng& rng) const {
  double width = 0;
  for (const MakespanInterval& interval : intervals_)
    if (interval.rate_bound > floor) width += std::log(interval.high / interval.low);
  double remaining_width = rng.uniform() * width;
  for (const MakespanInterval& interval : intervals_) {
    if (interval.rate_bound <= floor) continue;
    const double width_of_interval = std::log(interval.high / interval.low);
    if (remaining_width <= width_of_interval) return interval.low * std::exp(remaining_width);
    remaining_width -= width_of_interval;
  }
  return std::nullopt;
}

double RateBound::joules_bound(double makespan, const std::vector<double>& value) const {
  double sum = 0, magnitude = 0;
  for (int i = 0; i < instance_->types(); ++i) {
    const double total_value = static_cast<double>(instance_->count(i)) * value[i];
    sum += total_value;
    magnitude += std::abs(total_value);
  }
  for (int j = 0; j < instance_->machine_types(); ++j) {
    const double gain = instance_->machines(j) * max_gain(*instance_, j, makespan, value);
    sum -= gain;
    magnitude += gain;
  }
  return sum - kRoundingUnit * magnitude;
}

void RateBound::price_interval(MakespanInterval& interval) {
  PatternPool pool(*instance_, interval.high, interval.task_values);
  interval.task_values = pool.solve(params_.pricing_rounds, kSurelyMissingTaskFactor).task_values;
  interval.joules = std::max(interval.joules, joules_bound(interval.high, interval.task_values));
  interval.rate_bound =
      std::min(interval.rate_bound, max_rate(interval.joules, interval.low, interval.high));
  interval.is_priced = true;
}

void RateBound::halve_interval(std::size_t index) {
  MakespanInterval& upper_half = intervals_[index];
  MakespanInterval lower_half = upper_half;
  const double middle = std::sqrt(upper_half.low * upper_half.high);
  lower_half.high = middle;
  upper_half.low = middle;
  upper_half.rate_bound =
      std::min(upper_half.rate_bound, max_rate(upper_half.joules, upper_half.low, upper_half.high));
  lower_half.joules =
      std::max(lower_half.joules, joules_bound(lower_half.high, lower_half.task_values));
  lower_half.joules = std::max(lower_half.joules, energy::joules_at(*front_, lower_half.high));
  lower_half.rate_bound =
      std::min(lower_half.rate_bound, max_rate(lower_half.joules, lower_half.low, lower_half.high));
  lower_half.is_priced = false;
  intervals_.push_back(std::move(lower_half));
}

}  // namespace cosched::bags::search
