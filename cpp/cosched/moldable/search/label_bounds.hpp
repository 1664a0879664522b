// Lower bounds on what a beginning of a schedule becomes.
#pragma once

#include "cosched/moldable/search/search_state.hpp"
#include "cosched/moldable/search/time_prices.hpp"

namespace cosched::moldable::search {

/// The work that a proof has left.
class WorkBudget {
 public:
  explicit WorkBudget(std::int64_t steps) : total_steps_(steps), remaining_steps_(steps) {}

  /// May throw as check_interrupt().
  void spend(std::int64_t steps) {
    remaining_steps_ -= steps;
    poll_.count(4 * steps);
  }
  bool is_exhausted() const { return remaining_steps_ < 0; }
  std::int64_t remaining_steps() const { return remaining_steps_; }
  std::int64_t used_steps() const { return total_steps_ - remaining_steps_; }

 private:
  std::int64_t total_steps_, remaining_steps_;
  Poll poll_;
};

/// A beginning: these jobs have started, in the order of their starts, and leave processors free as
/// the steps say.
struct PartialSchedule {
  JobSet started_jobs;
  double started_cost;  // sum w C of them (minsum)
  const FreeStep* steps;
  int count;
};

/// Makespan: area from the free times on, for each release, with each job's least work that ends
/// in time; jobs one at a time; jobs of which at most k fit side by side; what one processor can do
/// in its window, where asked for.
/// Minsum: each job alone; areas in Smith's order on the chord of the free area, which is linear
/// and nowhere above it; prices of time, where asked for.
class LabelBounds {
 public:
  /// All must outlive it.
  LabelBounds(const Instance& instance, const std::vector<std::vector<Choice>>& choices,
              Objective objective, const Incumbent& incumbent, WorkBudget& effort)
      : instance_(instance),
        choices_(choices),
        minimizes_makespan_(objective == Objective::makespan),
        incumbent_(incumbent),
        budget_(effort) {
    order_by_density();
    order_by_release();
    for (const auto& own : choices_)
      work_monotone_.push_back(std::is_sorted(
          own.begin(), own.end(),
          [](const Choice& a, const Choice& b) { return a.procs * a.time < b.procs * b.time; }));
  }

  /// Bounds that cost more, for all that follows; a bound on all schedules.  `proved`: such a
  /// bound.
  double enable_strong_bounds(double proved) {
    if (!minimizes_makespan_) {
      const double longest = makespan(incumbent_.placement());
      if (!(longest > 0) || !(incumbent_.value() > 0) || instance_.machines() > kMostPricedMachines)
        return proved;
      const std::int64_t work =
          std::min(kPricesWork, std::max<std::int64_t>(0, budget_.remaining_steps()));
      prices_.emplace(instance_, choices_, longest, kFewestCells,
                      TimePrices::JobCosts::weighted_completion);
      prices_->subgradient_ascent(incumbent_.value(), work, kDoublings);
      budget_.spend(prices_->take_work());
      return std::max(proved, prices_->bound() * (1 - kProofRounding));
    }
    if (!(proved > 0)) return proved;
    patterns_.emplace(choices_, instance_.machines(), proved, incumbent_.value());
    budget_.spend(patterns_->take_work());
    patterns_help_ = patterns_->bound() > proved;
    return patterns_help_ ? patterns_->bound() : proved;
  }

  /// `known`: a bound.  Infinite where nothing better can come of it.
  double lower_bound(const PartialSchedule& label, double known) {
    best_cases_.clear();
    for (int j = 0; j < instance_.jobs(); ++j)
      if (!is_in(label.started_jobs, j)) best_cases_.push_back(find_best_case(label, j));
    budget_.spend(static_cast<std::int64_t>(best_cases_.size() + 1) * label.count / 2);
    double least = minimizes_makespan_ ? bound_makespan(label) : bound_minsum(label);
    if (best_cases_.empty() || incumbent_.can_prune(least)) return least * (1 - kProofRounding);
    if (patterns_help_) least = bound_by_patterns(label, std::max(least, known));
    if (prices_) {
      const JobSet all = (JobSet{1} << instance_.jobs()) - 1;
      least = std::max(least,
                       label.started_cost +
                           prices_->lower_bound(all & ~label.started_jobs, label.steps, label.count,
                                                incumbent_.value() - label.started_cost));
      budget_.spend(prices_->take_work());
    }
    return least * (1 - kProofRounding);
  }

 private:
  static constexpr int kHalvings = 4;
  static constexpr int kSideBySide = 3;  // jobs side by side that are bounded by number
  static constexpr int kMostPricedMachines = 1 << 16;      // more have too many counts
  static constexpr int kFewestCells = 32, kDoublings = 3;  // of prices
  static constexpr std::int64_t kPricesWork = 20'000'000;  // at most

  // What a job that is not in a label can do at best.
  struct BestCase {
    int job;
    double end;   // the earliest
    double work;  // the least that ends before the best schedule known
    int procs;    // the fewest so
  };

  bool is_in(JobSet jobs, int job) const { return jobs >> job & 1; }

  void order_by_density() {
    by_density_.resize(instance_.jobs());
    std::iota(by_density_.begin(), by_density_.end(), 0);
    for (int i = 0; i < instance_.jobs(); ++i) least_work_.push_back(instance_.least_work(i));
    std::stable_sort(by_density_.begin(), by_density_.end(), [&](int a, int b) {
      return least_work_[a] * instance_.weight(b) < least_work_[b] * instance_.weight(a);
    });
  }

  void order_by_release() {
    jobs_released_from_.emplace_back(0, 0);
    for (int i = 0; i < instance_.jobs(); ++i)
      jobs_released_from_.emplace_back(instance_.release(i), 0);
    std::sort(jobs_released_from_.begin(), jobs_released_from_.end());
    jobs_released_from_.erase(std::unique(jobs_released_from_.begin(), jobs_released_from_.end()),
                              jobs_released_from_.end());
    for (auto& [release, jobs] : jobs_released_from_)
      for (int i = 0; i < instance_.jobs(); ++i)
        if (instance_.release(i) >= release) jobs |= JobSet{1} << i;
  }

  // Of the choices for which enough processors are free at a step the last is the fastest; where
  // counts with more work are the faster ones, the first that ends in time at the first step that
  // has one is the best.
  BestCase find_best_case(const PartialSchedule& label, int job) const {
    BestCase found{job, kInfinity, kInfinity, instance_.machines()};
    const std::vector<Choice>& own = choices_[job];
    const Choice *in_time = own.data(), *fits = in_time, *const end = in_time + own.size();
    int free = 0;
    for (const FreeStep *step = label.steps, *const last = step + label.count; step < last;
         ++step) {
      free += step->procs;
      const double start = std::max(instance_.release(job), step->time);
      while (fits < end && fits->procs <= free) ++fits;
      if (fits == own.data()) continue;
      found.end = std::min(found.end, start + fits[-1].time);
      if (minimizes_makespan_ && !(found.work < kInfinity && work_monotone_[job])) {
        while (in_time < fits && start + in_time->time >= incumbent_.value()) ++in_time;
        for (const Choice* choice = in_time; choice < fits; ++choice) {
          found.work = std::min(found.work, choice->procs * choice->time);
          found.procs = std::min(found.procs, choice->procs);
          if (work_monotone_[job]) break;
        }
      }
      if (fits == end && (!minimizes_makespan_ || found.work < kInfinity)) break;
    }
    return found;
  }

  // When `area` is worked off by processors that are free as the label says, and not before `from`.
  double area_completion(const PartialSchedule& label, double from, double area) const {
    const FreeStep* step = label.steps;
    const FreeStep* const last = step + label.count;
    int free = 0;
    double now = from;
    for (; step < last; ++step) {
      if (step->time > now) {
        const double room = free * (step->time - now);
        if (room >= area && free > 0) break;
        area -= room;
        now = step->time;
      }
      free += step->procs;
    }
    return area > 0 ? now + area / free : now;
  }

  double bound_makespan(const PartialSchedule& label) {
    double least = label.steps[label.count - 1].time;
    for (const BestCase& one : best_cases_) {
      if (one.work == kInfinity) return kInfinity;
      least = std::max(least, one.end);
    }
    return std::max({least, bound_by_release(label), bound_by_width(label)});
  }

  // The work of the jobs that are released from some time on.
  double bound_by_release(const PartialSchedule& label) {
    const double from = label.steps->time;
    std::sort(best_cases_.begin(), best_cases_.end(), [&](const BestCase& a, const BestCase& b) {
      return instance_.release(a.job) > instance_.release(b.job);
    });
    double area = 0, least = 0;
    for (std::size_t k = 0; k < best_cases_.size(); ++k) {
      area += best_cases_[k].work;
      const double release = instance_.release(best_cases_[k].job);
      if (k + 1 < best_cases_.size() && instance_.release(best_cases_[k + 1].job) == release &&
          release > from)
        continue;
      if (release > from || k + 1 == best_cases_.size())
        least = std::max(least, area_completion(label, std::max(release, from), area));
    }
    return least;
  }

  double bound_by_width(const PartialSchedule& label) const {
    double least = 0;
    for (int side = 1; side <= kSideBySide; ++side) {
      double seconds = 0;
      for (const BestCase& one : best_cases_)
        if (one.procs * (side + 1) > instance_.machines()) seconds += instance_.least_time(one.job);
      least = std::max(least, label.steps->time + seconds / side);
    }
    return least;
  }

  // Between `least` and the best schedule known, to a part of the way.
  double bound_by_patterns(const PartialSchedule& label, double least) {
    const JobSet rest = ((JobSet{1} << instance_.jobs()) - 1) & ~label.started_jobs;
    const auto fits = [&](double deadline) {
      for (const auto& [release, jobs] : jobs_released_from_) {
        if (release <= label.steps->time && release > jobs_released_from_.front().first) continue;
        if ((rest & jobs) == 0) break;
        budget_.spend(label.count);
        if (!patterns_->can_meet_deadline(rest & jobs, label.steps, label.count, deadline, release))
          return false;
      }
      return true;
    };
    double too_short = least, long_enough = incumbent_.value();
    if (!fits(long_enough * (1 - kProofRounding))) {
      too_short = long_enough;
    } else if (!fits(too_short)) {
      for (int halving = 0; halving < kHalvings; ++halving) {
        const double middle = (too_short + long_enough) / 2;
        (fits(middle) ? long_enough : too_short) = middle;
      }
    }
    budget_.spend(patterns_->take_work());
    return too_short;
  }

  double bound_minsum(const PartialSchedule& label) const {
    double alone = label.started_cost, total = 0;
    for (const BestCase& one : best_cases_) {
      if (one.end == kInfinity) return kInfinity;
      alone += instance_.weight(one.job) * one.end;
      total += least_work_[one.job];
    }
    if (!(total > 0)) return alone;
    const double from = label.steps->time;
    const double slope = (area_completion(label, from, total) - from) / total;
    double squashed = label.started_cost, area = 0;
    for (const int job : by_density_)
      if (!is_in(label.started_jobs, job)) {
        area += least_work_[job];
        squashed += instance_.weight(job) * (from + slope * area);
      }
    return std::max(alone, squashed);
  }

  const Instance& instance_;
  const std::vector<std::vector<Choice>>& choices_;
  bool minimizes_makespan_;
  const Incumbent& incumbent_;
  WorkBudget& budget_;
  std::vector<int> by_density_;  // least work by weight: Smith's order
  std::vector<double> least_work_;
  std::vector<bool> work_monotone_;  // jobs whose work does not fall with the count
  std::vector<std::pair<double, JobSet>> jobs_released_from_;  // then or later; from 0 on
  std::optional<ProcessorPatterns> patterns_;
  bool patterns_help_ = false;  // labels ask them
  std::optional<TimePrices> prices_;
  std::vector<BestCase> best_cases_;
};

}  // namespace cosched::moldable::search
