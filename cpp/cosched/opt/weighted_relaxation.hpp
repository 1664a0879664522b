// What answers the queries of an outer problem: the least weighted sum of a few measures.
#pragma once

#include <vector>

#include "cosched/core/times.hpp"

namespace cosched::opt {

/// A fractional choice and its measures.
struct RelaxedPoint {
  Table x;                       // a row a task, rows sum to 1
  std::vector<double> measures;  // the longest path last
};

/// What answers questions: the least weighted sum of the measures.
class WeightedRelaxation {
 public:
  struct RelaxationOptimum {
    double bound;  // at most the weighted sum of `point.measures`
    RelaxedPoint point;
  };
  virtual RelaxationOptimum minimise(const std::vector<double>& weights) = 0;
  /// Of the last question, where the path had a weight: through each task, and on links of the
  /// event network.
  virtual std::vector<double> task_flow() const = 0;
  virtual std::vector<double> link_flow() const = 0;

 protected:
  ~WeightedRelaxation() = default;
};

}  // namespace cosched::opt
