#include "cosched/dags/check/parts.hpp"

#include <algorithm>
#include <cmath>

#include "cosched/core/errors.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::dags::check {

void Parts::breach(const std::string& text) const {
  throw SolverError(std::string(certificate_) + " certificate: " + text);
}

void Parts::require_length(std::size_t found, std::size_t count, const char* name) const {
  if (found != count) breach(std::string(name) + " has the wrong length");
}

void Parts::require_amounts(const std::vector<double>& amounts, std::size_t count,
                            const char* name) const {
  require_length(amounts.size(), count, name);
  for (const double amount : amounts)
    if (!(amount >= 0 && amount < kInfinity))
      breach(std::string(name) + " has " + to_text(amount) + ": expected a number >= 0");
}

void Parts::require_finite(const std::vector<double>& numbers, std::size_t count,
                           const char* name) const {
  require_length(numbers.size(), count, name);
  for (const double number : numbers)
    if (!std::isfinite(number))
      breach(std::string(name) + " has " + to_text(number) + ": expected a finite number");
}

void Parts::require_raise(const std::vector<double>& weights, int types) const {
  require_amounts(weights, types, "weights of load heads");
  double sum = 0;
  for (const double weight : weights) sum += weight;
  if (sum > 1 + 1e-15 * types) breach("weights of load heads sum to " + to_text(sum));
}

void Parts::require_intervals(const std::vector<proof::PricedInterval>& intervals,
                              int types) const {
  for (const auto& [interval, price] : intervals)
    if (interval.type < 0 || interval.type >= types || !(price >= 0) || !(price < kInfinity) ||
        !(interval.begin >= 0) || !(interval.end > interval.begin) || !(interval.end < kInfinity))
      breach("a bad interval");
}

void Parts::require_edge(const Instance& instance, const hlp::EdgeFlow& flow) const {
  const auto& [from, to, amount] = flow;
  const int n = instance.tasks();
  if (from < 0 || from >= n || to < 0 || to >= n || !(amount >= 0) || !(amount < kInfinity))
    breach("a bad edge");
  const auto after = instance.graph().successors(from);
  if (!std::binary_search(after.begin(), after.end(), to))
    breach("flow from task " + std::to_string(from) + " to " + std::to_string(to) +
           ", which is no edge");
}

void Parts::require_makespan(double makespan) const {
  if (!(makespan > 0 && makespan < kInfinity)) breach("a makespan of " + to_text(makespan));
}

void Parts::not_refuted(double makespan) const {
  breach("a makespan of " + to_text(makespan) + " is not refuted");
}

}  // namespace cosched::dags::check
