#include "cosched/packs/shared/exact_cover.hpp"

#include <algorithm>
#include <cstddef>

#include "cosched/core/interrupt.hpp"

namespace cosched::packs::shared {
namespace {

class Search {
 public:
  Search(int tasks, const std::vector<SetRelaxation::Column>& columns, double budget,
         std::int64_t most_nodes)
      : columns_(columns), with_(tasks), covered_(tasks, 0), budget_(budget), left_(most_nodes) {
    for (std::size_t c = 0; c < columns.size(); ++c)
      for (const int i : columns[c].tasks) with_[i].push_back(static_cast<int>(c));
    for (std::vector<int>& of_task : with_)
      std::sort(of_task.begin(), of_task.end(),
                [&](int a, int b) { return columns_[a].reduced_cost < columns_[b].reduced_cost; });
    // What each task's pack must add at least, in equal parts of its tasks.
    for (int i = 0; i < tasks; ++i) {
      double least = kInfinity;
      for (const int c : with_[i])
        least = std::min(least,
                         columns_[c].reduced_cost / static_cast<double>(columns_[c].tasks.size()));
      part_.push_back(least);
      open_ += least;
    }
    choose(0, tasks);
  }

  CoverSearch result() const { return result_; }

 private:
  bool free(int c) const {
    for (const int i : columns_[c].tasks)
      if (covered_[i]) return false;
    return true;
  }

  void choose(double sum, int uncovered) {
    if (left_-- <= 0) {
      result_.whole = false;
      return;
    }
    if (uncovered == 0) {
      budget_ = result_.sum = sum;
      result_.packs.emplace();
      for (const int c : chosen_) result_.packs->push_back(columns_[c].tasks);
      return;
    }
    int task = -1;
    std::size_t fewest = 0;
    for (std::size_t i = 0; i < with_.size(); ++i) {
      if (covered_[i]) continue;
      std::size_t count = 0;
      for (const int c : with_[i]) {
        if (sum + columns_[c].reduced_cost >= budget_) break;
        count += free(c);
        if (task >= 0 && count >= fewest) break;
      }
      if (task < 0 || count < fewest) {
        task = static_cast<int>(i);
        fewest = count;
      }
      poll_.count(100);
      if (fewest == 0) return;
    }
    for (const int c : with_[task]) {
      const SetRelaxation::Column& column = columns_[c];
      if (sum + column.reduced_cost >= budget_) return;
      if (!free(c)) continue;
      double parts = 0;
      for (const int i : column.tasks) parts += part_[i];
      if (sum + column.reduced_cost + (open_ - parts) * (1 - 1e-9) >= budget_) continue;
      for (const int i : column.tasks) covered_[i] = 1;
      open_ -= parts;
      chosen_.push_back(c);
      choose(sum + column.reduced_cost, uncovered - static_cast<int>(column.tasks.size()));
      chosen_.pop_back();
      open_ += parts;
      for (const int i : column.tasks) covered_[i] = 0;
      if (!result_.whole) return;
    }
  }

  const std::vector<SetRelaxation::Column>& columns_;
  std::vector<std::vector<int>> with_;
  std::vector<char> covered_;
  std::vector<double> part_;
  double open_ = 0;
  double budget_;
  std::int64_t left_;
  std::vector<int> chosen_;
  CoverSearch result_;
  Poll poll_;
};

}  // namespace

CoverSearch cheapest_cover(int tasks, const std::vector<SetRelaxation::Column>& columns,
                           double budget, std::int64_t most_nodes) {
  return Search(tasks, columns, budget, most_nodes).result();
}

}  // namespace cosched::packs::shared
