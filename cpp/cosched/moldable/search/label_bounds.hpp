// Lower bounds on what a beginning of a schedule becomes.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "cosched/moldable/search/incumbent.hpp"
#include "cosched/moldable/search/patterns.hpp"
#include "cosched/moldable/search/time_prices.hpp"

namespace cosched::moldable::search {

/// A beginning: these jobs have started, in the order of their starts, and leave processors free as
/// the steps say.
struct Beginning {
  JobSet jobs;
  double cost;  // sum w C of them (minsum)
  const Step* steps;
  int count;
};

/// Makespan: area from the free times on, for each release, with each job's least work that ends
/// in time; jobs one at a time; jobs of which at most k fit side by side; what one processor can do in
/// its window, where asked for.
/// Minsum: each job alone; areas in Smith's order on the chord of the free area, which is linear
/// and nowhere above it; prices of time, where asked for.
class LabelBounds {
 public:
  /// All must outlive it.
  LabelBounds(const Instance& instance, const std::vector<std::vector<Choice>>& choices,
              const StartWindows& windows, Objective objective, const Incumbent& incumbent,
              Effort& effort);

  /// For the minsum, with prices for these windows.
  LabelBounds(const Instance& instance, const std::vector<std::vector<Choice>>& choices,
              const StartWindows& windows, TimePrices prices, const Incumbent& incumbent,
              Effort& effort);

  /// Bounds that cost more, for all that follows; a bound on all schedules.  `proved`: such a bound.
  double sharpen(double proved);

  /// `known`: a bound.  Infinite where nothing better can come of it.
  double least(const Beginning& label, double known);

  bool prices() const { return prices_.has_value(); }

  /// May be null.
  ProcessorPatterns* patterns() { return patterns_ ? &*patterns_ : nullptr; }

 private:
  // What a job that is not in a label can do at best.
  struct Prospect {
    int job;
    double end;   // the earliest
    double work;  // the least that ends before the best schedule known
    int procs;    // the fewest so
  };

  bool in(JobSet jobs, int job) const { return jobs >> job & 1; }
  void order_by_density();
  void order_by_release();
  Prospect prospect(const Beginning& label, int job) const;
  double worked_off(const Beginning& label, double from, double area) const;
  double least_makespan(const Beginning& label);
  double least_by_release(const Beginning& label);
  double least_side_by_side(const Beginning& label) const;
  double least_of_patterns(const Beginning& label, double least);
  double least_minsum(const Beginning& label) const;

  const Instance& it_;
  const std::vector<std::vector<Choice>>& choices_;
  const StartWindows& windows_;
  bool makespan_;
  const Incumbent& best_;
  Effort& effort_;
  std::vector<int> by_density_;  // least work by weight: Smith's order
  std::vector<double> least_work_;
  std::vector<std::pair<double, JobSet>> released_;  // then or later; from 0 on
  std::optional<ProcessorPatterns> patterns_;
  bool patterned_ = false;  // labels ask them
  std::optional<TimePrices> prices_;
  std::vector<Prospect> prospects_;
};

}  // namespace cosched::moldable::search
