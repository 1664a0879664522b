// Few jobs, the makespan: schedules of two halves that meet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

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

/// Cut a schedule that is shorter than D at D/2: jobs A end before, jobs C start then or later, jobs X
/// are between.  On each processor what belongs to A lies below what belongs to X, at most one job,
/// and that below what belongs to C.  So all that matters of A is when how many processors are free
/// (a label), and turned around in time C is a label of the same kind: no schedule is lost where
///   - a label of each set of jobs that are stacked in any order within D/2 is kept unless another
///     of the set has every processor free no later;
///   - of two jobs of which neither lies on the other the one of lower number is stacked first: a label of
///     the same set that is as good, whose last job has the highest number, is always made;
///   - on a label of A, jobs X take the processors in the order in which these become free;
///   - what they leave is paired with every label of C, early processors with tall stacks.
/// Turned around if need be, A loses no more than C (area above the least work of its jobs): only such
/// A, and to them such C, are tried, so A loses at most half of what may be lost.  A job X that ends
/// before D/2 makes another schedule, where it is one of A and X are fewer: there it is found.
/// Labels are dropped whose area, with the least work of all other jobs, is above m D: what is lost
/// before and after is known to both halves, and few labels of near half the jobs are left where
/// one search from the start would meet those of all.
/// Exact where all jobs are there from the start.  Prices (patterns.hpp) drop more labels.
class Halves {
 public:
  /// Adds steps of work; false: no more.  May throw as check_interrupt().
  using Count = std::function<bool(std::int64_t)>;
  /// A schedule, in the order of its starts: each job starts as early as that lets it.  Returns the value to be beaten.
  using Offer = std::function<double(std::vector<Placed>)>;

  /// Up to kMostHalvedJobs jobs and kMostHalvedMachines processors.
  Halves(std::vector<std::vector<Choice>> choices, int machines, Count count,
         std::size_t room = kHalvesRoom);

  enum class Outcome {
    searched,  // all of it
    nearer,  // a schedule was found that is so much shorter than the deadline that it is the better one
    full,  // there was no room for all labels, or none by what the first took
    over   // the work was over
  };

  /// Offers schedules shorter than `value`: where any is shorter than `deadline`, at least one that
  /// is, not always the best.  `patterns`: may be null.  Requires bound <= deadline <= value; no schedule is
  /// shorter than `bound`.
  Outcome search(double bound, double deadline, double value, ProcessorPatterns* patterns,
                 const Offer& offer);

 private:
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
  bool spend(std::int64_t steps);
  void measure();
  bool stack();
  void stack_on(JobSet fewer, int job);
  void put(const Label& label, std::uint32_t at, int job, const Choice& choice, int level,
           int left);
  void keep();
  bool dominates(const Step* x, const Step* x_end, const Step* y, const Step* y_end) const;
  bool cross_all();
  bool cross(JobSet rest, int taken, double slack);
  bool may_end(JobSet rest, int taken);
  bool meet(JobSet rest, int taken, double area);
  double meeting(const Label& label, const Step* ends) const;
  bool offer_met(const Label& label, double makespan);
  void unstack(std::uint32_t label, double end, std::vector<Placed>& into) const;
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
