// A model of the whole problem that is cheaper to ask.
#pragma once

#include <vector>

namespace cosched::opt {

/// A model of the whole that is cheaper to ask.
class SurrogateModel {
 public:
  /// From now on the model has these measures at these weights, as the whole has.
  virtual void correct(const std::vector<double>& weights, const std::vector<double>& measures) = 0;
  /// The weights at which the least weighted sum of the measures is highest, up to a relative
  /// `gap`. `columns`: measures of choices of the whole; `start`: weights to begin at.
  virtual std::vector<double> best_weights(const std::vector<std::vector<double>>& columns,
                                           std::vector<double> start, double gap) = 0;

 protected:
  ~SurrogateModel() = default;
};

}  // namespace cosched::opt
