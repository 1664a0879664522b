// Lower bounds on what a beginning of a schedule becomes.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "cosched/core/interrupt.hpp"
#include "cosched/moldable/model/placement.hpp"
#include "cosched/moldable/search/patterns.hpp"
#include "cosched/moldable/search/search_state.hpp"
#include "cosched/moldable/search/time_prices.hpp"

namespace cosched::moldable::search {

// What a proof has: the best schedule known, and the work that is left.

/// Relative, of sums of a few times.
inline constexpr double kProofRounding = 1e-12;

class Incumbent {
 public:
  /// `instance` must outlive it.
  Incumbent(const Instance& instance, Objective objective, Placement start)
      : it_(&instance), objective_(objective), best_(std::move(start)), value_(value_of(best_)) {}

  void take(Placement made) {
    const double value = value_of(made);
    if (!(value < value_)) return;
    value_ = value;
    best_ = std::move(made);
  }

  double value() const { return value_; }
  const Placement& placement() const { return best_; }
  /// Whether nothing that costs at least so much is better.
  bool hopeless(double least) const { return least >= value_ * (1 - kProofRounding); }

 private:
  double value_of(const Placement& placement) const {
    return objective_ == Objective::makespan ? makespan(placement)
                                             : weighted_completion(*it_, placement);
  }

  const Instance* it_;
  Objective objective_;
  Placement best_;
  double value_;
};

class Effort {
 public:
  explicit Effort(std::int64_t steps) : left_(steps) {}

  /// May throw as check_interrupt().
  void count(std::int64_t steps) {
    left_ -= steps;
    poll_.count(4 * steps);
  }
  bool over() const { return left_ < 0; }
  std::int64_t left() const { return left_; }

 private:
  std::int64_t left_;
  Poll poll_;
};

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
  std::vector<bool> dearer_when_faster_;             // jobs whose work does not fall with the count
  std::vector<std::pair<double, JobSet>> released_;  // then or later; from 0 on
  std::optional<ProcessorPatterns> patterns_;
  bool patterned_ = false;  // labels ask them
  std::optional<TimePrices> prices_;
  std::vector<Prospect> prospects_;
};

}  // namespace cosched::moldable::search
