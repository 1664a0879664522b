#include "cosched/packs/exact/branch_price.hpp"

#include <queue>
#include <set>

#include "cosched/packs/columns/column_relaxation.hpp"
#include "cosched/packs/columns/initial_columns.hpp"
#include "cosched/packs/exact/branching.hpp"
#include "cosched/packs/exact/pack_filling.hpp"
#include "cosched/packs/heuristic/candidate_costs.hpp"
#include "cosched/packs/model/bounds.hpp"

namespace cosched::packs::exact {
namespace {

// Relative gaps at which a relaxation that decides nothing is solved again.
constexpr double kTolerances[] = {1e-5, 1e-8, 1e-11};

struct BranchNode {
  columns::Restrictions restrictions;
  columns::Prices prices;  // that prove `bound`; empty at the root
  double bound;
  std::int64_t number;
};

struct LaterNode {
  bool operator()(const BranchNode& a, const BranchNode& b) const {
    return a.bound > b.bound || (a.bound == b.bound && a.number > b.number);
  }
};

// Whether every task is in exactly one pack.
bool is_partition(const Packs& packs, int tasks) {
  std::vector<int> pack_count(tasks, 0);
  for (const std::vector<int>& pack : packs)
    for (const int i : pack) ++pack_count[i];
  return std::all_of(pack_count.begin(), pack_count.end(), [](int count) { return count == 1; });
}

class BranchPriceSearch {
 public:
  BranchPriceSearch(const Instance& instance, const Coschedule& start,
                    const BranchPriceParams& params)
      : params_(params), instance_(instance), best_(start) {
    open_parts_.push(make_root());
    bound_ = open_parts_.top().bound;
  }

  // An exception leaves the node that was processed in the queue, so that the bound takes it into
  // account.
  void run(std::int64_t max_nodes) {
    dominates_ = columns::compute_dominance(instance_.times());
    fill_pool();
    for (std::int64_t nodes = 0; !is_finished() && nodes < max_nodes; ++nodes) {
      std::vector<BranchNode> children = process_node(open_parts_.top());
      open_parts_.pop();
      for (BranchNode& child : children) open_parts_.push(std::move(child));
    }
  }

  ExactResult result() const {
    const bool proved = is_finished() && unresolved_bound_ >= cutoff();
    const double open = open_parts_.empty() ? kInfinity : open_parts_.top().bound;
    const double bound = std::max(bound_, std::min(open, unresolved_bound_));
    return {best_, proved ? best_.cost : std::min(bound, best_.cost), proved, true};
  }

 private:
  double cutoff() const { return best_.cost * (1 - kExactTolerance); }
  bool is_finished() const { return open_parts_.empty() || open_parts_.top().bound >= cutoff(); }

  BranchNode make_root() const {
    BranchNode node;
    node.restrictions.least_length.assign(instance_.tasks(), 0.0);
    node.restrictions.below_length.assign(instance_.tasks(), kInfinity);
    node.restrictions.counts = columns::least_count_rows(instance_);
    node.bound = std::max(area_bound(instance_), longest_bound(instance_));
    node.number = 0;
    return node;
  }

  void fill_pool() {
    for (const columns::PackColumn& column : columns::initial_columns(instance_))
      add_to_pool(column);
    const Packs packs = packs_of(best_.pack_of);
    const std::vector<double> lengths = pack_costs(instance_, best_.pack_of, best_.procs);
    for (std::size_t b = 0; b < packs.size(); ++b) add_to_pool({lengths[b], packs[b]});
  }

  // Solves the relaxation of a node, more and more precisely as long as only precision is missing.
  // Returns the children; none where the node holds no better co-schedule.
  std::vector<BranchNode> process_node(const BranchNode& node) {
    columns::ColumnRelaxation relaxation(instance_, dominates_, node.restrictions,
                                         useful_columns(node));
    if (!node.prices.task.empty()) relaxation.start_from(node.prices, node.bound);
    std::vector<LengthLevel> all_levels;
    for (const double tolerance : kTolerances) {
      columns::ColumnRelaxation::SolveOptions options;
      options.tolerance = tolerance;
      options.cutoff = cutoff();
      relaxation.solve(options);
      for (const columns::PackColumn& column : relaxation.columns()) add_to_pool(column);
      if (relaxation.bound() >= cutoff()) return {};
      const std::vector<columns::FractionalPack> packs = relaxation.fractional_partition();
      if (const auto question = most_fractional_branching(node.restrictions, packs))
        return make_children(node, relaxation, *question);
      all_levels = length_levels(packs, instance_.tasks());
      const FillingOutcome outcome = fill_levels(all_levels);
      if (outcome.answer != PackFilling::FillingAnswer::yes)
        return branch_by_pinning(node, relaxation, all_levels, outcome);
      if (relaxation.bound() >= cutoff()) return {};
    }
    return branch_by_pinning(node, relaxation, all_levels,
                             {PackFilling::FillingAnswer::unknown, 0});
  }

  struct FillingOutcome {
    PackFilling::FillingAnswer answer;
    std::size_t level;  // the first that could not be filled
  };

  // Fills the packs of each level with its tasks; where all are filled the co-schedule may be the
  // best.
  FillingOutcome fill_levels(const std::vector<LengthLevel>& all_levels) {
    Packs packs;
    for (std::size_t l = 0; l < all_levels.size(); ++l) {
      std::vector<int> proc_needs;
      for (const int i : all_levels[l].tasks)
        proc_needs.push_back(fewest_within(instance_.times(), i, all_levels[l].length));
      const PackFilling filling =
          fill_packs(proc_needs, all_levels[l].packs, instance_.procs(), instance_.max_tasks());
      if (filling.answer != PackFilling::FillingAnswer::yes) return {filling.answer, l};
      for (const std::vector<int>& indices : filling.packs) {
        if (indices.empty()) continue;
        packs.emplace_back();
        for (const int index : indices) packs.back().push_back(all_levels[l].tasks[index]);
      }
    }
    if (!is_partition(packs, instance_.tasks()))
      return {PackFilling::FillingAnswer::unknown, 0};  // because of rounding errors in the master
    Coschedule coschedule = heuristic::with_optimal_procs(instance_.times(), packs);
    if (coschedule.cost < best_.cost) best_ = std::move(coschedule);
    return {PackFilling::FillingAnswer::yes, 0};
  }

  // Pins the level that could not be filled, or another one.  A node in which all is pinned and a
  // level cannot be filled has no solution.
  std::vector<BranchNode> branch_by_pinning(const BranchNode& node,
                                            const columns::ColumnRelaxation& relaxation,
                                            const std::vector<LengthLevel>& all_levels,
                                            const FillingOutcome& outcome) {
    if (outcome.level < all_levels.size())
      if (const auto question =
              pinning_branching(node.restrictions, all_levels, all_levels[outcome.level]))
        return make_children(node, relaxation, *question);
    if (outcome.answer == PackFilling::FillingAnswer::no) return {};
    for (const LengthLevel& level : all_levels)
      if (const auto question = pinning_branching(node.restrictions, all_levels, level))
        return make_children(node, relaxation, *question);
    unresolved_bound_ = std::min(unresolved_bound_, std::max(node.bound, relaxation.bound()));
    return {};
  }

  std::vector<BranchNode> make_children(const BranchNode& node,
                                        const columns::ColumnRelaxation& relaxation,
                                        const Alternatives& alternatives) {
    std::vector<BranchNode> result;
    for (const columns::Restrictions& restrictions : alternatives) {
      bool is_empty = false;
      for (int i = 0; i < instance_.tasks(); ++i)
        is_empty = is_empty || restrictions.least_length[i] >= restrictions.below_length[i];
      if (is_empty) continue;
      result.push_back({restrictions, relaxation.prices(), std::max(node.bound, relaxation.bound()),
                        ++created_nodes_});
    }
    return result;
  }

  std::vector<columns::PackColumn> useful_columns(const BranchNode& node) const {
    if (node.prices.task.empty()) return {pool_.begin(), pool_.end()};
    std::vector<double> prices = node.prices.count;
    prices.resize(node.restrictions.counts.size(), 0.0);
    const columns::CountPrices count_price(node.restrictions.counts, prices);
    std::vector<columns::PackColumn> columns;
    for (const columns::PackColumn& column : pool_) {
      double worth = count_price(column.length);
      for (const int i : column.tasks) worth += node.prices.task[i];
      if (worth >= column.length * (1 - params_.pool_margin)) columns.push_back(column);
    }
    return columns;
  }

  void add_to_pool(const columns::PackColumn& column) {
    if (!column.tasks.empty() && pool_.size() < params_.max_pooled_columns) pool_.insert(column);
  }

  struct ColumnOrder {
    bool operator()(const columns::PackColumn& a, const columns::PackColumn& b) const {
      return a.length < b.length || (a.length == b.length && a.tasks < b.tasks);
    }
  };

  BranchPriceParams params_;
  const Instance& instance_;
  Coschedule best_;
  columns::Dominance dominates_;
  std::set<columns::PackColumn, ColumnOrder> pool_;
  std::priority_queue<BranchNode, std::vector<BranchNode>, LaterNode> open_parts_;
  double bound_ = 0;                     // of the root, before its pricing
  double unresolved_bound_ = kInfinity;  // least bound of nodes that no branching could split
  std::int64_t created_nodes_ = 0;
};

}  // namespace

ExactResult branch_and_price(const Instance& instance, const Coschedule& start,
                             std::optional<double> time_limit, std::int64_t max_nodes,
                             const BranchPriceParams& params) {
  BranchPriceSearch search(instance, start, params);
  const bool is_complete = finishes_within(time_limit, [&] { search.run(max_nodes); });
  ExactResult result = search.result();
  result.is_complete = is_complete;
  return result;
}

}  // namespace cosched::packs::exact
