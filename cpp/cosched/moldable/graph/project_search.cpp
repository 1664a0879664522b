#include "cosched/moldable/graph/project_search.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "cosched/moldable/graph/windows_bound.hpp"

namespace cosched::moldable::graph {
namespace {

// Seconds of all jobs and releases: sums of them stay far below the largest int.
constexpr double kMaxHorizon = 2e8;
// Work on one side of the gap before the other has its turn.
constexpr std::int64_t kTurnWork = 10'000'000;
// Energetic reasoning begins after so much work of the search, and may do a multiple of it.
constexpr std::int64_t kWorkBeforeWindows = 4'000'000;
constexpr std::int64_t kWindowWork = 100'000'000;

// When the last job ends where the jobs run one after the other.
double horizon_of(const Instance& instance, const ProjectWindows& windows) {
  double latest_release = 0, sum = 0;
  for (int i = 0; i < windows.jobs(); ++i) {
    latest_release = std::max(latest_release, instance.release(i));
    sum += windows.modes(i).front().time;
  }
  return latest_release + sum;
}

std::vector<learning::ResourceUser> users_of(const ProjectWindows& windows, int resource) {
  std::vector<learning::ResourceUser> users;
  for (int i = 0; i < windows.jobs(); ++i) {
    const Mode& mode = windows.modes(i).front();
    if (mode.shares[resource] > 0)
      users.push_back({i, static_cast<int>(mode.time), mode.shares[resource]});
  }
  return users;
}

bool can_exceed_capacity(const std::vector<learning::ResourceUser>& users) {
  double sum = 0;
  for (const learning::ResourceUser& user : users) sum += user.share;
  return sum > 1;
}

learning::RigidProject project_of(const Instance& instance, const ProjectWindows& windows) {
  learning::RigidProject project;
  project.horizon = static_cast<int>(horizon_of(instance, windows));
  const Precedence graph(instance);
  for (int i = 0; i < windows.jobs(); ++i) {
    project.seconds.push_back(static_cast<int>(windows.modes(i).front().time));
    project.releases.push_back(static_cast<int>(instance.release(i)));
    for (const int next : graph->successors(i)) project.edges.push_back({i, next});
  }
  for (const auto& [first, second] : windows.conflicts())
    project.disjunctive_pairs.push_back({first, second});
  for (int resource = 0; resource < windows.resources(); ++resource) {
    std::vector<learning::ResourceUser> users = users_of(windows, resource);
    if (can_exceed_capacity(users)) project.resources.push_back(std::move(users));
  }
  return project;
}

bool can_search(const Instance& instance, const ProjectWindows& windows) {
  if (!windows.has_integer_times()) return false;
  for (int i = 0; i < windows.jobs(); ++i)
    if (windows.modes(i).size() != 1) return false;
  return horizon_of(instance, windows) <= kMaxHorizon;
}

}  // namespace

bool ProjectSearch::is_suitable(const Instance& instance) {
  return instance.jobs() <= kMaxProjectJobs && can_search(instance, ProjectWindows(instance));
}

std::unique_ptr<ProjectSearch> ProjectSearch::make(const Instance& instance, double low,
                                                   double high) {
  if (instance.jobs() > kMaxProjectJobs) return nullptr;
  ProjectWindows windows(instance);
  if (!can_search(instance, windows)) return nullptr;
  return std::unique_ptr<ProjectSearch>(new ProjectSearch(instance, std::move(windows), low, high));
}

ProjectSearch::ProjectSearch(const Instance& instance, ProjectWindows windows, double low,
                             double high)
    : instance_(instance),
      windows_(std::move(windows)),
      low_(std::ceil(low - kIntegerTolerance)),
      high_(high),
      project_(project_of(instance, windows_)),
      search_(project_) {
  high_ = std::min(high_, project_.horizon + 1.0);  // some schedule is shorter than that
}

void ProjectSearch::offer(const Placement& placement) {
  const double value = makespan(placement);
  if (value >= high_) return;
  high_ = value;
  std::vector<int> starts;
  for (const double start : placement.start) starts.push_back(static_cast<int>(start));
  search_.save_values(starts);
}

void ProjectSearch::raise_bound(double bound) {
  low_ = std::max(low_, std::ceil(bound - kIntegerTolerance));
}

void ProjectSearch::improve(std::int64_t work) {
  while (work > 0 && !is_closed() && !has_invalid_schedule_) {
    if (searched_work_ >= kWorkBeforeWindows && !has_window_bound_) {
      work -= raise_bound_by_windows();
      continue;
    }
    const std::int64_t done_work = search_one_side(std::min(work, kTurnWork));
    work -= done_work;
    searched_work_ += done_work;
  }
}

std::int64_t ProjectSearch::raise_bound_by_windows() {
  has_window_bound_ = true;
  raise_by_windows(windows_, low_, high_, kWindowWork);
  return kWindowWork - windows_.remaining_work();
}

std::int64_t ProjectSearch::search_one_side(std::int64_t work) {
  const double shorter = std::ceil(high_ - kIntegerTolerance) - 1;
  const auto makespan = static_cast<int>(seeks_schedule_ ? shorter : low_);
  switch (search_.search(makespan, seeks_schedule_, work)) {
    case learning::LearningSearch::Answer::schedule:
      keep_schedule(search_.starts());
      break;
    case learning::LearningSearch::Answer::refuted:
      low_ = seeks_schedule_ ? high_ : makespan + 1;
      break;
    case learning::LearningSearch::Answer::unknown:
      seeks_schedule_ = !seeks_schedule_;
      break;
  }
  return std::max<std::int64_t>(1, search_.work());
}

void ProjectSearch::keep_schedule(const std::vector<int>& starts) {
  if (exceeds_a_capacity(starts)) {
    has_invalid_schedule_ = true;
    return;
  }
  Placement placement = empty_placement(instance_.jobs());
  for (int i = 0; i < instance_.jobs(); ++i) {
    placement.procs[i] = windows_.modes(i).front().count;
    placement.start[i] = starts[i];
    placement.end[i] = starts[i] + project_.seconds[i];
  }
  high_ = makespan(placement);
  placement_ = std::move(placement);
}

bool ProjectSearch::exceeds_a_capacity(const std::vector<int>& starts) const {
  for (const std::vector<learning::ResourceUser>& users : project_.resources) {
    std::map<int, double> changes;  // of the shares in use, by time
    for (const learning::ResourceUser& user : users) {
      changes[starts[user.start_variable]] += user.share;
      changes[starts[user.start_variable] + user.seconds] -= user.share;
    }
    double share = 0;
    for (const auto& [time, change] : changes) {
      share += change;
      if (share > 1 + kExactTolerance) return true;
    }
  }
  return false;
}

}  // namespace cosched::moldable::graph
