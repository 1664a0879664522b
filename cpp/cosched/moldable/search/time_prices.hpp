// Prices of processor time: what jobs that have not started cost at least.
#pragma once

#include <cstdint>
#include <vector>

#include "cosched/moldable/search/patterns.hpp"

namespace cosched::moldable::search {

/// Let processor time cost p(x) >= 0 a second at time x, and P(x) be what it costs from x on.  On
/// processors that are free as some steps say, in every schedule of jobs S
///   sum w_j C_j  >=  sum_{j in S} min_{q, s} [w_j (s + t_j(q)) + q (P(s) - P(s + t_j(q)))]  -  sum P(step),
/// since the jobs use no more of any moment than is free: the Lagrangian of that.  s is not before
/// r_j, nor before q processors are free.  p is constant in each of some hundred cells, and 0 after
/// the last; the minimum over s is one of a piecewise linear function, taken exactly.
/// p: subgradient steps for all jobs on a free machine (Polyak, with the value of a schedule known).
class TimePrices {
 public:
  /// `value`: sum w C of some schedule, `makespan` its length: they choose cells and steps only.
  /// About `work` steps.  `instance` and `choices` must outlive it.
  TimePrices(const Instance& instance, const std::vector<std::vector<Choice>>& choices,
             double value, double makespan, std::int64_t work);

  /// No schedule of all jobs costs less.
  double bound() const { return bound_; }

  /// No schedule of the jobs of `rest` on processors that become free as the steps say has a lower
  /// sum w C.  O(steps + choices of the rest).
  double least(JobSet rest, const Step* steps, int count);

  /// Steps of work since it was asked last.
  std::int64_t take_work();

 private:
  struct Column {
    double cost, start;
    const Choice* choice;
  };

  double price_from(double time) const;
  double cost(int job, const Choice& choice, double start) const;
  double least_of(int job, const Step* step);
  double least_from(int job, const Choice& choice, double start, const double* table) const;
  void sum_up();
  void tabulate();
  Column cheapest(int job) const;
  double relaxed(std::vector<double>& use) const;
  void climb(double value, std::int64_t work);

  const Instance& it_;
  const std::vector<std::vector<Choice>>& choices_;
  double cell_;
  int cells_;
  double bound_ = 0;
  std::int64_t work_ = 0;
  std::vector<double> price_;        // of each cell, a processor second
  std::vector<double> from_;         // P at the start of each cell
  std::vector<std::size_t> tables_;  // of each job's first choice
  std::vector<double> least_;        // of each choice, at or after the start of each cell
};

}  // namespace cosched::moldable::search
