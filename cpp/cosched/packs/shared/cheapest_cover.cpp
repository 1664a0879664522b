#include "cosched/packs/shared/cheapest_cover.hpp"

#include <algorithm>

namespace cosched::packs::shared {
namespace {

class CoverBranching {
 public:
  CoverBranching(int tasks, const std::vector<SetRelaxation::SetColumn>& columns, double budget,
                 std::int64_t most_nodes)
      : columns_(columns),
        columns_with_(tasks),
        is_covered_(tasks, 0),
        budget_(budget),
        remaining_steps_(most_nodes) {
    for (std::size_t c = 0; c < columns.size(); ++c)
      for (const int i : columns[c].tasks) columns_with_[i].push_back(static_cast<int>(c));
    for (std::vector<int>& columns_of_task : columns_with_)
      std::sort(columns_of_task.begin(), columns_of_task.end(),
                [&](int a, int b) { return columns_[a].reduced_cost < columns_[b].reduced_cost; });
    // A lower bound on what the column of each task adds, in equal parts for the tasks of the
    // column.
    for (int i = 0; i < tasks; ++i) {
      double least = kInfinity;
      for (const int c : columns_with_[i])
        least = std::min(least,
                         columns_[c].reduced_cost / static_cast<double>(columns_[c].tasks.size()));
      least_part_.push_back(least);
      open_parts_ += least;
    }
    search_depth_first(tasks);
  }

  CoverResult result() const { return result_; }

 private:
  // Poll steps (a nanosecond each) of a task whose columns are counted.
  static constexpr std::int64_t kPollStepsPerTask = 100;

  bool is_free(int c) const {
    for (const int i : columns_[c].tasks)
      if (is_covered_[i]) return false;
    return true;
  }

  // The uncovered task for which the fewest columns are free.
  std::size_t task_with_fewest_columns(double sum) {
    std::size_t task = 0, fewest = columns_.size() + 1;
    for (std::size_t i = 0; i < columns_with_.size() && fewest > 0; ++i) {
      if (is_covered_[i]) continue;
      std::size_t count = 0;
      for (const int c : columns_with_[i]) {
        if (count >= fewest || sum + columns_[c].reduced_cost >= budget_) break;
        count += is_free(c);
      }
      if (count < fewest) {
        task = i;
        fewest = count;
      }
      poll_.count(kPollStepsPerTask);
    }
    return task;
  }

  // A partial partition on the path from the root.
  struct CoverLevel {
    std::size_t task;      // the task to be covered next
    std::size_t next = 0;  // index of the first of its columns that is not tried yet
    double sum;            // of the reduced costs of the columns so far
    int uncovered;         // number of tasks
    double parts = 0;      // of least_part_ over the tasks of the column that is tried now
  };

  // Depth first, with an explicit stack, because there may be as many levels as tasks.
  void search_depth_first(int tasks) {
    std::vector<CoverLevel> levels;
    if (enter_level(0, tasks)) levels.push_back({task_with_fewest_columns(0), 0, 0, tasks});
    while (!levels.empty()) {
      CoverLevel& level = levels.back();
      if (chosen_.size() == levels.size()) uncover_column(level);
      const std::optional<int> column = result_.is_complete ? next_column(level) : std::nullopt;
      if (!column) {
        levels.pop_back();
        continue;
      }
      const double sum = level.sum + columns_[*column].reduced_cost;
      const int uncovered = level.uncovered - static_cast<int>(columns_[*column].tasks.size());
      cover_column(*column, level);
      if (enter_level(sum, uncovered))
        levels.push_back({task_with_fewest_columns(sum), 0, sum, uncovered});
    }
  }

  // Examines a partial partition; returns whether the search continues below it: not where all
  // tasks are covered (then it is the best), nor where the steps are used up.
  bool enter_level(double sum, int uncovered) {
    if (remaining_steps_ <= 0) {
      result_.is_complete = false;
      return false;
    }
    --remaining_steps_;
    if (uncovered > 0) return true;
    budget_ = result_.sum = sum;
    result_.packs.emplace();
    for (const int c : chosen_) result_.packs->push_back(columns_[c].tasks);
    return false;
  }

  // The next column of the task of a level that may lead below the budget; none: the level is done.
  std::optional<int> next_column(CoverLevel& level) {
    const std::vector<int>& candidates = columns_with_[level.task];
    while (level.next < candidates.size()) {
      const int c = candidates[level.next++];
      const SetRelaxation::SetColumn& column = columns_[c];
      if (level.sum + column.reduced_cost >= budget_) return std::nullopt;
      if (!is_free(c)) continue;
      level.parts = 0;
      for (const int i : column.tasks) level.parts += least_part_[i];
      const double least =
          level.sum + column.reduced_cost + (open_parts_ - level.parts) * (1 - kExactTolerance);
      if (least < budget_) return c;
    }
    return std::nullopt;
  }

  void cover_column(int c, const CoverLevel& level) {
    for (const int i : columns_[c].tasks) is_covered_[i] = 1;
    open_parts_ -= level.parts;
    chosen_.push_back(c);
  }

  // Removes the column of a level.
  void uncover_column(const CoverLevel& level) {
    for (const int i : columns_[chosen_.back()].tasks) is_covered_[i] = 0;
    open_parts_ += level.parts;
    chosen_.pop_back();
  }

  const std::vector<SetRelaxation::SetColumn>& columns_;
  std::vector<std::vector<int>> columns_with_;
  std::vector<char> is_covered_;
  std::vector<double> least_part_;
  double open_parts_ = 0;
  double budget_;
  std::int64_t remaining_steps_;
  std::vector<int> chosen_;
  CoverResult result_;
  Poll poll_;
};

}  // namespace

CoverResult cheapest_cover(int tasks, const std::vector<SetRelaxation::SetColumn>& columns,
                           double budget, std::int64_t most_nodes) {
  return CoverBranching(tasks, columns, budget, most_nodes).result();
}

}  // namespace cosched::packs::shared
