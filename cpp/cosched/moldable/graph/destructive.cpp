#include "cosched/moldable/graph/destructive.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/moldable/graph/project_search.hpp"
#include "cosched/moldable/graph/project_windows.hpp"
#include "cosched/moldable/graph/windows_bound.hpp"

namespace cosched::moldable::graph {
namespace {

// Work of windows at most: seconds, which jobs by the hundred need.
constexpr std::int64_t kMaxWindowWork = 3'000'000'000;
// The search for one makespan may do this share of the work that is left.
constexpr double kWorkShare = 0.25;
// Share of the old rating in the new one: Vilim, Laborie and Shaw use 0.9 to 0.99.
constexpr double kRatingDecay = 0.9;
// Decisions on a path of the search at most: each keeps the windows before it in memory.
constexpr int kMaxDepth = 1000;
// Windows are not halved where a job can move by less than this share of its time: times that are
// no integers would be halved for ever.
constexpr double kLeastFreedom = 1e-3;

// A choice between two branches: the order of a conflict, or the half of a window in which a job
// starts.
struct Decision {
  bool is_order;
  int number;  // of the conflict, or of the job
};

// Refutes makespans by failure-directed search (Vilim, Laborie, Shaw 2015); see destructive.hpp.
class FailureDirectedSearch {
 public:
  // `propagation` must outlive it.
  explicit FailureDirectedSearch(ProjectWindows& propagation) : propagation_(propagation) {
    order_ratings_.assign(propagation_.conflicts().size(), {1, 1});
    half_ratings_.assign(propagation_.jobs(), {1, 1});
    local_ratings_at_depth_.assign(kMaxDepth, {0, 0});
  }

  // True: no schedule has this makespan.  False, too, where so much work does not suffice to tell.
  // What the search has learnt about decisions helps with the next makespan.
  bool refute(double makespan, std::int64_t work) {
    Windows windows = propagation_.initial_windows(makespan);
    propagation_.allow_work(work);
    size_unit_ = has_integer_times() ? 1 : kLeastFreedom * makespan;
    const bool is_consistent = propagation_.shrink(windows, true);
    return !is_consistent || refute(windows, 0);
  }

 private:
  bool has_integer_times() const { return propagation_.has_integer_times(); }

  // True: no schedule keeps the windows, which are shrunk.  Takes the decision by whose branches
  // most searches failed, or windows shrank most, and first the better of its branches.  Energetic
  // reasoning is left out: below the root it cost ten times what it saved (generated projects of 60
  // jobs).
  bool refute(const Windows& windows, int depth) {
    if (propagation_.remaining_work() <= 0 || depth == kMaxDepth) return false;
    const std::optional<Decision> decision = choose_decision(windows);
    if (!decision) return false;
    const double size = log_size(windows);
    std::array<double, 2>& ratings =
        decision->is_order ? order_ratings_[decision->number] : half_ratings_[decision->number];
    const int first_branch = ratings[0] <= ratings[1] ? 0 : 1;
    for (const int branch : {first_branch, 1 - first_branch}) {
      Windows branch_windows = windows;
      decide(branch_windows, *decision, branch);
      const bool is_consistent = propagation_.shrink(branch_windows, false);
      const double local_rating =
          is_consistent ? 1 + std::exp2(log_size(branch_windows) - size) : 0;
      rate(ratings[branch], local_rating, depth);
      const bool is_branch_refuted = !is_consistent || refute(branch_windows, depth + 1);
      if (!is_branch_refuted) return false;
    }
    return true;
  }

  // The logarithm of how many starts the windows leave.
  double log_size(const Windows& windows) const {
    double sum = 0;
    for (int i = 0; i < propagation_.jobs(); ++i) {
      const double freedom =
          std::max(0.0, ProjectWindows::length(windows, i) - propagation_.least_time(windows, i));
      sum += std::log2(1 + freedom / size_unit_);
    }
    return sum;
  }

  // Notes the local rating of a branch: 0 where it failed, else 1 and the share of the starts left;
  // relative to what is usual at that depth.
  void rate(double& rating, double local_rating, int depth) {
    auto& [sum, count] = local_ratings_at_depth_[depth];
    sum += local_rating;
    count += 1;
    const double relative = sum > 0 ? local_rating / (sum / count) : 0;
    rating = kRatingDecay * rating + (1 - kRatingDecay) * relative;
  }

  void decide(Windows& windows, const Decision& decision, int branch) const {
    if (decision.is_order) {
      const auto& [i, k] = propagation_.conflicts()[decision.number];
      propagation_.set_order(windows, branch == 0 ? i : k, branch == 0 ? k : i);
      return;
    }
    const int job = decision.number;
    const double time = propagation_.modes(job).front().time;
    const double latest_start = windows.latest_end[job] - time;
    double middle = (windows.earliest_start[job] + latest_start) / 2;
    if (has_integer_times()) middle = std::floor(middle);
    if (branch == 0)
      windows.latest_end[job] = middle + time;
    else
      windows.earliest_start[job] = has_integer_times() ? middle + 1 : middle;
  }

  // The open decision with the lowest ratings; none: every conflict has an order, and no job on
  // one count can move.
  std::optional<Decision> choose_decision(const Windows& windows) const {
    std::optional<Decision> best;
    double lowest = kInfinity;
    const auto offer = [&](const Decision& decision, const std::array<double, 2>& ratings) {
      if (ratings[0] + ratings[1] >= lowest) return;
      lowest = ratings[0] + ratings[1];
      best = decision;
    };
    for (int c = 0; c < static_cast<int>(propagation_.conflicts().size()); ++c)
      if (!propagation_.has_order(windows, propagation_.conflicts()[c].first,
                                  propagation_.conflicts()[c].second))
        offer({true, c}, order_ratings_[c]);
    for (int i = 0; i < propagation_.jobs(); ++i)
      if (propagation_.modes(i).size() == 1 && can_move(windows, i))
        offer({false, i}, half_ratings_[i]);
    return best;
  }

  bool can_move(const Windows& windows, int i) const {
    const double time = propagation_.modes(i).front().time;
    const double least = has_integer_times() ? 0 : kLeastFreedom * time;
    return ProjectWindows::length(windows, i) - time > std::max(propagation_.tolerance(), least);
  }

  ProjectWindows& propagation_;
  // Of the branches of each decision: low where it fails, or shrinks windows.
  std::vector<std::array<double, 2>> order_ratings_, half_ratings_;
  std::vector<std::pair<double, double>> local_ratings_at_depth_;  // sum and number
  double size_unit_ = 1;                                           // seconds
};

bool is_too_large(const Instance& instance) {
  const std::int64_t counts =
      static_cast<std::int64_t>(instance.jobs()) * instance.useful_machines();
  return instance.jobs() > kMostDestructiveJobs || counts > kMostDestructiveCounts;
}

// Raises a bound step by step; a time limit leaves what it has reached.
class DestructiveBound {
 public:
  DestructiveBound(const Instance& instance, double low, double high)
      : instance_(instance), windows_(instance), low_(low), high_(high) {}

  double value() const { return project_search_ ? std::max(low_, project_search_->bound()) : low_; }
  std::optional<Placement> placement() const {
    return project_search_ ? project_search_->placement() : std::nullopt;
  }

  void improve(std::int64_t work) {
    if (windows_.has_integer_times()) low_ = std::ceil(low_ - kIntegerTolerance);
    raise_by_windows(windows_, low_, high_, kMaxWindowWork);
    if (low_ >= high_) return;
    project_search_ = ProjectSearch::make(instance_, low_, high_);
    if (project_search_ == nullptr)
      raise_by_search(work);
    else
      project_search_->improve(work);
  }

 private:
  // Searches for the makespan just below the schedule's, and then, by bisection, for others while
  // work is left.
  void raise_by_search(std::int64_t work) {
    FailureDirectedSearch search(windows_);
    double unrefuted_makespan = std::isfinite(high_) ? high_ : 2 * low_ + 1;
    double makespan = windows_.has_integer_times()
                          ? std::ceil(unrefuted_makespan - kIntegerTolerance) - 1
                          : std::max(low_, unrefuted_makespan * (1 - kBoundGap));
    while (work > 0 && !is_gap_closed(windows_, low_, unrefuted_makespan)) {
      const auto share = static_cast<std::int64_t>(kWorkShare * static_cast<double>(work)) + 1;
      const bool is_refuted = search.refute(makespan, share);
      work -= share - std::max<std::int64_t>(0, windows_.remaining_work());
      if (is_refuted)
        low_ = std::max(low_, above_refuted(windows_, makespan));
      else
        unrefuted_makespan = makespan;
      makespan = halfway(windows_, low_, unrefuted_makespan);
    }
  }

  const Instance& instance_;
  ProjectWindows windows_;
  std::unique_ptr<ProjectSearch> project_search_;  // where it suits the instance
  double low_, high_;
};

}  // namespace

DestructiveResult destructive_bound(const Instance& instance, double low, double high,
                                    std::int64_t work, std::optional<double> time_limit) {
  if (is_too_large(instance)) return {low, true, std::nullopt};
  DestructiveBound bound(instance, low, high);
  const bool is_complete = finishes_within(time_limit, [&] { bound.improve(work); });
  return {std::max(low, bound.value()), is_complete, bound.placement()};
}

}  // namespace cosched::moldable::graph
