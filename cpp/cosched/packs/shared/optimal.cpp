#include "cosched/packs/shared/optimal.hpp"

#include "cosched/lp/glpk.hpp"
#include "cosched/opt/lemon.hpp"
#include "cosched/packs/search/local_search.hpp"
#include "cosched/packs/shared/heuristics.hpp"

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

  // The task that is still to be covered and has the fewest columns for that.
  std::size_t with_fewest(double sum) {
    std::size_t task = 0, fewest = columns_.size() + 1;
    for (std::size_t i = 0; i < with_.size() && fewest > 0; ++i) {
      if (covered_[i]) continue;
      std::size_t count = 0;
      for (const int c : with_[i]) {
        if (count >= fewest || sum + columns_[c].reduced_cost >= budget_) break;
        count += free(c);
      }
      if (count < fewest) {
        task = i;
        fewest = count;
      }
      poll_.count(100);
    }
    return task;
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
    for (const int c : with_[with_fewest(sum)]) {
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

constexpr std::int64_t kBoundNodes = 10'000'000;  // sets looked at for a bound: some seconds
constexpr int kMostBounded = 400;                 // tasks up to which pairs are priced
constexpr std::int64_t kProofNodes = std::int64_t{1} << 40;
constexpr std::size_t kMostColumns = 500'000;
constexpr std::size_t kMostProgrammed = 60'000;  // columns that GLPK is given
constexpr std::int64_t kCoverNodes = 20'000'000;
constexpr std::int64_t kStartWork = search::kLocalSearchWork;

using Column = SetRelaxation::Column;

// The cheapest partition into the columns by GLPK, where a depth-first search does not end.
CoverSearch by_programme(int tasks, const std::vector<Column>& columns, double budget) {
  lp::Model model;
  for (int i = 0; i < tasks; ++i) model.add_row(1, 1);
  for (const Column& column : columns) {
    const int c = model.add_column(column.reduced_cost, 0, 1, true);
    for (const int i : column.tasks) model.add_entry(i, c, 1);
  }
  const lp::Solution solution = lp::solve_glpk(model);
  CoverSearch found;
  found.whole = solution.status != lp::Status::time_limit;
  if (solution.x.empty()) return found;
  found.packs.emplace();
  for (std::size_t c = 0; c < columns.size(); ++c)
    if (solution.x[c] > 0.5) {
      found.packs->push_back(columns[c].tasks);
      found.sum += columns[c].reduced_cost;
    }
  if (!(found.sum < budget)) found.packs.reset();
  return found;
}

// With the relaxation solved: the optimum among all partitions, or `best` where there are too many
// sets.
void prove(const Instance& instance, PackTable& table, SetRelaxation& relaxation,
           ExactResult& best) {
  const double cost = best.coschedule.cost;
  const auto columns = relaxation.useful(cost, kMostColumns, kProofNodes);
  if (!columns) return;
  const double budget = cost * (1 + kExactTolerance) - relaxation.bound();
  CoverSearch found = cheapest_cover(instance.tasks(), *columns, budget, kCoverNodes);
  if (!found.whole && columns->size() <= kMostProgrammed) {
    CoverSearch other = by_programme(instance.tasks(), *columns, budget);
    if (other.whole || other.sum < found.sum) found = std::move(other);
  }
  if (found.packs) {
    Coschedule made = at_prices(instance, table, *found.packs);
    if (made.cost < best.coschedule.cost) best.coschedule = std::move(made);
  }
  if (!found.whole) return;
  best.proved = true;
  best.bound = best.coschedule.cost;
}

}  // namespace

CoverSearch cheapest_cover(int tasks, const std::vector<SetRelaxation::Column>& columns,
                           double budget, std::int64_t most_nodes) {
  return Search(tasks, columns, budget, most_nodes).result();
}

Coschedule pairs(const Instance& instance) {
  if (instance.max_tasks() > 2)
    throw InvalidInstance("max_tasks = " + std::to_string(instance.max_tasks()) +
                          ": expected 1 or 2 for pairs (optimal takes any)");
  PackTable table(instance);
  const int n = instance.tasks();
  std::vector<opt::WeightedEdge> edges;
  constexpr std::int64_t kAll = std::int64_t{1} << 60;
  if (instance.max_tasks() == 2)
    for (int i = 0; i < n; ++i) {
      for (int j = i + 1; j < n; ++j) {
        const double apart = table.exact({i}, kAll).cost + table.exact({j}, kAll).cost;
        const double saved = apart - table.exact({i, j}, kAll).cost;
        if (saved > 0) edges.push_back({i, j, saved});
      }
      check_interrupt();
    }
  const std::vector<int> partner = opt::maximum_weight_matching(n, edges);
  Packs packs;
  for (int i = 0; i < n; ++i) {
    if (partner[i] < 0) packs.push_back({i});
    if (partner[i] > i) packs.push_back({i, partner[i]});
  }
  return at_prices(instance, table, packs);
}

ExactResult optimal(const Instance& instance, std::optional<double> time_limit) {
  const ScopedTimeLimit limit(time_limit);
  ExactResult best;
  best.coschedule = unhurried([&] { return pack_by_pack(instance, {0.5}); });
  const Instance alone = instance.alone();
  best.bound = std::min(std::max(area_bound(alone), longest_bound(alone)), best.coschedule.cost);
  if (instance.tasks() <= kMostSubsetTasks) {
    best = subsets(instance, std::move(best));
    if (best.proved || !best.complete) return best;
  }
  std::optional<double> share;
  if (seconds_left() < kInfinity) share = std::max(0.0, seconds_left() / 5);
  const SearchResult start = local_search(instance, 0, kStartWork, share);
  if (start.coschedule.cost < best.coschedule.cost) best.coschedule = start.coschedule;
  PackTable table(instance);
  std::optional<SetRelaxation> relaxation;
  best.complete = finishes_within(std::nullopt, [&] {
    const columns::LowerBound plain = columns::column_bound(alone);
    best.bound = std::max(best.bound, plain.value);
    relaxation.emplace(instance, table);
    relaxation->add(members(best.coschedule.pack_of));
    relaxation->solve(kProofNodes);
    prove(instance, table, *relaxation, best);
  });
  const double cost = best.coschedule.cost;
  if (relaxation) best.bound = std::max(best.bound, relaxation->bound());
  best.bound = std::min(best.bound, cost);
  best.proved = best.proved || best.bound >= cost * (1 - kExactTolerance);
  return best;
}

columns::LowerBound bound(const Instance& instance, std::optional<double> time_limit) {
  const ScopedTimeLimit limit(time_limit);
  columns::LowerBound found = columns::column_bound(instance.alone());
  if (instance.tasks() > kMostBounded || instance.max_tasks() == 1) return found;
  PackTable table(instance);
  std::optional<SetRelaxation> relaxation;
  const bool complete = finishes_within(std::nullopt, [&] {
    relaxation.emplace(instance, table);
    relaxation->solve(kBoundNodes);
  });
  if (relaxation) found.value = std::max(found.value, relaxation->bound());
  found.complete = found.complete && complete;
  return found;
}

}  // namespace cosched::packs::shared
