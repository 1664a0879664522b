// Lower bounds on what a beginning of a schedule becomes.
#pragma once

#include "cosched/moldable/search/search_state.hpp"
#include "cosched/moldable/search/time_prices.hpp"

namespace cosched::moldable::search {

/// The work that a proof has left.
class Effort {
 public:
  explicit Effort(std::int64_t steps) : given_(steps), left_(steps) {}

  /// May throw as check_interrupt().
  void count(std::int64_t steps) {
    left_ -= steps;
    poll_.count(4 * steps);
  }
  bool over() const { return left_ < 0; }
  std::int64_t left() const { return left_; }
  std::int64_t spent() const { return given_ - left_; }

 private:
  std::int64_t given_, left_;
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
/// in time; jobs one at a time; jobs of which at most k fit side by side; what one processor can do
/// in its window, where asked for.
/// Minsum: each job alone; areas in Smith's order on the chord of the free area, which is linear
/// and nowhere above it; prices of time, where asked for.
class LabelBounds {
 public:
  /// All must outlive it.
  LabelBounds(const Instance& instance, const std::vector<std::vector<Choice>>& choices,
              Objective objective, const BestSoFar& incumbent, Effort& effort)
      : it_(instance),
        choices_(choices),
        makespan_(objective == Objective::makespan),
        best_(incumbent),
        effort_(effort) {
    order_by_density();
    order_by_release();
    for (const auto& own : choices_)
      dearer_when_faster_.push_back(std::is_sorted(
          own.begin(), own.end(),
          [](const Choice& a, const Choice& b) { return a.procs * a.time < b.procs * b.time; }));
  }

  /// Bounds that cost more, for all that follows; a bound on all schedules.  `proved`: such a
  /// bound.
  double sharpen(double proved) {
    if (!makespan_) {
      const double longest = makespan(best_.placement());
      if (!(longest > 0) || !(best_.value() > 0) || it_.machines() > kMostPricedMachines)
        return proved;
      const std::int64_t work = std::min(kPricesWork, std::max<std::int64_t>(0, effort_.left()));
      prices_.emplace(it_, choices_, longest, kFewestCells, TimePrices::Jobs::pay_for_their_end);
      prices_->climb(best_.value(), work, kDoublings);
      effort_.count(prices_->take_work());
      return std::max(proved, prices_->bound() * (1 - kProofRounding));
    }
    if (!(proved > 0)) return proved;
    patterns_.emplace(choices_, it_.machines(), proved, best_.value());
    effort_.count(patterns_->take_work());
    patterned_ = patterns_->bound() > proved;
    return patterned_ ? patterns_->bound() : proved;
  }

  /// `known`: a bound.  Infinite where nothing better can come of it.
  double least(const Beginning& label, double known) {
    prospects_.clear();
    for (int j = 0; j < it_.jobs(); ++j)
      if (!in(label.jobs, j)) prospects_.push_back(prospect(label, j));
    effort_.count(static_cast<std::int64_t>(prospects_.size() + 1) * label.count / 2);
    double least = makespan_ ? least_makespan(label) : least_minsum(label);
    if (prospects_.empty() || best_.hopeless(least)) return least * (1 - kProofRounding);
    if (patterned_) least = least_of_patterns(label, std::max(least, known));
    if (prices_) {
      const JobSet all = (JobSet{1} << it_.jobs()) - 1;
      least = std::max(least, label.cost + prices_->least(all & ~label.jobs, label.steps,
                                                          label.count, best_.value() - label.cost));
      effort_.count(prices_->take_work());
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
  struct Prospect {
    int job;
    double end;   // the earliest
    double work;  // the least that ends before the best schedule known
    int procs;    // the fewest so
  };

  bool in(JobSet jobs, int job) const { return jobs >> job & 1; }

  void order_by_density() {
    by_density_.resize(it_.jobs());
    std::iota(by_density_.begin(), by_density_.end(), 0);
    for (int i = 0; i < it_.jobs(); ++i) least_work_.push_back(it_.least_work(i));
    std::stable_sort(by_density_.begin(), by_density_.end(), [&](int a, int b) {
      return least_work_[a] * it_.weight(b) < least_work_[b] * it_.weight(a);
    });
  }

  void order_by_release() {
    released_.emplace_back(0, 0);
    for (int i = 0; i < it_.jobs(); ++i) released_.emplace_back(it_.release(i), 0);
    std::sort(released_.begin(), released_.end());
    released_.erase(std::unique(released_.begin(), released_.end()), released_.end());
    for (auto& [release, jobs] : released_)
      for (int i = 0; i < it_.jobs(); ++i)
        if (it_.release(i) >= release) jobs |= JobSet{1} << i;
  }

  // Of the choices for which enough processors are free at a step the last is the fastest; where
  // counts with more work are the faster ones, the first that ends in time at the first step that
  // has one is the best.
  Prospect prospect(const Beginning& label, int job) const {
    Prospect found{job, kInfinity, kInfinity, it_.machines()};
    const std::vector<Choice>& own = choices_[job];
    const Choice *in_time = own.data(), *fits = in_time, *const end = in_time + own.size();
    int free = 0;
    for (const Step *step = label.steps, *const last = step + label.count; step < last; ++step) {
      free += step->count;
      const double start = std::max(it_.release(job), step->time);
      while (fits < end && fits->procs <= free) ++fits;
      if (fits == own.data()) continue;
      found.end = std::min(found.end, start + fits[-1].time);
      if (makespan_ && !(found.work < kInfinity && dearer_when_faster_[job])) {
        while (in_time < fits && start + in_time->time >= best_.value()) ++in_time;
        for (const Choice* choice = in_time; choice < fits; ++choice) {
          found.work = std::min(found.work, choice->procs * choice->time);
          found.procs = std::min(found.procs, choice->procs);
          if (dearer_when_faster_[job]) break;
        }
      }
      if (fits == end && (!makespan_ || found.work < kInfinity)) break;
    }
    return found;
  }

  // When `area` is worked off by processors that are free as the label says, and not before `from`.
  double worked_off(const Beginning& label, double from, double area) const {
    const Step* step = label.steps;
    const Step* const last = step + label.count;
    int free = 0;
    double now = from;
    for (; step < last; ++step) {
      if (step->time > now) {
        const double room = free * (step->time - now);
        if (room >= area && free > 0) break;
        area -= room;
        now = step->time;
      }
      free += step->count;
    }
    return area > 0 ? now + area / free : now;
  }

  double least_makespan(const Beginning& label) {
    double least = label.steps[label.count - 1].time;
    for (const Prospect& one : prospects_) {
      if (one.work == kInfinity) return kInfinity;
      least = std::max(least, one.end);
    }
    return std::max({least, least_by_release(label), least_side_by_side(label)});
  }

  // The work of the jobs that are released from some time on.
  double least_by_release(const Beginning& label) {
    const double from = label.steps->time;
    std::sort(prospects_.begin(), prospects_.end(), [&](const Prospect& a, const Prospect& b) {
      return it_.release(a.job) > it_.release(b.job);
    });
    double area = 0, least = 0;
    for (std::size_t k = 0; k < prospects_.size(); ++k) {
      area += prospects_[k].work;
      const double release = it_.release(prospects_[k].job);
      if (k + 1 < prospects_.size() && it_.release(prospects_[k + 1].job) == release &&
          release > from)
        continue;
      if (release > from || k + 1 == prospects_.size())
        least = std::max(least, worked_off(label, std::max(release, from), area));
    }
    return least;
  }

  double least_side_by_side(const Beginning& label) const {
    double least = 0;
    for (int side = 1; side <= kSideBySide; ++side) {
      double seconds = 0;
      for (const Prospect& one : prospects_)
        if (one.procs * (side + 1) > it_.machines()) seconds += it_.least_time(one.job);
      least = std::max(least, label.steps->time + seconds / side);
    }
    return least;
  }

  // Between `least` and the best schedule known, to a part of the way.
  double least_of_patterns(const Beginning& label, double least) {
    const JobSet rest = ((JobSet{1} << it_.jobs()) - 1) & ~label.jobs;
    const auto fits = [&](double deadline) {
      for (const auto& [release, jobs] : released_) {
        if (release <= label.steps->time && release > released_.front().first) continue;
        if ((rest & jobs) == 0) break;
        effort_.count(label.count);
        if (!patterns_->fits(rest & jobs, label.steps, label.count, deadline, release))
          return false;
      }
      return true;
    };
    double too_short = least, long_enough = best_.value();
    if (!fits(long_enough * (1 - kProofRounding))) {
      too_short = long_enough;
    } else if (!fits(too_short)) {
      for (int halving = 0; halving < kHalvings; ++halving) {
        const double middle = (too_short + long_enough) / 2;
        (fits(middle) ? long_enough : too_short) = middle;
      }
    }
    effort_.count(patterns_->take_work());
    return too_short;
  }

  double least_minsum(const Beginning& label) const {
    double alone = label.cost, total = 0;
    for (const Prospect& one : prospects_) {
      if (one.end == kInfinity) return kInfinity;
      alone += it_.weight(one.job) * one.end;
      total += least_work_[one.job];
    }
    if (!(total > 0)) return alone;
    const double from = label.steps->time;
    const double slope = (worked_off(label, from, total) - from) / total;
    double squashed = label.cost, area = 0;
    for (const int job : by_density_)
      if (!in(label.jobs, job)) {
        area += least_work_[job];
        squashed += it_.weight(job) * (from + slope * area);
      }
    return std::max(alone, squashed);
  }

  const Instance& it_;
  const std::vector<std::vector<Choice>>& choices_;
  bool makespan_;
  const BestSoFar& best_;
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
