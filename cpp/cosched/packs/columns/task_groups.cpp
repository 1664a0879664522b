#include "cosched/packs/columns/task_groups.hpp"

#include <cmath>
#include <numeric>
#include <queue>

#include "cosched/core/interrupt.hpp"
#include "cosched/packs/model/bounds.hpp"

namespace cosched::packs::columns {
namespace {

constexpr int kSizeFeature = -1;  // the feature that prices are interpolated along
constexpr double kSameSizeTolerance = 1e-9;

std::vector<int> compared_counts(int procs) {
  std::vector<int> counts;
  for (int q = 1; q < procs; q *= 2) counts.push_back(q);
  counts.push_back(procs);
  return counts;
}

// The size of a task, the mean of log t_i(q) at the compared counts, and what each is besides.
struct LogProfile {
  double size = 0;
  std::vector<double> shape;
};

LogProfile make_log_profile(const Times& times, int task, const std::vector<int>& counts,
                            double unable_factor) {
  const double longest_time = unable_factor * times(task, times.fewest(task));
  LogProfile result;
  for (const int q : counts) {
    result.shape.push_back(std::log(std::min(times(task, q), longest_time)));
    result.size += result.shape.back() / static_cast<double>(counts.size());
  }
  for (double& log : result.shape) log -= result.size;
  return result;
}

// What a task adds to a bound, roughly: its part of the processors, or of a pack as long as itself.
double weight_of(const Times& times, int task, double length_share) {
  return least_work(times, task) / times.procs() + length_share * times.least(task);
}

// A group that may be split: the feature in which it is widest, and how much that matters.
struct OpenGroup {
  std::vector<int> tasks;
  double error = 0;  // width x weight
  int feature = kSizeFeature;
  double middle = 0;

  bool operator<(const OpenGroup& other) const {
    return error < other.error || (error == other.error && tasks.front() > other.tasks.front());
  }
};

class GroupHalving {
 public:
  GroupHalving(const Times& times, const TaskGroupParams& params) : params_(params) {
    const std::vector<int> counts = compared_counts(times.procs());
    Poll poll;
    for (int i = 0; i < times.tasks(); ++i) {
      profiles_.push_back(make_log_profile(times, i, counts, params.unable_factor));
      weight_.push_back(weight_of(times, i, params.length_share));
      poll.count(times.procs() + 20 * static_cast<std::int64_t>(counts.size()));
    }
  }

  TaskGroups make_groups(int max_rows) {
    std::priority_queue<OpenGroup> open_groups;
    std::vector<int> all_tasks(profiles_.size());
    std::iota(all_tasks.begin(), all_tasks.end(), 0);
    open_groups.push(make_group(all_tasks));
    while (2 * static_cast<int>(open_groups.size() + 1) <= max_rows &&
           open_groups.top().error > 0) {
      auto [low, high] = split_group(open_groups.top());
      open_groups.pop();
      open_groups.push(make_group(std::move(low)));
      open_groups.push(make_group(std::move(high)));
      check_interrupt();
    }
    TaskGroups result;
    result.interpolation_of_task.resize(all_tasks.size());
    for (; !open_groups.empty(); open_groups.pop()) add_group_rows(open_groups.top().tasks, result);
    return result;
  }

 private:
  double feature(int task, int number) const {
    return number == kSizeFeature ? profiles_[task].size : profiles_[task].shape[number];
  }

  OpenGroup make_group(std::vector<int> tasks) const {
    OpenGroup result;
    double weight = 0, widest = 0;
    for (const int i : tasks) weight += weight_[i];
    for (int f = kSizeFeature; f < static_cast<int>(profiles_.front().shape.size()); ++f) {
      const auto [smallest, largest] = std::minmax_element(
          tasks.begin(), tasks.end(), [&](int a, int b) { return feature(a, f) < feature(b, f); });
      double width = feature(*largest, f) - feature(*smallest, f);
      const double middle = feature(*smallest, f) + width / 2;
      if (f == kSizeFeature) width *= params_.size_width_factor;
      if (!(width > widest)) continue;
      widest = width;
      result.feature = f;
      result.middle = middle;
    }
    result.error = widest * weight;
    result.tasks = std::move(tasks);
    return result;
  }

  std::pair<std::vector<int>, std::vector<int>> split_group(const OpenGroup& part) const {
    std::vector<int> low, high;
    for (const int i : part.tasks)
      if (feature(i, part.feature) <= part.middle)
        low.push_back(i);
      else
        high.push_back(i);
    return {std::move(low), std::move(high)};
  }

  // Rows for the smallest and the largest task of a group.
  void add_group_rows(const std::vector<int>& tasks, TaskGroups& groups) const {
    const auto [smallest, largest] = std::minmax_element(
        tasks.begin(), tasks.end(),
        [&](int a, int b) { return feature(a, kSizeFeature) < feature(b, kSizeFeature); });
    const double low = std::exp(feature(*smallest, kSizeFeature)),
                 high = std::exp(feature(*largest, kSizeFeature));
    const bool is_single_size = !(high > low * (1 + kSameSizeTolerance));
    for (const int i : tasks) {
      const double place =
          is_single_size ? 0 : (std::exp(feature(i, kSizeFeature)) - low) / (high - low);
      groups.interpolation_of_task[i] = {groups.rows, 1 - std::clamp(place, 0.0, 1.0)};
    }
    groups.typical_tasks.push_back(*smallest);
    if (!is_single_size) groups.typical_tasks.push_back(*largest);
    groups.rows = static_cast<int>(groups.typical_tasks.size());
  }

  TaskGroupParams params_;
  std::vector<LogProfile> profiles_;
  std::vector<double> weight_;
};

}  // namespace

TaskGroups singleton_groups(int tasks) {
  TaskGroups groups{tasks, {}, std::vector<int>(tasks)};
  std::iota(groups.typical_tasks.begin(), groups.typical_tasks.end(), 0);
  for (int i = 0; i < tasks; ++i) groups.interpolation_of_task.push_back({i, 1});
  return groups;
}

TaskGroups group_alike_tasks(const Times& times, int max_rows, const TaskGroupParams& params) {
  return GroupHalving(times, params).make_groups(max_rows);
}

}  // namespace cosched::packs::columns
