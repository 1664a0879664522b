// When each job of a project may run within a makespan, and how these windows shrink.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/moldable/graph/precedence.hpp"
#include "cosched/moldable/model/instance.hpp"

namespace cosched::moldable::graph {

/// Integers that are computed in floating point are that close to their value.
inline constexpr double kIntegerTolerance = 1e-6;

/// A count on which a job can run.
struct Mode {
  int count;
  double time;
  std::vector<double> shares;  // of the machine, and of each resource's capacity
};

/// When each job may run, and which pairs have an order.
struct Windows {
  std::vector<double> earliest_start, latest_end;
  std::vector<char> is_before;  // job i ends before job k starts: at i * jobs + k
};

/// Shrinks windows without losing a schedule that keeps them: by precedence, by pairs of jobs that
/// do not fit next to each other (conflicts), by what surely runs (timetabling), and by energetic
/// reasoning.  Here the machine is a resource, too: it has number 0, and those of the instance
/// follow.  Slow-downs are left out: they make jobs longer.
class ProjectWindows {
 public:
  /// `instance` must outlive it.
  explicit ProjectWindows(const Instance& instance);

  int jobs() const { return jobs_; }
  int resources() const { return 1 + (instance_.sharing() ? instance_.sharing()->resources() : 0); }
  /// The counts on which a job fits.
  const std::vector<Mode>& modes(int i) const { return modes_[i]; }
  /// Pairs that exceed a capacity on whatever counts they run, so that one ends before the other.
  const std::vector<std::pair<int, int>>& conflicts() const { return conflicts_; }
  /// Whether times and releases are integers and nothing slows jobs down: windows and makespans
  /// are then integers, too.
  bool has_integer_times() const { return has_integer_times_; }
  /// Seconds that count as none; of the makespan that was asked last.
  double tolerance() const { return tolerance_; }

  /// Work that shrink() may do, in terms of sums; below 0: it did a little more.
  void allow_work(std::int64_t terms) { remaining_work_ = terms; }
  std::int64_t remaining_work() const { return remaining_work_; }

  void set_order(Windows& windows, int first, int second) const {
    windows.is_before[pair_index(first, second)] = 1;
  }
  /// The windows of the jobs in a makespan before they shrink: from the release to the makespan.
  /// Sets the tolerance().
  Windows initial_windows(double makespan);
  /// Seconds between the earliest start and the latest end of a job.
  static double length(const Windows& windows, int i) {
    return windows.latest_end[i] - windows.earliest_start[i];
  }
  /// The least time of a job on a count that its window allows; infinite: there is none.
  double least_time(const Windows& windows, int i) const {
    double least = kInfinity;
    for (const Mode& mode : modes_[i]) least = std::min(least, mode.time);
    return least <= length(windows, i) + tolerance_ ? least : kInfinity;
  }
  /// Shrinks windows until nothing changes, or the work is spent; false: no schedule keeps them.
  /// A round takes O(jobs^2 + jobs x steps of the profile), with energetic reasoning
  /// O(resources x jobs^3).
  bool shrink(Windows& windows, bool with_energy);
  /// Whether one of two jobs has to end before the other starts.
  bool has_order(const Windows& windows, int i, int k) const {
    return windows.is_before[pair_index(i, k)] || windows.is_before[pair_index(k, i)];
  }

 private:
  // A part of the time, and the share of a resource that those need which surely run then.
  struct ProfileStep {
    double begin, end, share;
  };

  void read_modes();
  Mode mode_of(int i, int q, double time) const;
  // Which jobs precede which, by paths of the graph.
  void order_by_graph();
  std::size_t pair_index(int i, int k) const {
    return static_cast<std::size_t>(i) * static_cast<std::size_t>(jobs_) +
           static_cast<std::size_t>(k);
  }
  // Pairs that exceed a capacity on whatever counts they run, so that one ends before the other.
  void find_conflicts();
  bool exceed_a_resource(int i, int k) const;
  double least_share(int i, int resource) const;
  // Counts about a nanosecond for each term of a sum.
  void spend(std::size_t terms) {
    remaining_work_ -= static_cast<std::int64_t>(terms);
    poll_.count(static_cast<std::int64_t>(terms));
  }
  // Moves the earliest start of a job to at least `start`; true: that changed it.
  bool raise_start(Windows& windows, int i, double start) const;
  // Moves the latest end of a job to at most `end`; true: that changed it.
  bool lower_end(Windows& windows, int i, double end) const;
  // A job starts after the earliest ends of those before it, and ends before the latest starts of
  // those behind it; false: a window is too short for its job.
  bool shrink_by_orders(Windows& windows);
  // Whether job i can end before job k starts.
  bool can_precede(const Windows& windows, int i, int k) const;
  // Orders the conflicts of which only one order is possible; false: of one of them none is.
  bool order_conflicts(Windows& windows, bool& has_changed);
  // The jobs that surely need some of a resource for some time, and the least share that each
  // needs.
  void choose_profile_users(const Windows& windows, int resource);
  // What surely runs: each job from its latest start to its earliest end.
  void make_profile(const Windows& windows);
  // No job runs where too little is left beside what surely runs; false: a capacity is exceeded,
  // or a window too short.
  bool shrink_by_profile(Windows& windows, int resource, bool& has_changed);
  // Whether a step lacks room for a job beside the others that surely run in it.
  bool lacks_room(const Windows& windows, int i, double time, const ProfileStep& step) const;
  double first_start_beside_profile(const Windows& windows, int i, double time) const;
  double last_end_beside_profile(const Windows& windows, int i, double time) const;
  // Seconds of [begin, end) in which a job runs that starts at `start` and takes `time`.
  static double overlap(double begin, double end, double start, double time);
  // The least energy of a job in an interval, over the counts and starts that its window allows:
  // that of its first or of its last start.
  double least_energy(const Windows& windows, int i, int resource, double begin, double end) const;
  // Intervals begin at earliest and latest starts of the jobs that need some of a resource, and end
  // at their earliest and latest ends.
  void choose_intervals(const Windows& windows, int resource);
  // False: the jobs need more in an interval than there is, or a window is too short.
  bool shrink_by_energy(Windows& windows, int resource, bool& has_changed);
  // A job that may have at most `available` energy in an interval starts no earlier, and ends no
  // later, than that lets it; false: its window is too short then.
  bool shrink_by_slack(Windows& windows, int i, int resource, double begin, double end,
                       double available, bool& has_changed) const;

  const Instance& instance_;
  const int jobs_;
  const Precedence graph_;
  std::vector<std::vector<Mode>> modes_;
  bool has_integer_times_ = true;
  std::vector<char> is_before_by_graph_;
  std::vector<std::pair<int, int>> conflicts_;
  double tolerance_ = 0;
  std::int64_t remaining_work_ = 0;
  Poll poll_;
  // Scratch space.
  std::vector<int> users_;
  std::vector<double> least_shares_, begins_, ends_, energies_;
  std::vector<std::pair<double, double>> changes_;
  std::vector<ProfileStep> profile_;
};

}  // namespace cosched::moldable::graph
