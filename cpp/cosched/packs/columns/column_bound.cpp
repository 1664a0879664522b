#include "cosched/packs/columns/column_bound.hpp"

#include <queue>

#include "cosched/packs/columns/relaxation.hpp"

namespace cosched::packs::columns {
namespace {

// Counts on which a task cannot run look like a time of so many times its longest.
constexpr double kUnable = 2;
constexpr double kLengthPart = 0.125;  // of a task's least time in its weight

constexpr int kSize = -1;              // the feature that prices are interpolated along
constexpr double kInterpolated = 0.1;  // what its width counts beside that of others
constexpr double kSameSize = 1e-9;

std::vector<int> compared_counts(int procs) {
  std::vector<int> counts;
  for (int q = 1; q < procs; q *= 2) counts.push_back(q);
  counts.push_back(procs);
  return counts;
}

// The size of a task, the mean of log t_i(q) at the compared counts, and what each is besides.
struct Profile {
  double size = 0;
  std::vector<double> shape;
};

Profile profile(const Times& times, int task, const std::vector<int>& counts) {
  const double most = kUnable * times(task, times.fewest(task));
  Profile result;
  for (const int q : counts) {
    result.shape.push_back(std::log(std::min(times(task, q), most)));
    result.size += result.shape.back() / static_cast<double>(counts.size());
  }
  for (double& log : result.shape) log -= result.size;
  return result;
}

// What a task adds to a bound, roughly: its part of the processors, or of a pack as long as itself.
double weight_of(const Times& times, int task) {
  return least_work(times, task) / times.procs() + kLengthPart * times.least(task);
}

// A group on its way: where it is widest, and how much that matters.
struct Part {
  std::vector<int> tasks;
  double error = 0;  // width x weight
  int feature = kSize;
  double middle = 0;

  bool operator<(const Part& other) const {
    return error < other.error || (error == other.error && tasks.front() > other.tasks.front());
  }
};

class Halving {
 public:
  explicit Halving(const Times& times) {
    const std::vector<int> counts = compared_counts(times.procs());
    Poll poll;
    for (int i = 0; i < times.tasks(); ++i) {
      profiles_.push_back(profile(times, i, counts));
      weight_.push_back(weight_of(times, i));
      poll.count(times.procs() + 20 * static_cast<std::int64_t>(counts.size()));
    }
  }

  Groups groups(int most) {
    std::priority_queue<Part> open;
    std::vector<int> all(profiles_.size());
    std::iota(all.begin(), all.end(), 0);
    open.push(part(all));
    while (2 * static_cast<int>(open.size() + 1) <= most && open.top().error > 0) {
      auto [low, high] = halves(open.top());
      open.pop();
      open.push(part(std::move(low)));
      open.push(part(std::move(high)));
      check_interrupt();
    }
    Groups result;
    result.of.resize(all.size());
    for (; !open.empty(); open.pop()) close(open.top().tasks, result);
    return result;
  }

 private:
  double feature(int task, int f) const {
    return f == kSize ? profiles_[task].size : profiles_[task].shape[f];
  }

  Part part(std::vector<int> tasks) const {
    Part result;
    double weight = 0, widest = 0;
    for (const int i : tasks) weight += weight_[i];
    for (int f = kSize; f < static_cast<int>(profiles_.front().shape.size()); ++f) {
      const auto [least, most] = std::minmax_element(
          tasks.begin(), tasks.end(), [&](int a, int b) { return feature(a, f) < feature(b, f); });
      double width = feature(*most, f) - feature(*least, f);
      const double middle = feature(*least, f) + width / 2;
      if (f == kSize) width *= kInterpolated;
      if (!(width > widest)) continue;
      widest = width;
      result.feature = f;
      result.middle = middle;
    }
    result.error = widest * weight;
    result.tasks = std::move(tasks);
    return result;
  }

  std::pair<std::vector<int>, std::vector<int>> halves(const Part& part) const {
    std::vector<int> low, high;
    for (const int i : part.tasks)
      (feature(i, part.feature) <= part.middle ? low : high).push_back(i);
    return {std::move(low), std::move(high)};
  }

  // Rows for the smallest and the largest task of a group.
  void close(const std::vector<int>& tasks, Groups& groups) const {
    const auto [least, most] = std::minmax_element(tasks.begin(), tasks.end(), [&](int a, int b) {
      return feature(a, kSize) < feature(b, kSize);
    });
    const double low = std::exp(feature(*least, kSize)), high = std::exp(feature(*most, kSize));
    const bool one = !(high > low * (1 + kSameSize));
    for (const int i : tasks) {
      const double place = one ? 0 : (std::exp(feature(i, kSize)) - low) / (high - low);
      groups.of[i] = {groups.rows, 1 - std::clamp(place, 0.0, 1.0)};
    }
    groups.typical.push_back(*least);
    if (!one) groups.typical.push_back(*most);
    groups.rows = static_cast<int>(groups.typical.size());
  }

  std::vector<Profile> profiles_;
  std::vector<double> weight_;
};

constexpr std::int64_t kMostWork = 20'000'000'000;  // operations: some twenty seconds
constexpr int kMostAlone = 300;    // tasks up to which only the whole relaxation is solved
constexpr int kMostWhole = 1'200;  // and beyond which only that of groups
constexpr int kMostGroupRows = 300;
constexpr double kGroupedTolerance = 1e-3;

}  // namespace

Groups singletons(int tasks) {
  Groups groups{tasks, {}, std::vector<int>(tasks)};
  std::iota(groups.typical.begin(), groups.typical.end(), 0);
  for (int i = 0; i < tasks; ++i) groups.of.push_back({i, 1});
  return groups;
}

Groups alike(const Times& times, int most) { return Halving(times).groups(most); }

LowerBound column_bound(const Instance& instance, std::optional<double> time_limit) {
  const ScopedTimeLimit limit(time_limit);
  LowerBound bound;
  bound.value = std::max(area_bound(instance), longest_bound(instance));
  if (instance.max_tasks() == 1) return bound;  // exact: every task alone
  Relaxation::Options options;
  options.most_work = kMostWork;
  std::optional<Relaxation> grouped, whole;
  bound.complete = finishes_within(std::nullopt, [&] {
    Restrictions restrictions;
    restrictions.counts = least_counts(instance);
    if (instance.tasks() > kMostAlone) {
      grouped.emplace(instance, alike(instance.times(), kMostGroupRows), restrictions,
                      first_columns(instance));
      grouped->start_from(area_prices(instance), area_bound(instance));
      options.tolerance = kGroupedTolerance;
      grouped->solve(options);
      if (instance.tasks() > kMostWhole) return;
    }
    whole.emplace(instance, dominance(instance.times()), restrictions,
                  grouped ? grouped->columns() : first_columns(instance));
    if (grouped) whole->start_from(grouped->prices(), grouped->bound());
    options.tolerance = Relaxation::Options().tolerance;
    whole->solve(options);
  });
  for (const auto& relaxation : {&grouped, &whole})
    if (*relaxation) bound.value = std::max(bound.value, (*relaxation)->bound());
  return bound;
}

}  // namespace cosched::packs::columns
