// Few jobs, the makespan: schedules of two halves that meet.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

#include "cosched/core/numeric.hpp"
#include "cosched/moldable/search/patterns.hpp"

namespace cosched::moldable::search {

/// More jobs have too many subsets, more processors too many counts.
inline constexpr int kMostHalvedJobs = 16, kMostHalvedMachines = 64;

/// Room for labels, in steps: 128 MB, and as much for what else they hold.
inline constexpr std::size_t kHalvesRoom = 8'000'000;

/// A job on some of the processors.
struct Placed {
  int job, procs;
  double start;
};

/// Cut a schedule that is shorter than D at D/2: jobs A end before, jobs C start then or later,
/// jobs X are between.  On each processor what belongs to A lies below what belongs to X, at most
/// one job, and that below what belongs to C.  So all that matters of A is when how many processors
/// are free (a label), and turned around in time C is a label of the same kind: no schedule is lost
/// where
///   - a label of each set of jobs that are stacked in any order within D/2 is kept unless another
///     of the set has every processor free no later;
///   - of two jobs of which neither lies on the other the one of lower number is stacked first: a
///     label of the same set that is as good, whose last job has the highest number, is always
///     made;
///   - on a label of A, jobs X take the processors in the order in which these become free;
///   - what they leave is paired with every label of C, early processors with tall stacks.
/// Turned around if need be, A loses no more than C (area above the least work of its jobs): only
/// such A, and to them such C, are tried, so A loses at most half of what may be lost.  A job X
/// that ends before D/2 makes another schedule, where it is one of A and X are fewer: there it is
/// found. Labels are dropped whose area, with the least work of all other jobs, is above m D: what
/// is lost before and after is known to both halves, and few labels of near half the jobs are left
/// where one search from the start would meet those of all.
/// Exact where all jobs are there from the start.  Prices (patterns.hpp) drop more labels.
class Halves {
 public:
  /// Adds steps of work; false: no more.  May throw as check_interrupt().
  using Count = std::function<bool(std::int64_t)>;
  /// A schedule, in the order of its starts: each job starts as early as that lets it.  Returns the
  /// value to be beaten.
  using Offer = std::function<double(std::vector<Placed>)>;

  /// Up to kMostHalvedJobs jobs and kMostHalvedMachines processors.
  Halves(std::vector<std::vector<Choice>> choices, int machines, Count count,
         std::size_t room = kHalvesRoom)
      : choices_(std::move(choices)),
        jobs_(static_cast<int>(choices_.size())),
        machines_(machines),
        count_(std::move(count)),
        most_(room),
        sure_(room),
        free_(machines),
        below_(machines + 1) {
    for (const auto& own : choices_)
      if (own.size() > 1) sure_ = most_ / kForecast;
  }

  enum class Outcome {
    searched,  // all of it
    nearer,  // a schedule was found that is so much shorter than the deadline that it is the better one
    full,  // there was no room for all labels, or none by what the first took
    over   // the work was over
  };

  /// Offers schedules shorter than `value`: where any is shorter than `deadline`, at least one that
  /// is, not always the best.  `patterns`: may be null.  Requires bound <= deadline <= value; no
  /// schedule is shorter than `bound`.
  Outcome search(double bound, double deadline, double value, ProcessorPatterns* patterns,
                 const Offer& offer) {
    deadline_ = deadline;
    half_ = deadline / 2;
    room_ = machines_ * deadline * kSlip;
    value_ = value;
    patterns_ = patterns;
    offer_ = &offer;
    measure();
    enough_ = deadline - kNearer * (deadline - bound);
    if (stack() && cross_all() && spend(kFlush)) return Outcome::searched;
    if (value_ < enough_) return Outcome::nearer;
    return full_ ? Outcome::full : Outcome::over;
  }

 private:
  static constexpr double kSlip = 1 + 1e-12;  // of sums of a few times
  static constexpr std::int64_t kFlush = 20'000;
  // From so small a part of the room on the sets so far say what all need, where counts can be left
  // out.
  static constexpr std::size_t kForecast = 80;
  // Labels of least area, and of nearly its own, that another is compared with.
  static constexpr std::size_t kHalvesCompared = 8;
  static constexpr double kNearer = 0.2;  // of the way from the bound to the deadline
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  // What is stacked on the processors: the steps from `first` on; job `job` was the last.
  struct Label {
    double area, low, top;  // processor seconds below it, the first step, the last
    double end;             // of the job
    std::uint32_t first, before;
    std::int8_t steps, job, procs, level;  // level: at which step of `before` the job starts
  };
  // A job on some number of processors, and what it loses against its least work.
  struct Candidate {
    double loss, time;
    int job;
  };

  bool in(JobSet jobs, int job) const { return jobs >> job & 1; }

  bool spend(std::int64_t steps) {
    if ((steps_ += steps) < kFlush) return true;
    return count_(std::exchange(steps_, 0));
  }

  // The least work of each set of jobs, and what each job loses on each number of processors.
  void measure() {
    const std::size_t sets = std::size_t{1} << jobs_;
    least_.assign(sets, 0);
    least_in_half_.assign(sets, 0);
    by_procs_.assign(machines_ + 1, {});
    for (int job = 0; job < jobs_; ++job) {
      double least = kInfinity, in_half = kInfinity;
      for (const Choice& choice : choices_[job]) {
        const double work = choice.procs * choice.time;
        if (choice.time <= deadline_) least = std::min(least, work);
        if (choice.time < half_) in_half = std::min(in_half, work);
      }
      for (const Choice& choice : choices_[job])
        if (choice.time <= deadline_)
          by_procs_[choice.procs].push_back({choice.procs * choice.time - least, choice.time, job});
      const std::size_t bit = std::size_t{1} << job;
      for (std::size_t k = 0; k < bit; ++k) {
        least_[bit | k] = least_[k] + least;
        least_in_half_[bit | k] = least_in_half_[k] + in_half;
      }
    }
    for (auto& some : by_procs_)
      std::sort(some.begin(), some.end(), [](const Candidate& a, const Candidate& b) {
        return std::pair(a.loss, a.job) < std::pair(b.loss, b.job);
      });
  }

  // Labels of all sets, each from those of one job fewer.  False: the work or the room is over.
  bool stack() {
    const JobSet all = (JobSet{1} << jobs_) - 1;
    pool_ = {{0, machines_}};
    labels_ = {{0, 0, 0, 0, 0, kNone, 1, -1, 0, 0}};
    begin_ = {0, 1};
    for (JobSet jobs = 1; jobs <= all; ++jobs) {
      fresh_.clear();
      fresh_pool_.clear();
      for (int job = 0; job < jobs_; ++job)
        if (in(jobs, job)) {
          stack_on(jobs & ~(JobSet{1} << job), job);
          full_ = fresh_pool_.size() > most_;
          if (full_ || !spend(0)) return false;
        }
      keep();
      if (patterns_) steps_ += patterns_->take_work();
      begin_.push_back(static_cast<std::uint32_t>(labels_.size()));
      full_ = pool_.size() > (pool_.size() > sure_ ? most_ * jobs / all : most_);
      if (full_) return false;
    }
    return true;
  }

  // The job on top of every label of the others, at every step where enough processors are free.
  // Beside the last job of the label, not on it, only those of higher number: either may be put
  // there first.
  void stack_on(JobSet fewer, int job) {
    const JobSet all = (JobSet{1} << jobs_) - 1;
    const JobSet others = all & ~(fewer | JobSet{1} << job);
    const double rest = least_[others];
    for (std::uint32_t at = begin_[fewer]; at < begin_[fewer + 1]; ++at) {
      const Label& label = labels_[at];
      for (const Choice& choice : choices_[job]) {
        if (label.area + choice.procs * choice.time + rest > room_) continue;
        int free = 0;
        for (int level = 0; level < label.steps; ++level) {
          const Step& step = pool_[label.first + static_cast<std::uint32_t>(level)];
          if (step.time + choice.time >= half_) break;
          free += step.count;
          if (free < choice.procs || (job < label.job && step.time < label.end)) continue;
          put(label, at, job, choice, level, free - choice.procs);
          const Label& made = fresh_.back();
          if (made.area + rest <= room_ &&
              (!patterns_ ||
               patterns_->fits(others, &fresh_pool_[made.first], made.steps, deadline_)))
            continue;
          fresh_pool_.resize(made.first);
          fresh_.pop_back();
        }
      }
    }
  }

  // On those of the processors free at the level that became free last; `left` of them stay.
  void put(const Label& label, std::uint32_t at, int job, const Choice& choice, int level,
           int left) {
    const Step* step = &pool_[label.first];
    const Step* const last = step + label.steps;
    const Step* const from = step + level;
    const double end = from->time + choice.time;
    Label made{0,
               0,
               end,
               end,
               static_cast<std::uint32_t>(fresh_pool_.size()),
               at,
               0,
               static_cast<std::int8_t>(job),
               static_cast<std::int8_t>(choice.procs),
               static_cast<std::int8_t>(level)};
    for (; left > 0; ++step) {
      fresh_pool_.push_back({step->time, std::min(left, step->count)});
      left -= step->count;
    }
    for (step = from + 1; step < last && step->time < end; ++step) fresh_pool_.push_back(*step);
    fresh_pool_.push_back({end, choice.procs});
    if (step < last && step->time == end) fresh_pool_.back().count += (step++)->count;
    fresh_pool_.insert(fresh_pool_.end(), step, last);
    for (std::size_t k = made.first; k < fresh_pool_.size(); ++k)
      made.area += fresh_pool_[k].time * fresh_pool_[k].count;
    made.low = fresh_pool_[made.first].time;
    made.top = fresh_pool_.back().time;
    made.steps = static_cast<std::int8_t>(fresh_pool_.size() - made.first);
    steps_ += made.steps;
    fresh_.push_back(made);
  }

  // The fresh labels that none of less area makes needless.
  void keep() {
    std::sort(fresh_.begin(), fresh_.end(), [](const Label& a, const Label& b) {
      return std::tie(a.area, a.low, a.top, a.first) < std::tie(b.area, b.low, b.top, b.first);
    });
    const std::size_t first = labels_.size();
    for (Label& one : fresh_) {
      const Step* const steps = &fresh_pool_[one.first];
      const auto needless = [&](std::size_t k) {
        const Step* const other = &pool_[labels_[k].first];
        ++steps_;
        return dominates(other, other + labels_[k].steps, steps, steps + one.steps);
      };
      bool needed = true;
      const std::size_t near = std::min(labels_.size(), first + kHalvesCompared);
      for (std::size_t k = first; k < near && needed; ++k) needed = !needless(k);
      // Equal ones are next to each other.
      const std::size_t far =
          std::max(near, labels_.size() - std::min(labels_.size(), kHalvesCompared));
      for (std::size_t k = labels_.size(); needed && k-- > far;) {
        if (labels_[k].area * kSlip < one.area) break;
        needed = !needless(k);
      }
      if (!needed) continue;
      one.first = static_cast<std::uint32_t>(pool_.size());
      pool_.insert(pool_.end(), steps, steps + one.steps);
      labels_.push_back(one);
    }
  }

  // Whether every processor is free no later in x.
  bool dominates(const Step* x, const Step* x_end, const Step* y, const Step* y_end) const {
    int ahead = 0;  // processors of x that are free at y's times so far, less those of y
    for (; y < y_end; ++y) {
      for (; x < x_end && x->time <= y->time; ++x) ahead += x->count;
      ahead -= y->count;
      if (ahead < 0) return false;
    }
    return true;
  }

  bool cross_all() {
    const JobSet all = (JobSet{1} << jobs_) - 1;
    for (JobSet jobs = 0; jobs <= all; ++jobs) {
      const JobSet rest = all & ~jobs;
      for (base_ = begin_[jobs]; base_ < begin_[jobs + 1]; ++base_) {
        const Label& label = labels_[base_];
        // What this half loses is lost in the other, too.
        const double slack = room_ - label.area - least_[rest];
        waste_ = (label.area - least_[jobs]) / kSlip - (kSlip - 1) * room_;
        if (slack < waste_) break;
        int p = 0;
        for (std::uint32_t k = label.first;
             k < label.first + static_cast<std::uint32_t>(label.steps); ++k)
          for (int u = 0; u < pool_[k].count; ++u, ++p) {
            free_[p] = pool_[k].time;
            below_[p + 1] = below_[p] + free_[p];
          }
        crossing_.clear();
        if (!cross(rest, 0, slack)) return false;
      }
    }
    return true;
  }

  // Jobs of `rest` on the processors from `taken` on, which become free later; `slack` is what may
  // still be lost.
  bool cross(JobSet rest, int taken, double slack) {
    if (!spend(1)) return false;
    const double unused = (machines_ - taken) * half_ - (below_[machines_] - below_[taken]);
    const double closed = slack - unused - (least_in_half_[rest] - least_[rest]);
    if (closed >= 0 && slack - unused >= waste_ &&
        !meet(rest, taken, room_ - closed - least_in_half_[rest]))
      return false;
    if (rest == 0 || !may_end(rest, taken)) return true;
    for (int q = 1; taken + q <= machines_; ++q) {
      const double start = free_[taken + q - 1];
      const double lost = q * start - (below_[taken + q] - below_[taken]);
      if (start > half_ * kSlip || lost + waste_ > slack) break;
      for (const Candidate& one : by_procs_[q]) {
        const double kept = slack - lost - one.loss;
        if (kept < waste_) break;
        const double end = start + one.time;
        if (!in(rest, one.job) || end > deadline_ || end < half_ / kSlip) continue;
        // Jobs of one start in one order.
        if (!crossing_.empty() && crossing_.back().placed.start == start &&
            one.job < crossing_.back().placed.job)
          continue;
        crossing_.push_back({{one.job, q, start}, std::max(end, half_)});
        const bool more = cross(rest & ~(JobSet{1} << one.job), taken + q, kept);
        crossing_.pop_back();
        if (!more) return false;
      }
    }
    return true;
  }

  // Whether prices let the rest end by the deadline, after what is crossed and from `taken` on.
  bool may_end(JobSet rest, int taken) {
    if (!patterns_) return true;
    ends_.clear();
    for (const Crossing& one : crossing_) ends_.push_back({one.end, one.placed.procs});
    for (int p = taken; p < machines_; ++p) {
      if (p > taken && ends_.back().time == free_[p])
        ++ends_.back().count;
      else
        ends_.push_back({free_[p], 1});
    }
    steps_ += static_cast<std::int64_t>(ends_.size());
    return patterns_->fits(rest, ends_.data(), static_cast<int>(ends_.size()), deadline_);
  }

  // What is crossed and every label of the rest, turned around.
  bool meet(JobSet rest, int taken, double area) {
    const std::uint32_t last = begin_[rest + 1];
    std::uint32_t at = begin_[rest];
    if (at == last || labels_[at].area > room_ - area) return true;
    const auto first = labels_.begin() + at;
    at += static_cast<std::uint32_t>(
        std::partition_point(first, labels_.begin() + last,
                             [&](const Label& one) { return one.area < least_[rest] + waste_; }) -
        first);
    if (at == last || labels_[at].area > room_ - area) return true;
    ends_.clear();  // by decreasing time
    for (const Crossing& one : crossing_) ends_.push_back({one.end, one.placed.procs});
    std::sort(ends_.begin(), ends_.end(),
              [](const Step& a, const Step& b) { return a.time > b.time; });
    if (taken < machines_) ends_.push_back({half_, machines_ - taken});
    steps_ += static_cast<std::int64_t>(ends_.size());
    if (patterns_ && !patterns_->fits(rest, ends_.data(), static_cast<int>(ends_.size()), value_))
      return true;
    const double earliest = ends_.back().time, latest = ends_.front().time;
    std::int64_t pairs = 0;
    for (; at < last && labels_[at].area <= room_ - area; ++at, ++pairs) {
      const Label& label = labels_[at];
      if (earliest + label.top >= value_ || latest + label.low >= value_) continue;
      const double makespan = meeting(label, ends_.data());
      if (makespan < value_ / kSlip && !offer_met(label, makespan)) return false;
    }
    return spend(pairs);
  }

  // The makespan: the latest processors below the lowest stacks.
  double meeting(const Label& label, const Step* ends) const {
    const Step* stack = &pool_[label.first];
    double longest = 0;
    int a = ends->count, b = stack->count;
    for (int left = machines_;;) {
      longest = std::max(longest, ends->time + stack->time);
      const int both = std::min(a, b);
      left -= both;
      if (left == 0 || longest >= value_) return longest;
      if ((a -= both) == 0) a = (++ends)->count;
      if ((b -= both) == 0) b = (++stack)->count;
    }
  }

  bool offer_met(const Label& label, double makespan) {
    std::vector<Placed> order;
    unstack(base_, 0, order);
    for (const Crossing& one : crossing_) order.push_back(one.placed);
    unstack(static_cast<std::uint32_t>(&label - labels_.data()), makespan, order);
    std::stable_sort(order.begin(), order.end(),
                     [](const Placed& a, const Placed& b) { return a.start < b.start; });
    value_ = (*offer_)(std::move(order));
    return value_ >= enough_;
  }

  // The jobs of a label: from 0 on, or, where `end` > 0, back from there.
  void unstack(std::uint32_t label, double end, std::vector<Placed>& into) const {
    for (; labels_[label].before != kNone; label = labels_[label].before) {
      const Label& one = labels_[label];
      double start = start_of(one);
      if (end > 0) {
        for (const Choice& choice : choices_[one.job])
          if (choice.procs == one.procs) start = end - start - choice.time;
      }
      into.push_back({one.job, one.procs, start});
    }
  }

  double start_of(const Label& label) const {
    return pool_[labels_[label.before].first + static_cast<std::uint32_t>(label.level)].time;
  }

  std::vector<std::vector<Choice>> choices_;
  int jobs_, machines_;
  Count count_;
  std::size_t most_, sure_;  // steps of labels: the room; from where on it is forecast
  std::int64_t steps_ = 0;   // not counted yet
  bool full_ = false;

  double deadline_ = 0, half_ = 0, room_ = 0, value_ = 0, enough_ = 0;
  ProcessorPatterns* patterns_ = nullptr;
  const Offer* offer_ = nullptr;
  std::vector<double> least_, least_in_half_;     // work, of each set of jobs
  std::vector<std::vector<Candidate>> by_procs_;  // by increasing loss

  std::vector<Label> labels_;         // of all sets, those of a set by increasing area
  std::vector<std::uint32_t> begin_;  // of a set
  std::vector<Step> pool_;
  std::vector<Label> fresh_;  // of the set that is made
  std::vector<Step> fresh_pool_;

  std::uint32_t base_ = 0;            // the label that is crossed
  double waste_ = 0;                  // what it loses, but for rounding
  std::vector<double> free_, below_;  // of each processor in it; sums of those before
  struct Crossing {
    Placed placed;
    double end;
  };
  std::vector<Crossing> crossing_;
  std::vector<Step> ends_;  // of all processors, for may_end() and meet()
};

}  // namespace cosched::moldable::search
