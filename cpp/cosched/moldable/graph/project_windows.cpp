#include "cosched/moldable/graph/project_windows.hpp"

#include <algorithm>
#include <cmath>

namespace cosched::moldable::graph {
namespace {

// Of the makespan: windows and sums that differ by less count as equal.  Wider than
// kExactTolerance, by which validators let schedules exceed capacities.
constexpr double kWindowTolerance = 1e-8;

bool is_integer(double value) { return value == std::floor(value); }

}  // namespace

ProjectWindows::ProjectWindows(const Instance& instance)
    : instance_(instance), jobs_(instance.jobs()), graph_(instance) {
  read_modes();
  order_by_graph();
  find_conflicts();
}

// What does not depend on the makespan.

void ProjectWindows::read_modes() {
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

Mode ProjectWindows::mode_of(int i, int q, double time) const {
  Mode mode{q, time, {q / static_cast<double>(instance_.machines())}};
  for (int r = 0; r + 1 < resources(); ++r) {
    const double need = instance_.sharing()->need(r, i, q);
    mode.shares.push_back(need > 0 ? need / instance_.sharing()->capacity(r) : 0.0);
  }
  return mode;
}

void ProjectWindows::order_by_graph() {
  is_before_by_graph_.assign(static_cast<std::size_t>(jobs_) * jobs_, 0);
  const std::vector<int>& order = graph_->order();
  for (auto job = order.rbegin(); job != order.rend(); ++job)
    for (const int next : graph_->successors(*job)) {
      is_before_by_graph_[pair_index(*job, next)] = 1;
      for (int k = 0; k < jobs_; ++k)
        if (is_before_by_graph_[pair_index(next, k)]) is_before_by_graph_[pair_index(*job, k)] = 1;
    }
}

void ProjectWindows::find_conflicts() {
  for (int i = 0; i < jobs_; ++i)
    for (int k = i + 1; k < jobs_; ++k) {
      const bool has_path =
          is_before_by_graph_[pair_index(i, k)] || is_before_by_graph_[pair_index(k, i)];
      if (!has_path && exceed_a_resource(i, k)) conflicts_.emplace_back(i, k);
    }
}

bool ProjectWindows::exceed_a_resource(int i, int k) const {
  for (int resource = 0; resource < resources(); ++resource)
    if (least_share(i, resource) + least_share(k, resource) > 1 + kWindowTolerance) return true;
  return false;
}

double ProjectWindows::least_share(int i, int resource) const {
  double least = kInfinity;
  for (const Mode& mode : modes_[i]) least = std::min(least, mode.shares[resource]);
  return least;
}

// Windows.

Windows ProjectWindows::initial_windows(double makespan) {
  tolerance_ = kWindowTolerance * makespan;
  Windows windows{instance_.releases(), std::vector<double>(jobs_, makespan), is_before_by_graph_};
  windows.earliest_start.resize(jobs_, 0.0);
  return windows;
}

bool ProjectWindows::raise_start(Windows& windows, int i, double start) const {
  if (has_integer_times_) start = std::ceil(start - kIntegerTolerance);
  if (start <= windows.earliest_start[i] + tolerance_) return false;
  windows.earliest_start[i] = start;
  return true;
}

bool ProjectWindows::lower_end(Windows& windows, int i, double end) const {
  if (has_integer_times_) end = std::floor(end + kIntegerTolerance);
  if (end >= windows.latest_end[i] - tolerance_) return false;
  windows.latest_end[i] = end;
  return true;
}

bool ProjectWindows::shrink(Windows& windows, bool with_energy) {
  bool has_changed = true;
  bool is_consistent = true;
  while (is_consistent && has_changed && remaining_work_ > 0) {
    has_changed = false;
    is_consistent = shrink_by_orders(windows);
    if (is_consistent) is_consistent = order_conflicts(windows, has_changed);
    for (int resource = 0; is_consistent && resource < resources(); ++resource)
      is_consistent = shrink_by_profile(windows, resource, has_changed);
    if (has_changed || !with_energy) continue;
    for (int resource = 0; is_consistent && resource < resources(); ++resource)
      is_consistent = shrink_by_energy(windows, resource, has_changed);
  }
  return is_consistent;
}

// Orders.

bool ProjectWindows::shrink_by_orders(Windows& windows) {
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

bool ProjectWindows::can_precede(const Windows& windows, int i, int k) const {
  const double earliest_end = windows.earliest_start[i] + least_time(windows, i);
  const double latest_start = windows.latest_end[k] - least_time(windows, k);
  return earliest_end <= latest_start + tolerance_;
}

bool ProjectWindows::order_conflicts(Windows& windows, bool& has_changed) {
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

// Timetabling.

void ProjectWindows::choose_profile_users(const Windows& windows, int resource) {
  users_.clear();
  least_shares_.assign(jobs_, kInfinity);
  for (int i = 0; i < jobs_; ++i) {
    for (const Mode& mode : modes_[i])
      if (mode.time <= length(windows, i) + tolerance_)
        least_shares_[i] = std::min(least_shares_[i], mode.shares[resource]);
    if (least_shares_[i] > 0) users_.push_back(i);
  }
}

void ProjectWindows::make_profile(const Windows& windows) {
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

bool ProjectWindows::shrink_by_profile(Windows& windows, int resource, bool& has_changed) {
  choose_profile_users(windows, resource);
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

bool ProjectWindows::lacks_room(const Windows& windows, int i, double time,
                                const ProfileStep& step) const {
  const bool is_in_compulsory_part = step.begin >= windows.latest_end[i] - time - tolerance_ &&
                                     step.end <= windows.earliest_start[i] + time + tolerance_;
  const double others_share = is_in_compulsory_part ? step.share - least_shares_[i] : step.share;
  return others_share + least_shares_[i] > 1 + kWindowTolerance;
}

double ProjectWindows::first_start_beside_profile(const Windows& windows, int i,
                                                  double time) const {
  double start = windows.earliest_start[i];
  for (const ProfileStep& step : profile_) {
    const bool overlaps = step.end > start + tolerance_ && step.begin < start + time - tolerance_;
    if (overlaps && lacks_room(windows, i, time, step)) start = step.end;
  }
  return start;
}

double ProjectWindows::last_end_beside_profile(const Windows& windows, int i, double time) const {
  double end = windows.latest_end[i];
  for (auto step = profile_.rbegin(); step != profile_.rend(); ++step) {
    const bool overlaps = step->begin < end - tolerance_ && step->end > end - time + tolerance_;
    if (overlaps && lacks_room(windows, i, time, *step)) end = step->begin;
  }
  return end;
}

// Energetic reasoning.

double ProjectWindows::overlap(double begin, double end, double start, double time) {
  return std::max(0.0, std::min(end, start + time) - std::max(begin, start));
}

double ProjectWindows::least_energy(const Windows& windows, int i, int resource, double begin,
                                    double end) const {
  double least = kInfinity;
  for (const Mode& mode : modes_[i]) {
    if (mode.time > length(windows, i) + tolerance_) continue;
    const double first = overlap(begin, end, windows.earliest_start[i], mode.time);
    const double last = overlap(begin, end, windows.latest_end[i] - mode.time, mode.time);
    least = std::min(least, mode.shares[resource] * std::min(first, last));
  }
  return least;
}

void ProjectWindows::choose_intervals(const Windows& windows, int resource) {
  begins_.clear();
  ends_.clear();
  users_.clear();
  for (int i = 0; i < jobs_; ++i) {
    const double time = least_time(windows, i);
    const bool needs_resource =
        std::any_of(modes_[i].begin(), modes_[i].end(),
                    [&](const Mode& mode) { return mode.shares[resource] > 0; });
    if (!needs_resource) continue;
    users_.push_back(i);
    begins_.insert(begins_.end(), {windows.earliest_start[i], windows.latest_end[i] - time});
    ends_.insert(ends_.end(), {windows.latest_end[i], windows.earliest_start[i] + time});
  }
  for (std::vector<double>* const points : {&begins_, &ends_}) {
    std::sort(points->begin(), points->end());
    points->erase(std::unique(points->begin(), points->end()), points->end());
  }
}

bool ProjectWindows::shrink_by_energy(Windows& windows, int resource, bool& has_changed) {
  choose_intervals(windows, resource);
  energies_.resize(jobs_);
  for (const double begin : begins_)
    for (const double end : ends_) {
      if (end <= begin + tolerance_) continue;
      if (remaining_work_ <= 0) return true;
      spend(2 * users_.size());
      double slack = end - begin;
      for (const int i : users_) {
        energies_[i] = least_energy(windows, i, resource, begin, end);
        slack -= energies_[i];
      }
      if (slack < -tolerance_) return false;
      for (const int i : users_) {
        const double available = std::max(0.0, slack + energies_[i]);
        const bool is_possible =
            shrink_by_slack(windows, i, resource, begin, end, available, has_changed);
        if (!is_possible) return false;
      }
    }
  return true;
}

bool ProjectWindows::shrink_by_slack(Windows& windows, int i, int resource, double begin,
                                     double end, double available, bool& has_changed) const {
  double start = kInfinity, latest_end = -kInfinity;
  for (const Mode& mode : modes_[i]) {
    if (mode.time > length(windows, i) + tolerance_) continue;
    const double share = mode.shares[resource];
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

}  // namespace cosched::moldable::graph
