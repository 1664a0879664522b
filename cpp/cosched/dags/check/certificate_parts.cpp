#include "cosched/dags/check/certificate_parts.hpp"

namespace cosched::dags::check {

void CertificateParts::require_amounts(const std::vector<double>& amounts, std::size_t count,
                                       const char* name) const {
  require_length(amounts.size(), count, name);
  for (const double amount : amounts)
    if (!(amount >= 0 && amount < kInfinity))
      throw_breach(std::string(name) + " has " + to_text(amount) + ": expected a number >= 0");
}

void CertificateParts::require_finite(const std::vector<double>& numbers, std::size_t count,
                                      const char* name) const {
  require_length(numbers.size(), count, name);
  for (const double number : numbers)
    if (!std::isfinite(number))
      throw_breach(std::string(name) + " has " + to_text(number) + ": expected a finite number");
}

void CertificateParts::require_load_weights(const std::vector<double>& weights, int types) const {
  require_amounts(weights, types, "weights of load heads");
  double sum = 0;
  for (const double weight : weights) sum += weight;
  constexpr double kRoundingPerTerm = 1e-15;  // several units of 2^-53
  if (sum > 1 + kRoundingPerTerm * types)
    throw_breach("weights of load heads sum to " + to_text(sum));
}

void CertificateParts::require_intervals(const std::vector<proof::PricedInterval>& intervals,
                                         int types) const {
  for (const auto& [interval, price] : intervals)
    if (interval.type < 0 || interval.type >= types || !(price >= 0) || !(price < kInfinity) ||
        !(interval.begin >= 0) || !(interval.end > interval.begin) || !(interval.end < kInfinity))
      throw_breach("a bad interval");
}

void CertificateParts::require_edge(const Instance& instance, const hlp::EdgeFlow& flow) const {
  const auto& [from, to, amount] = flow;
  const int n = instance.tasks();
  if (from < 0 || from >= n || to < 0 || to >= n || !(amount >= 0) || !(amount < kInfinity))
    throw_breach("a bad edge");
  const auto after = instance.graph().successors(from);
  if (!std::binary_search(after.begin(), after.end(), to))
    throw_breach("flow from task " + std::to_string(from) + " to " + std::to_string(to) +
                 ", which is no edge");
}

}  // namespace cosched::dags::check
