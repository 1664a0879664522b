// Numbers and shapes that all certificates have, before anything is made of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "cosched/core/errors.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/dags/hlp/certificate.hpp"
#include "cosched/dags/model/instance.hpp"
#include "cosched/dags/proof/certificate.hpp"

namespace cosched::dags::check {

/// Refuses what a certificate holds with one line that begins with the name of it.
class Parts {
 public:
  explicit Parts(const char* certificate) : certificate_(certificate) {}

  [[noreturn]] void breach(const std::string& text) const {
    throw SolverError(std::string(certificate_) + " certificate: " + text);
  }

  /// `count` numbers, finite and >= 0.
  void require_amounts(const std::vector<double>& amounts, std::size_t count,
                       const char* name) const {
    require_length(amounts.size(), count, name);
    for (const double amount : amounts)
      if (!(amount >= 0 && amount < kInfinity))
        breach(std::string(name) + " has " + to_text(amount) + ": expected a number >= 0");
  }

  /// `count` finite numbers.
  void require_finite(const std::vector<double>& numbers, std::size_t count,
                      const char* name) const {
    require_length(numbers.size(), count, name);
    for (const double number : numbers)
      if (!std::isfinite(number))
        breach(std::string(name) + " has " + to_text(number) + ": expected a finite number");
  }

  /// Weights of load heads: their sum is at most 1.
  void require_raise(const std::vector<double>& weights, int types) const {
    require_amounts(weights, types, "weights of load heads");
    double sum = 0;
    for (const double weight : weights) sum += weight;
    if (sum > 1 + 1e-15 * types) breach("weights of load heads sum to " + to_text(sum));
  }

  void require_intervals(const std::vector<proof::PricedInterval>& intervals, int types) const {
    for (const auto& [interval, price] : intervals)
      if (interval.type < 0 || interval.type >= types || !(price >= 0) || !(price < kInfinity) ||
          !(interval.begin >= 0) || !(interval.end > interval.begin) || !(interval.end < kInfinity))
        breach("a bad interval");
  }

  /// A flow on an edge of the graph.
  void require_edge(const Instance& instance, const hlp::EdgeFlow& flow) const {
    const auto& [from, to, amount] = flow;
    const int n = instance.tasks();
    if (from < 0 || from >= n || to < 0 || to >= n || !(amount >= 0) || !(amount < kInfinity))
      breach("a bad edge");
    const auto after = instance.graph().successors(from);
    if (!std::binary_search(after.begin(), after.end(), to))
      breach("flow from task " + std::to_string(from) + " to " + std::to_string(to) +
             ", which is no edge");
  }

  /// That a T is a number > 0.
  void require_makespan(double makespan) const {
    if (!(makespan > 0 && makespan < kInfinity)) breach("a makespan of " + to_text(makespan));
  }

  [[noreturn]] void not_refuted(double makespan) const {
    breach("a makespan of " + to_text(makespan) + " is not refuted");
  }

 private:
  void require_length(std::size_t found, std::size_t count, const char* name) const {
    if (found != count) breach(std::string(name) + " has the wrong length");
  }

  const char* certificate_;
};

}  // namespace cosched::dags::check
