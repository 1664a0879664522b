// Prices of processor time: what jobs that have not started cost at least.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "cosched/core/numeric.hpp"
#include "cosched/moldable/model/instance.hpp"
#include "cosched/moldable/search/patterns.hpp"

namespace cosched::moldable::search {

// When each job may start: its release, and what a search says beyond it.

/// Of each job: it starts within [first, last].  first >= its release; last may be infinite.
struct StartWindows {
  std::vector<double> first, last;

  explicit StartWindows(const Instance& instance)
      : first(instance.releases()), last(instance.jobs(), kInfinity) {}
};

/// More processors have too many counts.
inline constexpr int kMostPricedMachines = 1 << 16;

/// Let processor time cost p(x) >= 0 a second at time x, and P(x) be what it costs from x on.  On
/// processors that are free as some steps say, in every schedule of jobs S
///   sum w_j C_j  >=  sum_{j in S} min_{q, s} [w_j (s + t_j(q)) + q (P(s) - P(s + t_j(q)))]  -  sum P(step),
/// since the jobs use no more of any moment than is free: the Lagrangian of that.  s is in the job's
/// window, and not before q processors are free.  p is constant in each of some hundred cells, and 0 after
/// the last; the minimum over s is one of a piecewise linear function, taken exactly.
/// Of each job and each number of its choices the least from the start of each cell on is in a table.
/// p: subgradient steps for all jobs on a free machine (Polyak, with the value of a schedule known), on
/// few cells first, then on twice as many.
class TimePrices {
 public:
  /// `value`: sum w C of some schedule, `makespan` its length: they choose cells and steps only.
  /// About `work` steps, `doublings` times twice as many cells.  All that is a reference must outlive it.
  TimePrices(const Instance& instance, const std::vector<std::vector<Choice>>& choices,
             const StartWindows& windows, double value, double makespan, std::int64_t work,
             int doublings = 3);

  /// The same cells for narrower windows, from the prices of `wider` on: as many sets as `rounds`, in about
  /// `work` steps.
  TimePrices(const TimePrices& wider, const StartWindows& windows, double value, int rounds,
             std::int64_t work);

  /// No schedule of all jobs costs less.
  double bound() const { return bound_; }

  /// No schedule of the jobs of `rest` on processors that become free as the steps say has a lower
  /// sum w C.  Sharp to a cell, and exactly where that decides whether it is below `enough`.
  /// O(jobs of the rest * steps), + O(choices of the rest) where it does.
  double least(JobSet rest, const Step* steps, int count, double enough);

  /// Steps of work since it was asked last.
  std::int64_t take_work();

  /// Starts of a job at the prices that were tried: their mean, and how far from it they are.
  struct Spread {
    double mean, deviation;
  };
  Spread spread(int job) const;

 private:
  struct Column {
    double cost, start;
    const Choice* choice;
  };

  double price_from(double time) const {
    const double at = time / cell_;
    if (!(at < cells_)) return 0;
    const int k = static_cast<int>(at);
    return from_[k] - price_[k] * (time - k * cell_);
  }
  double cost(double weight, const Choice& choice, double start) const {
    const double end = start + choice.time;
    return weight * end + choice.procs * (price_from(start) - price_from(end));
  }
  // Where a job that starts in the cell of `start` bends what it costs: its end enters another cell.
  double bend(const Choice& choice, double start) const {
    return (std::floor((start + choice.time) / cell_) + 1) * cell_ - choice.time;
  }
  double exactly(int job, const Step* step);
  std::int64_t round() const;
  void climb(double value, std::int64_t work, double step);
  double relaxed(std::vector<double>& use);
  Column cheapest(int job) const;
  bool follow(double pace, const std::vector<double>& use, std::vector<double>& direction);
  void sum_up();
  void split();
  void tabulate();

  const Instance& it_;
  const std::vector<std::vector<Choice>>& choices_;
  const StartWindows& windows_;
  double horizon_, cell_;
  int cells_;
  double bound_ = 0;
  std::int64_t work_ = 0;
  std::vector<double> price_;  // of each cell, a processor second
  std::vector<double> from_;   // P at the start of each cell
  // Of each job, by processors: how many of its choices fit.
  std::shared_ptr<const std::vector<std::vector<int>>> within_;
  std::vector<std::vector<double>> least_;  // of each job, by choices and cells; when first asked
  struct Sums {
    double starts = 0, squares = 0;
  };
  std::vector<Sums> sums_;  // of the cheapest start of each job at each set of prices
  int tried_ = 0;           // sets of prices
};

}  // namespace cosched::moldable::search
