#include "cosched/moldable/graph/destructive.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/moldable/graph/precedence.hpp"

namespace cosched::moldable::graph {
namespace {

// Of the makespan: windows and sums that differ by less count as equal.  Wider than
// kExactTolerance, by which validators let schedules exceed capacities.
constexpr double kWindowTolerance = 1e-8;
// Integers that are computed in floating point are that close to their value.
constexpr double kIntegerTolerance = 1e-6;
// Of the makespan: how closely bounds are found where times are no integers.
constexpr double kBoundGap = 1e-6;
// The search for one makespan may do this share of the work that is left.
constexpr double kWorkShare = 0.25;
// Share of the old rating in the new one: Vilim, Laborie and Shaw use 0.9 to 0.99.
constexpr double kRatingDecay = 0.9;
// Decisions on a path of the search: each keeps the windows before it in memory.
constexpr int kMostDepth = 1000;
// Windows are not halved where a job can move by less than this share of its time: times that are
// no integers would be halved for ever.
constexpr double kLeastFreedom = 1e-3;

// A count on which a job can run.
struct Mode {
  double time;
  std::vector<double> shares;  // of the machine, and of each resource's capacity
};

// When each job may run, and which pairs have an order.
struct Windows {
  std::vector<double> earliest_start, latest_end;
  std::vector<char> is_before;  // job i ends before job k starts: at i * jobs + k
};

// A choice between two ways: the order of a conflict, or the half of a window in which a job
// starts.
struct Decision {
  bool is_order;
  int number;  // of the conflict, or of the job
};

// A part of the time, and the share of a row that those need which surely run then.
struct ProfileStep {
  double begin, end, share;
};

// Refutes makespans by windows and by a search; see destructive.hpp.  A row is the machine (0) or
// a resource.
class Refutation {
 public:
  explicit Refutation(const Instance& instance)
      : instance_(instance), jobs_(instance.jobs()), graph_(instance) {
    read_modes();
    order_by_graph();
    find_conflicts();
    order_ratings_.assign(conflicts_.size(), {1, 1});
    half_ratings_.assign(jobs_, {1, 1});
    local_ratings_at_depth_.assign(kMostDepth, {0, 0});
  }

  // Whether only integer makespans have to be looked at.
  bool has_integer_times() const { return has_integer_times_; }

  // True: no schedule has this makespan, by windows alone.
  bool refute_by_windows(double makespan) {
    Windows windows = windows_of(makespan);
    remaining_work_ = std::numeric_limits<std::int64_t>::max();
    return !shrink(windows, true);
  }

  // True: no schedule has this makespan.  False, too, where so much work does not suffice to tell.
  // What the search has learnt about decisions helps with the next makespan.
  bool refute_by_search(double makespan, std::int64_t work) {
    Windows windows = windows_of(makespan);
    remaining_work_ = work;
    size_unit_ = has_integer_times_ ? 1 : kLeastFreedom * makespan;
    const bool is_consistent = shrink(windows, true);
    return !is_consistent || refute(windows, 0);
  }

  // Of the last search; below 0: it used a little more than it was given.
  std::int64_t remaining_work() const { return remaining_work_; }

 private:
  // --- what does not depend on the makespan

  int rows() const { return 1 + (instance_.sharing() ? instance_.sharing()->resources() : 0); }

  static bool is_integer(double value) { return value == std::floor(value); }

  void read_modes() {
    const Sharing* sharing = instance_.sharing();
    has_integer_times_ = sharing == nullptr || !sharing->slows();
    modes_.resize(jobs_);
    for (int i = 0; i < jobs_; ++i) {
      has_integer_times_ = has_integer_times_ && is_integer(instance_.release(i));
      for (int q = 1; q <= instance_.useful_machines(); ++q) {
        const double time = instance_.exact_time(i, q);
        if (time == kInfinity) continue;
        Mode mode = mode_of(i, q, time);
        const double largest_share = *std::max_element(mode.shares.begin(), mode.shares.end());
        if (largest_share > 1 + kExactTolerance) continue;
        has_integer_times_ = has_integer_times_ && is_integer(time);
        modes_[i].push_back(std::move(mode));
      }
    }
  }

  Mode mode_of(int i, int q, double time) const {
    Mode mode{time, {q / static_cast<double>(instance_.machines())}};
    for (int r = 0; r + 1 < rows(); ++r) {
      const double need = instance_.sharing()->need(r, i, q);
      mode.shares.push_back(need > 0 ? need / instance_.sharing()->capacity(r) : 0.0);
    }
    return mode;
  }

  // Which jobs precede which, by paths of the graph.
  void order_by_graph() {
    is_before_by_graph_.assign(static_cast<std::size_t>(jobs_) * jobs_, 0);
    const std::vector<int>& order = graph_->order();
    for (auto job = order.rbegin(); job != order.rend(); ++job)
      for (const int next : graph_->successors(*job)) {
        is_before_by_graph_[pair_index(*job, next)] = 1;
        for (int k = 0; k < jobs_; ++k)
          if (is_before_by_graph_[pair_index(next, k)])
            is_before_by_graph_[pair_index(*job, k)] = 1;
      }
  }

  std::size_t pair_index(int i, int k) const {
    return static_cast<std::size_t>(i) * static_cast<std::size_t>(jobs_) +
           static_cast<std::size_t>(k);
  }

  // Pairs that exceed a capacity on whatever counts they run, so that one ends before the other.
  void find_conflicts() {
    for (int i = 0; i < jobs_; ++i)
      for (int k = i + 1; k < jobs_; ++k) {
        const bool has_path =
            is_before_by_graph_[pair_index(i, k)] || is_before_by_graph_[pair_index(k, i)];
        if (!has_path && exceed_a_row(i, k)) conflicts_.emplace_back(i, k);
      }
  }

  bool exceed_a_row(int i, int k) const {
    for (int row = 0; row < rows(); ++row)
      if (least_share(i, row) + least_share(k, row) > 1 + kWindowTolerance) return true;
    return false;
  }

  double least_share(int i, int row) const {
    double least = kInfinity;
    for (const Mode& mode : modes_[i]) least = std::min(least, mode.shares[row]);
    return least;
  }

  // --- windows

  Windows windows_of(double makespan) {
    tolerance_ = kWindowTolerance * makespan;
    Windows windows{instance_.releases(), std::vector<double>(jobs_, makespan),
                    is_before_by_graph_};
    windows.earliest_start.resize(jobs_, 0.0);
    return windows;
  }

  static double length(const Windows& windows, int i) {
    return windows.latest_end[i] - windows.earliest_start[i];
  }

  // The least time of a job on a count that its window allows; infinite: there is none.
  double least_time(const Windows& windows, int i) const {
    double least = kInfinity;
    for (const Mode& mode : modes_[i]) least = std::min(least, mode.time);
    return least <= length(windows, i) + tolerance_ ? least : kInfinity;
  }

  // Counts about a nanosecond for each term of a sum.
  void spend(std::size_t terms) {
    remaining_work_ -= static_cast<std::int64_t>(terms);
    poll_.count(static_cast<std::int64_t>(terms));
  }

  // Moves the earliest start of a job to at least `start`; true: that changed it.
  bool raise_start(Windows& windows, int i, double start) const {
    if (has_integer_times_) start = std::ceil(start - kIntegerTolerance);
    if (start <= windows.earliest_start[i] + tolerance_) return false;
    windows.earliest_start[i] = start;
    return true;
  }

  // Moves the latest end of a job to at most `end`; true: that changed it.
  bool lower_end(Windows& windows, int i, double end) const {
    if (has_integer_times_) end = std::floor(end + kIntegerTolerance);
    if (end >= windows.latest_end[i] - tolerance_) return false;
    windows.latest_end[i] = end;
    return true;
  }

  // Shrinks windows until nothing changes, or the work is spent; false: no schedule keeps them.
  bool shrink(Windows& windows, bool with_energy) {
    bool has_changed = true;
    bool is_consistent = true;
    while (is_consistent && has_changed && remaining_work_ > 0) {
      has_changed = false;
      is_consistent = shrink_by_orders(windows);
      if (is_consistent) is_consistent = order_conflicts(windows, has_changed);
      for (int row = 0; is_consistent && row < rows(); ++row)
        is_consistent = shrink_by_profile(windows, row, has_changed);
      if (has_changed || !with_energy) continue;
      for (int row = 0; is_consistent && row < rows(); ++row)
        is_consistent = shrink_by_energy(windows, row, has_changed);
    }
    return is_consistent;
  }

  // --- orders

  // A job starts after the earliest ends of those before it, and ends before the latest starts of
  // those behind it; false: a window is too short for its job.
  bool shrink_by_orders(Windows& windows) {
    for (bool has_changed = true; has_changed;) {
      has_changed = false;
      spend(is_before_by_graph_.size());
      for (int i = 0; i < jobs_; ++i) {
        const double time = least_time(windows, i);
        if (time == kInfinity) return false;
        for (int k = 0; k < jobs_; ++k) {
          if (!windows.is_before[pair_index(i, k)]) continue;
          const double next_time = least_time(windows, k);
          if (next_time == kInfinity) return false;
          const bool has_start_changed = raise_start(windows, k, windows.earliest_start[i] + time);
          const bool has_end_changed = lower_end(windows, i, windows.latest_end[k] - next_time);
          has_changed = has_changed || has_start_changed || has_end_changed;
        }
        if (least_time(windows, i) == kInfinity) return false;
      }
    }
    return true;
  }

  bool has_order(const Windows& windows, int i, int k) const {
    return windows.is_before[pair_index(i, k)] || windows.is_before[pair_index(k, i)];
  }

  // Whether job i can end before job k starts.
  bool can_precede(const Windows& windows, int i, int k) const {
    const double earliest_end = windows.earliest_start[i] + least_time(windows, i);
    const double latest_start = windows.latest_end[k] - least_time(windows, k);
    return earliest_end <= latest_start + tolerance_;
  }

  // Orders the conflicts of which only one order is possible; false: of one of them none is.
  bool order_conflicts(Windows& windows, bool& has_changed) {
    spend(conflicts_.size());
    for (const auto& [i, k] : conflicts_) {
      if (has_order(windows, i, k)) continue;
      const bool first_can_precede = can_precede(windows, i, k);
      const bool second_can_precede = can_precede(windows, k, i);
      if (!first_can_precede && !second_can_precede) return false;
      if (first_can_precede && second_can_precede) continue;
      windows.is_before[first_can_precede ? pair_index(i, k) : pair_index(k, i)] = 1;
      has_changed = true;
    }
    return true;
  }

  // --- timetabling

  // The jobs that surely need some of a row for some time, and the least share that each needs.
  void choose_profile_users(const Windows& windows, int row) {
    users_.clear();
    least_shares_.assign(jobs_, kInfinity);
    for (int i = 0; i < jobs_; ++i) {
      for (const Mode& mode : modes_[i])
        if (mode.time <= length(windows, i) + tolerance_)
          least_shares_[i] = std::min(least_shares_[i], mode.shares[row]);
      if (least_shares_[i] > 0) users_.push_back(i);
    }
  }

  // What surely runs: each job from its latest start to its earliest end.
  void make_profile(const Windows& windows) {
    changes_.clear();
    for (const int i : users_) {
      const double time = least_time(windows, i);
      const double latest_start = windows.latest_end[i] - time;
      const double earliest_end = windows.earliest_start[i] + time;
      if (earliest_end <= latest_start + tolerance_) continue;
      changes_.emplace_back(latest_start, least_shares_[i]);
      changes_.emplace_back(earliest_end, -least_shares_[i]);
    }
    std::sort(changes_.begin(), changes_.end());
    profile_.clear();
    double share = 0;
    for (std::size_t k = 0; k + 1 < changes_.size(); ++k) {
      share += changes_[k].second;
      if (changes_[k + 1].first > changes_[k].first + tolerance_)
        profile_.push_back({changes_[k].first, changes_[k + 1].first, share});
    }
  }

  // No job runs where too little is left beside what surely runs; false: a capacity is exceeded,
  // or a window too short.
  bool shrink_by_profile(Windows& windows, int row, bool& has_changed) {
    choose_profile_users(windows, row);
    make_profile(windows);
    spend(users_.size() * (1 + profile_.size()));
    for (const ProfileStep& step : profile_)
      if (step.share > 1 + kWindowTolerance) return false;
    for (const int i : users_) {
      const double time = least_time(windows, i);
      if (time == kInfinity) return false;
      const double start = first_start_beside_profile(windows, i, time);
      const double end = last_end_beside_profile(windows, i, time);
      const bool has_start_changed = raise_start(windows, i, start);
      const bool has_end_changed = lower_end(windows, i, end);
      has_changed = has_changed || has_start_changed || has_end_changed;
      if (least_time(windows, i) == kInfinity) return false;
    }
    return true;
  }

  // Whether a job does not fit beside the others that surely run in a step.
  bool is_closed(const Windows& windows, int i, double time, const ProfileStep& step) const {
    const bool is_own = step.begin >= windows.latest_end[i] - time - tolerance_ &&
                        step.end <= windows.earliest_start[i] + time + tolerance_;
    const double others_share = is_own ? step.share - least_shares_[i] : step.share;
    return others_share + least_shares_[i] > 1 + kWindowTolerance;
  }

  double first_start_beside_profile(const Windows& windows, int i, double time) const {
    double start = windows.earliest_start[i];
    for (const ProfileStep& step : profile_) {
      const bool overlaps = step.end > start + tolerance_ && step.begin < start + time - tolerance_;
      if (overlaps && is_closed(windows, i, time, step)) start = step.end;
    }
    return start;
  }

  double last_end_beside_profile(const Windows& windows, int i, double time) const {
    double end = windows.latest_end[i];
    for (auto step = profile_.rbegin(); step != profile_.rend(); ++step) {
      const bool overlaps = step->begin < end - tolerance_ && step->end > end - time + tolerance_;
      if (overlaps && is_closed(windows, i, time, *step)) end = step->begin;
    }
    return end;
  }

  // --- energetic reasoning

  // Seconds of [begin, end) in which a job runs that starts at `start` and takes `time`.
  static double overlap(double begin, double end, double start, double time) {
    return std::max(0.0, std::min(end, start + time) - std::max(begin, start));
  }

  // The least energy of a job in an interval, over the counts and starts that its window allows:
  // that of its first or of its last start.
  double least_energy(const Windows& windows, int i, int row, double begin, double end) const {
    double least = kInfinity;
    for (const Mode& mode : modes_[i]) {
      if (mode.time > length(windows, i) + tolerance_) continue;
      const double first = overlap(begin, end, windows.earliest_start[i], mode.time);
      const double last = overlap(begin, end, windows.latest_end[i] - mode.time, mode.time);
      least = std::min(least, mode.shares[row] * std::min(first, last));
    }
    return least;
  }

  // Intervals begin at earliest and latest starts of the jobs that need some of a row, and end at
  // their earliest and latest ends.
  void choose_intervals(const Windows& windows, int row) {
    begins_.clear();
    ends_.clear();
    users_.clear();
    for (int i = 0; i < jobs_; ++i) {
      const double time = least_time(windows, i);
      const bool needs_row = std::any_of(modes_[i].begin(), modes_[i].end(),
                                         [&](const Mode& mode) { return mode.shares[row] > 0; });
      if (!needs_row) continue;
      users_.push_back(i);
      begins_.insert(begins_.end(), {windows.earliest_start[i], windows.latest_end[i] - time});
      ends_.insert(ends_.end(), {windows.latest_end[i], windows.earliest_start[i] + time});
    }
    for (std::vector<double>* const points : {&begins_, &ends_}) {
      std::sort(points->begin(), points->end());
      points->erase(std::unique(points->begin(), points->end()), points->end());
    }
  }

  // False: the jobs need more in an interval than there is, or a window is too short.
  bool shrink_by_energy(Windows& windows, int row, bool& has_changed) {
    choose_intervals(windows, row);
    energies_.resize(jobs_);
    for (const double begin : begins_)
      for (const double end : ends_) {
        if (end <= begin + tolerance_) continue;
        if (remaining_work_ <= 0) return true;
        spend(2 * users_.size());
        double slack = end - begin;
        for (const int i : users_) {
          energies_[i] = least_energy(windows, i, row, begin, end);
          slack -= energies_[i];
        }
        if (slack < -tolerance_) return false;
        for (const int i : users_) {
          const double available = std::max(0.0, slack + energies_[i]);
          const bool is_possible =
              shrink_by_slack(windows, i, row, begin, end, available, has_changed);
          if (!is_possible) return false;
        }
      }
    return true;
  }

  // A job that may have at most `available` energy in an interval starts no earlier, and ends no
  // later, than that lets it; false: its window is too short then.
  bool shrink_by_slack(Windows& windows, int i, int row, double begin, double end, double available,
                       bool& has_changed) const {
    double start = kInfinity, latest_end = -kInfinity;
    for (const Mode& mode : modes_[i]) {
      if (mode.time > length(windows, i) + tolerance_) continue;
      const double share = mode.shares[row];
      const auto takes_too_much = [&](double mode_start) {
        return share * overlap(begin, end, mode_start, mode.time) > available + tolerance_;
      };
      const double seconds = share > 0 ? available / share + tolerance_ : kInfinity;
      const bool is_first_too_early = takes_too_much(windows.earliest_start[i]);
      const bool is_last_too_late = takes_too_much(windows.latest_end[i] - mode.time);
      start = std::min(start, is_first_too_early ? end - seconds : windows.earliest_start[i]);
      latest_end = std::max(latest_end, is_last_too_late ? begin + seconds : windows.latest_end[i]);
    }
    const bool has_start_changed = raise_start(windows, i, start);
    const bool has_end_changed = lower_end(windows, i, latest_end);
    has_changed = has_changed || has_start_changed || has_end_changed;
    return least_time(windows, i) < kInfinity;
  }

  // --- the search

  // True: no schedule keeps the windows, which are shrunk.  Takes the decision by whose ways most
  // searches failed, or windows shrank most, and first the better of its ways.  Energetic reasoning
  // is left out: below the root it cost ten times what it saved (generated projects of 60 jobs).
  bool refute(const Windows& windows, int depth) {
    if (remaining_work_ <= 0 || depth == kMostDepth) return false;
    const std::optional<Decision> decision = choose_decision(windows);
    if (!decision) return false;
    const double size = log_size(windows);
    std::array<double, 2>& ratings =
        decision->is_order ? order_ratings_[decision->number] : half_ratings_[decision->number];
    const int first_way = ratings[0] <= ratings[1] ? 0 : 1;
    for (const int way : {first_way, 1 - first_way}) {
      Windows decided = windows;
      decide(decided, *decision, way);
      const bool is_consistent = shrink(decided, false);
      const double local_rating = is_consistent ? 1 + std::exp2(log_size(decided) - size) : 0;
      rate(ratings[way], local_rating, depth);
      const bool is_way_refuted = !is_consistent || refute(decided, depth + 1);
      if (!is_way_refuted) return false;
    }
    return true;
  }

  // The logarithm of how many starts the windows leave.
  double log_size(const Windows& windows) const {
    double sum = 0;
    for (int i = 0; i < jobs_; ++i) {
      const double freedom = std::max(0.0, length(windows, i) - least_time(windows, i));
      sum += std::log2(1 + freedom / size_unit_);
    }
    return sum;
  }

  // Notes the local rating of a way: 0 where it failed, else 1 and the share of the starts left;
  // relative to what is usual at that depth.
  void rate(double& rating, double local_rating, int depth) {
    auto& [sum, count] = local_ratings_at_depth_[depth];
    sum += local_rating;
    count += 1;
    const double relative = sum > 0 ? local_rating / (sum / count) : 0;
    rating = kRatingDecay * rating + (1 - kRatingDecay) * relative;
  }

  void decide(Windows& windows, const Decision& decision, int way) const {
    if (decision.is_order) {
      const auto& [i, k] = conflicts_[decision.number];
      windows.is_before[way == 0 ? pair_index(i, k) : pair_index(k, i)] = 1;
      return;
    }
    const int job = decision.number;
    const double time = modes_[job].front().time;
    const double latest_start = windows.latest_end[job] - time;
    double middle = (windows.earliest_start[job] + latest_start) / 2;
    if (has_integer_times_) middle = std::floor(middle);
    if (way == 0)
      windows.latest_end[job] = middle + time;
    else
      windows.earliest_start[job] = has_integer_times_ ? middle + 1 : middle;
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
    for (int c = 0; c < static_cast<int>(conflicts_.size()); ++c)
      if (!has_order(windows, conflicts_[c].first, conflicts_[c].second))
        offer({true, c}, order_ratings_[c]);
    for (int i = 0; i < jobs_; ++i)
      if (modes_[i].size() == 1 && can_move(windows, i)) offer({false, i}, half_ratings_[i]);
    return best;
  }

  bool can_move(const Windows& windows, int i) const {
    const double time = modes_[i].front().time;
    const double least = has_integer_times_ ? 0 : kLeastFreedom * time;
    return length(windows, i) - time > std::max(tolerance_, least);
  }

  const Instance& instance_;
  const int jobs_;
  const Precedence graph_;
  std::vector<std::vector<Mode>> modes_;
  bool has_integer_times_ = true;
  std::vector<char> is_before_by_graph_;
  std::vector<std::pair<int, int>> conflicts_;
  double tolerance_ = 0;  // seconds
  std::int64_t remaining_work_ = 0;
  Poll poll_;
  // Of the ways of each decision: low where it fails, or shrinks windows.
  std::vector<std::array<double, 2>> order_ratings_, half_ratings_;
  std::vector<std::pair<double, double>> local_ratings_at_depth_;  // sum and number
  double size_unit_ = 1;                                           // seconds
  // Scratch space.
  std::vector<int> users_;
  std::vector<double> least_shares_, begins_, ends_, energies_;
  std::vector<std::pair<double, double>> changes_;
  std::vector<ProfileStep> profile_;
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
      : refutation_(instance), low_(low), high_(high) {}

  double value() const { return low_; }

  void improve(std::int64_t work) {
    if (has_integer_times()) low_ = std::ceil(low_ - kIntegerTolerance);
    if (low_ < high_) raise_by_windows();
    if (low_ < high_) raise_by_search(work);
  }

 private:
  bool has_integer_times() const { return refutation_.has_integer_times(); }

  // Notes that a makespan is refuted.
  void raise_above(double makespan) {
    low_ = std::max(low_, has_integer_times() ? makespan + 1 : makespan);
  }

  double halfway_to(double open) const {
    const double middle = low_ + (open - low_) / 2;
    return has_integer_times() ? std::floor(middle) : middle;
  }

  bool is_close_to(double open) const {
    return has_integer_times() ? low_ > open - 0.5 : low_ > open * (1 - kBoundGap);
  }

  // Bisection between a makespan that windows refute and one that they do not.
  void raise_by_windows() {
    double open = low_;
    while (open < high_ && refutation_.refute_by_windows(open)) {
      raise_above(open);
      open = std::min(2 * open, high_);
    }
    while (!is_close_to(open)) {
      const double middle = halfway_to(open);
      if (refutation_.refute_by_windows(middle))
        raise_above(middle);
      else
        open = middle;
    }
  }

  // Searches for the makespan just below the schedule's, and then, by bisection, for others while
  // work is left.
  void raise_by_search(std::int64_t work) {
    double open = std::isfinite(high_) ? high_ : 2 * low_ + 1;
    double makespan = has_integer_times() ? std::ceil(open - kIntegerTolerance) - 1
                                          : std::max(low_, open * (1 - kBoundGap));
    while (work > 0 && !is_close_to(open)) {
      const auto share = static_cast<std::int64_t>(kWorkShare * static_cast<double>(work)) + 1;
      const bool is_refuted = refutation_.refute_by_search(makespan, share);
      work -= share - std::max<std::int64_t>(0, refutation_.remaining_work());
      if (is_refuted)
        raise_above(makespan);
      else
        open = makespan;
      makespan = halfway_to(open);
    }
  }

  Refutation refutation_;
  double low_, high_;
};

}  // namespace

DestructiveResult destructive_bound(const Instance& instance, double low, double high,
                                    std::int64_t work, std::optional<double> time_limit) {
  if (is_too_large(instance)) return {low, true};
  for (int i = 0; i < instance.jobs(); ++i)
    low = std::max(low, instance.release(i) + instance.least_time(i));
  DestructiveBound bound(instance, low, high);
  const bool is_complete = finishes_within(time_limit, [&] { bound.improve(work); });
  return {std::max(low, bound.value()), is_complete};
}

}  // namespace cosched::moldable::graph
