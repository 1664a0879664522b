#include "cosched/packs/exact/optimal.hpp"

#include "cosched/core/interrupt.hpp"
#include "cosched/lp/glpk.hpp"
#include "cosched/opt/lemon.hpp"
#include "cosched/packs/columns/column_bound.hpp"
#include "cosched/packs/exact/branch_price.hpp"
#include "cosched/packs/heuristic/baselines.hpp"
#include "cosched/packs/heuristic/pack_by_pack.hpp"
#include "cosched/packs/search/local_search.hpp"
#include "cosched/packs/search/turns.hpp"

namespace cosched::packs::exact {
namespace {

struct Split {
  double cost;
  int procs;  // of the first task; the second has the others
};

// Least cost of tasks i and j together; infinite where they do not fit.
Split best_split(const Times& times, int i, int j) {
  const int p = times.procs();
  Split split{kInfinity, 0};
  for (int q = 1; q < p; ++q) {
    const double longest = std::max(times(i, q), times(j, p - q));
    if (longest < split.cost) split = {longest, q};
  }
  return split;
}

std::vector<opt::WeightedEdge> savings(const Times& times) {
  const int n = times.tasks();
  std::vector<opt::WeightedEdge> edges;
  for (int i = 0; i < n; ++i) {
    for (int j = i + 1; j < n; ++j) {
      const double saved = times.least(i) + times.least(j) - best_split(times, i, j).cost;
      if (saved > 0) edges.push_back({i, j, saved});
    }
    check_interrupt();
  }
  return edges;
}

constexpr int kSubsetsFirst = 16;       // up to here the subset programme takes milliseconds
constexpr std::int64_t kFewNodes = 50;  // of branch and price, before it falls back on subsets
constexpr std::int64_t kStartWork = search::kLocalSearchWork / 5;
constexpr int kMostBranched = 1'200;  // tasks: beyond, only the bound of groups is affordable
constexpr double kStartShare = 0.2;   // of the time limit, for the first co-schedule

ExactResult unproved(const Instance& instance, SearchResult start) {
  const double bound = std::max(area_bound(instance), longest_bound(instance));
  const double cost = start.coschedule.cost;
  return {std::move(start.coschedule), std::min(bound, cost), false, start.complete};
}

// The subset programme; `fallback` where a time limit ends it.
ExactResult by_subsets(const Instance& instance, ExactResult fallback) {
  fallback.complete = finishes_within(std::nullopt, [&] {
    Coschedule best = search::subset_programme(instance);
    const double cost = best.cost;
    fallback = {std::move(best), cost, true, true};
  });
  return fallback;
}

// A short local search.
SearchResult improved(const Instance& instance, const SearchResult& start) {
  const double left = seconds_left();
  std::optional<double> share;
  if (left < kInfinity) share = std::max(0.0, kStartShare * left);
  SearchResult found =
      search::local_search_from(instance, members(start.coschedule.pack_of), 0, kStartWork, share);
  found.complete = true;  // of what it was given
  return found;
}

// For instances with too many tasks for branch and price: the bound.
ExactResult bounded(const Instance& instance, const Coschedule& start) {
  const columns::LowerBound bound = columns::column_bound(instance);
  const bool proved = bound.value >= start.cost * (1 - kExactTolerance);
  return {start, proved ? start.cost : bound.value, proved, bound.complete};
}

// Branch and price from a co-schedule, by whatever fits the number of tasks.
ExactResult from_start(const Instance& instance, const Coschedule& start,
                       std::int64_t most_nodes = std::numeric_limits<std::int64_t>::max()) {
  if (instance.tasks() > kMostBranched) return bounded(instance, start);
  const bool is_small = instance.tasks() <= search::kMostSubsetTasks;
  ExactResult result = branch_and_price(instance, start, std::nullopt,
                                        is_small ? std::min(kFewNodes, most_nodes) : most_nodes);
  if (result.proved || !result.complete || !is_small) return result;
  return by_subsets(instance, std::move(result));
}

// Under a limit: the rounds of local_search, seed 0, from its start.  Each begins with the best of
// the rounds before it, whatever the exact method returned: the rounds are those of local_search,
// so the result is no worse than its own after as many of them.
ExactResult in_turns(const Instance& instance, const SearchResult& start,
                     const search::TurnLimits& limits = {}) {
  ExactResult result = unproved(instance, start);
  search::TurnOrder turn_order;
  const auto take_turn = [&](const Coschedule& best, std::optional<double> seconds) {
    turn_order.note_turn();
    const ScopedTimeLimit limit(seconds);
    const Coschedule& incumbent = result.coschedule.cost < best.cost ? result.coschedule : best;
    ExactResult turn_result = from_start(instance, Coschedule(incumbent), limits.nodes);
    turn_result.bound = std::max(result.bound, turn_result.bound);
    result = std::move(turn_result);
  };
  const SearchResult searched = search::local_search_from(
      instance, members(start.coschedule.pack_of), 0, limits.work, std::nullopt,
      [&](SearchResult& best, bool has_improved, int round) {
        const search::Turn turn = turn_order.turn_after(round, has_improved);
        if (turn != search::Turn::kNone) take_turn(best.coschedule, turn_order.seconds_of(turn));
        return !result.proved;
      });
  if (result.proved) return result;
  if (turn_order.turns() == 0) take_turn(searched.coschedule, std::nullopt);
  if (searched.coschedule.cost < result.coschedule.cost) result.coschedule = searched.coschedule;
  const double cost = result.coschedule.cost;
  result.proved = result.proved || searched.proved || result.bound >= cost * (1 - kExactTolerance);
  result.bound = result.proved ? cost : std::min(result.bound, cost);
  result.complete = result.proved;
  return result;
}

}  // namespace

Coschedule pairs(const Instance& instance) {
  require_unshared(instance, "packs::exact::pairs");
  if (instance.max_tasks() > 2)
    throw InvalidInstance("max_tasks = " + std::to_string(instance.max_tasks()) +
                          ": expected 1 or 2 for pairs (optimal takes any)");
  const Times& times = instance.times();
  const int n = instance.tasks(), p = instance.procs();
  std::vector<int> partner(n, -1);
  if (instance.max_tasks() == 2) partner = opt::maximum_weight_matching(n, savings(times));
  Packs packs;
  std::vector<int> procs(n);
  for (int i = 0; i < n; ++i) {
    const int j = partner[i];
    if (j == -1) {
      packs.push_back({i});
      procs[i] = times.used(i, p);
    } else if (i < j) {
      packs.push_back({i, j});
      const int q = best_split(times, i, j).procs;
      procs[i] = times.used(i, q);
      procs[j] = times.used(j, p - q);
    }
  }
  return with_procs(instance, packs, procs);
}

ExactResult optimal(const Instance& instance, std::optional<double> time_limit) {
  require_unshared(instance, "packs::exact::optimal");
  const ScopedTimeLimit limit(time_limit);
  const bool has_limit = seconds_left() < kInfinity;
  SearchResult start =
      has_limit ? search::first_schedule(instance) : heuristic::best_pack_by_pack(instance);
  if (!start.complete) return unproved(instance, std::move(start));
  if (instance.tasks() <= kSubsetsFirst) {
    if (has_limit) start = improved(instance, start);
    return by_subsets(instance, unproved(instance, std::move(start)));
  }
  if (has_limit) return in_turns(instance, start);
  return from_start(instance, improved(instance, start).coschedule);
}

ExactResult optimal_by_work(const Instance& instance, std::int64_t work, std::int64_t nodes) {
  require_unshared(instance, "packs::exact::optimal_by_work");
  return in_turns(instance, search::first_schedule(instance), {work, nodes});
}

namespace {

constexpr double kMostColumns = 2e6;

// Columns: x_{i,q,b} = 1 when task i runs on q processors in pack b; then y_b, the pack's cost.
class Programme {
 public:
  // Costs are divided by that of the sequential co-schedule, so that the optimum is at most 1
  // and a task can be on q processors only where t_i(q) is.
  explicit Programme(const Instance& instance)
      : instance_(instance), scale_(heuristic::sequential(instance).cost) {
    add_columns();
    add_assignments();  // (i)
    for (int b = 0; b < packs(); ++b) {
      add_size(b);   // (ii)
      add_procs(b);  // (iii)
      add_costs(b);  // (iv)
    }
  }

  const lp::Model& model() const { return model_; }
  double scale() const { return scale_; }

  Coschedule coschedule(const std::vector<double>& x) const {
    Packs tasks(packs());
    std::vector<int> procs(instance_.tasks(), 0);
    for (int i = 0; i < instance_.tasks(); ++i)
      for (int b = 0; b < packs(); ++b)
        for (int q = 1; q <= instance_.procs(); ++q)
          if (x[column(i, q, b)] > 0.5) {
            tasks[b].push_back(i);
            procs[i] = q;
          }
    tasks.erase(std::remove_if(tasks.begin(), tasks.end(), [](auto& t) { return t.empty(); }),
                tasks.end());
    return with_procs(instance_, tasks, procs);
  }

 private:
  int packs() const { return instance_.tasks(); }
  int column(int i, int q, int b) const { return (i * instance_.procs() + q - 1) * packs() + b; }
  double time(int i, int q) const { return instance_.times().given(i, q) / scale_; }

  void add_columns() {
    for (int i = 0; i < instance_.tasks(); ++i)
      for (int q = 1; q <= instance_.procs(); ++q)
        for (int b = 0; b < packs(); ++b)
          model_.add_column(0, 0, time(i, q) <= 1 + kExactTolerance ? 1 : 0, true);
    first_cost_ = model_.columns();
    for (int b = 0; b < packs(); ++b) model_.add_column(1);
  }

  void add_assignments() {
    for (int i = 0; i < instance_.tasks(); ++i) {
      const int row = model_.add_row(1, 1);
      for (int q = 1; q <= instance_.procs(); ++q)
        for (int b = 0; b < packs(); ++b) model_.add_entry(row, column(i, q, b), 1);
    }
  }

  void add_size(int b) {
    const int row = model_.add_row(-kInfinity, instance_.max_tasks());
    for (int i = 0; i < instance_.tasks(); ++i)
      for (int q = 1; q <= instance_.procs(); ++q) model_.add_entry(row, column(i, q, b), 1);
  }

  void add_procs(int b) {
    const int row = model_.add_row(-kInfinity, instance_.procs());
    for (int i = 0; i < instance_.tasks(); ++i)
      for (int q = 1; q <= instance_.procs(); ++q) model_.add_entry(row, column(i, q, b), q);
  }

  void add_costs(int b) {
    check_interrupt();
    for (int i = 0; i < instance_.tasks(); ++i)
      for (int q = 1; q <= instance_.procs(); ++q) {
        if (time(i, q) > 1 + kExactTolerance) continue;  // fixed to 0 above
        const int row = model_.add_row(-kInfinity, 0);
        model_.add_entry(row, column(i, q, b), time(i, q));
        model_.add_entry(row, first_cost_ + b, -1);
      }
  }

  const Instance& instance_;
  double scale_;
  int first_cost_ = 0;
  lp::Model model_;
};

void require_size(const Instance& instance) {
  const double n = instance.tasks();
  const double columns = n * n * instance.procs() + n;
  if (columns > kMostColumns)
    throw SolverError("the integer programme of " + std::to_string(instance.tasks()) +
                      " tasks on " + std::to_string(instance.procs()) + " processors has " +
                      to_text(columns) + " columns: more than " + to_text(kMostColumns));
}

}  // namespace

ExactResult ilp(const Instance& instance, std::optional<double> time_limit) {
  require_unshared(instance, "packs::exact::ilp");
  require_size(instance);
  ExactResult result;
  result.coschedule = heuristic::best_pack_by_pack(instance).coschedule;
  result.bound = std::max(area_bound(instance), longest_bound(instance));
  result.complete = finishes_within(time_limit, [&] {
    const Programme programme(instance);
    const lp::Solution solution = solve_glpk(programme.model());
    result.proved = solution.status == lp::Status::optimal;
    if (!solution.x.empty()) {
      Coschedule found = programme.coschedule(solution.x);
      if (found.cost <= result.coschedule.cost) result.coschedule = std::move(found);
    }
    // GLPK's bounds, and what it calls optimal, hold up to its tolerances, 1e-7 relative: taken off
    // generously.
    result.bound = std::max(result.bound, solution.bound * programme.scale() * (1 - 1e-6));
    lp::require_optimal(solution, "the integer programme");
  });
  result.bound = std::min(result.bound, result.coschedule.cost);
  return result;
}

}  // namespace cosched::packs::exact
