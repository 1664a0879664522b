#include "cosched/bags/search/rate_bound.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "cosched/bags/search/patterns.hpp"
#include "cosched/bags/search/probe.hpp"

namespace cosched::bags::search {
namespace {

constexpr int kIntervals = 48;          // to begin with
constexpr int kPricingRounds = 60;      // of column generation
constexpr double kNarrow = 1e-6;        // relative width of an interval that is not halved
constexpr double kRoundingUnit = 1e-9;  // of the sums of a Lagrangian dual

}  // namespace

RateBound::RateBound(const Instance& instance, const std::vector<energy::FrontPoint>& front)
    : instance_(&instance), front_(&front) {
  const double least = front.front().makespan, most = front.back().makespan;
  beyond_ = instance.profit_rate(instance.least_joules(), most);
  std::vector<double> highs;
  for (int k = kIntervals; k > 0; --k)
    highs.push_back(least * std::pow(most / least, static_cast<double>(k) / kIntervals));
  for (const Probe& at : probe(instance, highs)) {
    const double low = highs.size() == intervals_.size() + 1 ? least : highs[intervals_.size() + 1];
    const double joules = energy::joules_at(front, at.makespan);
    intervals_.push_back({low, at.makespan, joules, rate(joules, low, at.makespan), false,
                          task_values(instance, at)});
  }
}

double RateBound::rate(double joules, double low, double high) const {
  const bool pays = instance_->price() > instance_->energy_cost() * joules;
  return instance_->profit_rate(joules, pays ? low : high);
}

double RateBound::top() const {
  double top = beyond_;
  for (const Interval& interval : intervals_) top = std::max(top, interval.top);
  return top;
}

double RateBound::joules_within(double makespan, const std::vector<double>& value) const {
  double sum = 0, size = 0;
  for (int i = 0; i < instance_->types(); ++i) {
    const double all = static_cast<double>(instance_->count(i)) * value[i];
    sum += all;
    size += std::abs(all);
  }
  for (int j = 0; j < instance_->machine_types(); ++j) {
    const double gain = instance_->machines(j) * most_gain(*instance_, j, makespan, value);
    sum -= gain;
    size += gain;
  }
  return sum - kRoundingUnit * size;
}

void RateBound::price(Interval& interval) {
  PatternPool pool(*instance_, interval.high, interval.value);
  interval.value = pool.solve(kPricingRounds, kSurelyMissing).value;
  interval.joules = std::max(interval.joules, joules_within(interval.high, interval.value));
  interval.top = std::min(interval.top, rate(interval.joules, interval.low, interval.high));
  interval.priced = true;
}

void RateBound::halve(std::size_t at) {
  Interval& right = intervals_[at];
  Interval left = right;
  left.high = right.low = std::sqrt(right.low * right.high);
  right.top = std::min(right.top, rate(right.joules, right.low, right.high));
  left.joules = std::max(left.joules, joules_within(left.high, left.value));
  left.joules = std::max(left.joules, energy::joules_at(*front_, left.high));
  left.top = std::min(left.top, rate(left.joules, left.low, left.high));
  left.priced = false;
  intervals_.push_back(std::move(left));
}

bool RateBound::tighten(double floor) {
  const auto weakest =
      std::max_element(intervals_.begin(), intervals_.end(),
                       [](const Interval& a, const Interval& b) { return a.top < b.top; });
  if (weakest == intervals_.end() || weakest->top <= std::max(floor, beyond_)) return false;
  if (!weakest->priced) {
    price(*weakest);
    return true;
  }
  if (weakest->high <= weakest->low * (1 + kNarrow)) return false;
  halve(static_cast<std::size_t>(std::distance(intervals_.begin(), weakest)));
  return true;
}

std::optional<double> RateBound::open_makespan(double floor, Rng& rng) const {
  double width = 0;
  for (const Interval& interval : intervals_)
    if (interval.top > floor) width += std::log(interval.high / interval.low);
  double left = rng.uniform() * width;
  for (const Interval& interval : intervals_) {
    if (interval.top <= floor) continue;
    const double own = std::log(interval.high / interval.low);
    if (left <= own) return interval.low * std::exp(left);
    left -= own;
  }
  return std::nullopt;
}

}  // namespace cosched::bags::search
