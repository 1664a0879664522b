#include "cosched/packs/shared/optimal.hpp"

#include "cosched/lp/glpk.hpp"
#include "cosched/opt/lemon.hpp"
#include "cosched/packs/search/local_search.hpp"
#include "cosched/packs/search/turns.hpp"
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
    choose(tasks);
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

  // A partial partition: which columns may cover its next task, and what it has so far.
  struct Level {
    std::size_t task;      // that is to be covered next
    std::size_t next = 0;  // of its columns
    double sum;            // of the reduced costs
    int uncovered;         // tasks
    double parts = 0;      // what the column at work adds at least
  };

  // Depth first, on a stack of its own: there may be as many levels as tasks.
  void choose(int tasks) {
    std::vector<Level> levels;
    if (enter(0, tasks)) levels.push_back({with_fewest(0), 0, 0, tasks});
    while (!levels.empty()) {
      Level& level = levels.back();
      if (chosen_.size() == levels.size()) leave(level);
      const std::optional<int> column = result_.whole ? next_column(level) : std::nullopt;
      if (!column) {
        levels.pop_back();
        continue;
      }
      const double sum = level.sum + columns_[*column].reduced_cost;
      const int uncovered = level.uncovered - static_cast<int>(columns_[*column].tasks.size());
      cover(*column, level);
      if (enter(sum, uncovered)) levels.push_back({with_fewest(sum), 0, sum, uncovered});
    }
  }

  // Whether there is something below a partial partition: not where it is whole, or steps are out.
  bool enter(double sum, int uncovered) {
    if (left_ <= 0) {
      result_.whole = false;
      return false;
    }
    --left_;
    if (uncovered > 0) return true;
    budget_ = result_.sum = sum;
    result_.packs.emplace();
    for (const int c : chosen_) result_.packs->push_back(columns_[c].tasks);
    return false;
  }

  // The next column of a level's task that may lead below the budget; none: it is done.
  std::optional<int> next_column(Level& level) {
    const std::vector<int>& candidates = with_[level.task];
    while (level.next < candidates.size()) {
      const int c = candidates[level.next++];
      const SetRelaxation::Column& column = columns_[c];
      if (level.sum + column.reduced_cost >= budget_) return std::nullopt;
      if (!free(c)) continue;
      level.parts = 0;
      for (const int i : column.tasks) level.parts += part_[i];
      const double least = level.sum + column.reduced_cost + (open_ - level.parts) * (1 - 1e-9);
      if (least < budget_) return c;
    }
    return std::nullopt;
  }

  void cover(int c, const Level& level) {
    for (const int i : columns_[c].tasks) covered_[i] = 1;
    open_ -= level.parts;
    chosen_.push_back(c);
  }

  // Takes the column of a level back.
  void leave(const Level& level) {
    for (const int i : columns_[chosen_.back()].tasks) covered_[i] = 0;
    open_ += level.parts;
    chosen_.pop_back();
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
           std::int64_t most_nodes, ExactResult& best) {
  const double cost = best.coschedule.cost;
  const auto columns = relaxation.useful(cost, kMostColumns, most_nodes);
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

// The bounds of both relaxations, and the optimum where there are few enough sets: each look at the
// sets has up to `most_nodes` of them.
void prove_by_sets(const Instance& instance, const Instance& alone, std::int64_t most_nodes,
                   ExactResult& best) {
  PackTable table(instance);
  std::optional<SetRelaxation> relaxation;
  best.complete = finishes_within(std::nullopt, [&] {
    const columns::LowerBound plain = columns::column_bound(alone);
    best.bound = std::max(best.bound, plain.value);
    relaxation.emplace(instance, table);
    relaxation->add(members(best.coschedule.pack_of));
    relaxation->solve(most_nodes);
    prove(instance, table, *relaxation, most_nodes, best);
  });
  const double cost = best.coschedule.cost;
  if (relaxation) best.bound = std::max(best.bound, relaxation->bound());
  best.bound = std::min(best.bound, cost);
  best.proved = best.proved || best.bound >= cost * (1 - kExactTolerance);
}

// The better of two co-schedules.
void offer(const Coschedule& coschedule, ExactResult& best) {
  if (coschedule.cost < best.coschedule.cost) best.coschedule = coschedule;
}

// A first co-schedule with the bounds of its tasks.
ExactResult first_result(const Instance& instance, const Instance& alone) {
  ExactResult best;
  best.coschedule = without_deadline([&] { return pack_by_pack(instance, {0.5}); });
  best.bound = std::min(std::max(area_bound(alone), longest_bound(alone)), best.coschedule.cost);
  return best;
}

// Under a limit: the rounds of local_search, each from the best of those before it, whatever the
// proof returned: so the result is no worse than its own after as many of them.
ExactResult in_turns(const Instance& instance, const Instance& alone, ExactResult best,
                     const search::TurnLimits& limits = {}) {
  const std::int64_t most_nodes = std::min(limits.nodes, kProofNodes);
  search::TurnOrder turn_order;
  const SearchResult searched =
      local_search(instance, 0, limits.work, std::nullopt,
                   [&](SearchResult& round_best, bool has_improved, int round) {
                     offer(round_best.coschedule, best);
                     const search::Turn turn = turn_order.turn_after(round, has_improved);
                     if (turn == search::Turn::kNone) return true;
                     turn_order.note_turn();
                     const ScopedTimeLimit turn_limit(turn_order.seconds_of(turn));
                     prove_by_sets(instance, alone, most_nodes, best);
                     return !best.proved;
                   });
  if (best.proved) return best;
  offer(searched.coschedule, best);
  if (turn_order.turns() == 0) prove_by_sets(instance, alone, most_nodes, best);
  if (best.proved) return best;
  best.proved = searched.proved || best.bound >= best.coschedule.cost * (1 - kExactTolerance);
  best.bound = best.proved ? best.coschedule.cost : std::min(best.bound, best.coschedule.cost);
  best.complete = best.proved;
  return best;
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
  const Instance alone = instance.alone();
  ExactResult best = first_result(instance, alone);
  if (instance.tasks() <= kMostSubsetTasks) {
    best = subsets(instance, std::move(best));
    if (best.proved || !best.complete) return best;
  }
  if (seconds_left() < kInfinity) return in_turns(instance, alone, std::move(best));
  offer(local_search(instance, 0, std::nullopt, std::nullopt).coschedule, best);
  prove_by_sets(instance, alone, kProofNodes, best);
  return best;
}

ExactResult optimal_by_work(const Instance& instance, std::int64_t work, std::int64_t nodes) {
  const Instance alone = instance.alone();
  return in_turns(instance, alone, first_result(instance, alone), {work, nodes});
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
