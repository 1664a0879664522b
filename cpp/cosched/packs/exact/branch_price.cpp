#include "cosched/packs/exact/branch_price.hpp"

#include <queue>
#include <set>

#include "cosched/packs/columns/relaxation.hpp"
#include "cosched/packs/exact/questions.hpp"
#include "cosched/packs/heuristic/one_pack.hpp"

namespace cosched::packs::exact {
namespace {

constexpr double kPoolMargin = 0.05;         // columns this close to useful start a node's master
constexpr std::size_t kMostPooled = 50'000;  // columns kept for later nodes
constexpr double kTolerances[] = {1e-5, 1e-8, 1e-11};

struct Node {
  columns::Restrictions restrictions;
  columns::Prices prices;  // that prove `bound`; empty at the root
  double bound;
  std::int64_t number;
};

struct LaterNode {
  bool operator()(const Node& a, const Node& b) const {
    return a.bound > b.bound || (a.bound == b.bound && a.number > b.number);
  }
};

// Is every task in one pack?
bool partitions(const Packs& packs, int tasks) {
  std::vector<int> times_held(tasks, 0);
  for (const std::vector<int>& pack : packs)
    for (const int i : pack) ++times_held[i];
  return std::all_of(times_held.begin(), times_held.end(), [](int held) { return held == 1; });
}

class Search {
 public:
  Search(const Instance& instance, const Coschedule& start) : instance_(instance), best_(start) {
    open_.push(root());
    bound_ = open_.top().bound;
  }

  // An exception leaves the node that was at work in the queue, so that bound() counts it.
  void run(std::int64_t most_nodes) {
    dominates_ = columns::dominance(instance_.times());
    fill_pool();
    for (std::int64_t nodes = 0; !finished() && nodes < most_nodes; ++nodes) {
      std::vector<Node> children = process(open_.top());
      open_.pop();
      for (Node& child : children) open_.push(std::move(child));
    }
  }

  ExactResult result() const {
    const bool proved = finished() && unresolved_ >= cutoff();
    const double open = open_.empty() ? kInfinity : open_.top().bound;
    const double bound = std::max(bound_, std::min(open, unresolved_));
    return {best_, proved ? best_.cost : std::min(bound, best_.cost), proved, true};
  }

 private:
  double cutoff() const { return best_.cost * (1 - kExactTolerance); }
  bool finished() const { return open_.empty() || open_.top().bound >= cutoff(); }

  Node root() const {
    Node node;
    node.restrictions.least.assign(instance_.tasks(), 0.0);
    node.restrictions.below.assign(instance_.tasks(), kInfinity);
    node.restrictions.counts = columns::least_counts(instance_);
    node.bound = std::max(area_bound(instance_), longest_bound(instance_));
    node.number = 0;
    return node;
  }

  void fill_pool() {
    for (const columns::Column& column : columns::first_columns(instance_)) remember(column);
    const Packs packs = members(best_.pack_of);
    const std::vector<double> lengths = pack_costs(instance_, best_.pack_of, best_.procs);
    for (std::size_t b = 0; b < packs.size(); ++b) remember({lengths[b], packs[b]});
  }

  // Solves the node's relaxation, ever more precisely where that alone is missing; returns the
  // children, none when the node can hold nothing better.
  std::vector<Node> process(const Node& node) {
    columns::Relaxation relaxation(instance_, dominates_, node.restrictions, useful_columns(node));
    if (!node.prices.task.empty()) relaxation.start_from(node.prices, node.bound);
    std::vector<Level> all;
    for (const double tolerance : kTolerances) {
      columns::Relaxation::Options options;
      options.tolerance = tolerance;
      options.cutoff = cutoff();
      relaxation.solve(options);
      for (const columns::Column& column : relaxation.columns()) remember(column);
      if (relaxation.bound() >= cutoff()) return {};
      const std::vector<columns::FractionalPack> packs = relaxation.fractional_partition();
      if (const auto question = most_open_question(node.restrictions, packs))
        return children(node, relaxation, *question);
      all = levels(packs, instance_.tasks());
      const Settled settled = settle(all);
      if (settled.answer != Filling::Answer::yes) return pin(node, relaxation, all, settled);
      if (relaxation.bound() >= cutoff()) return {};
    }
    return pin(node, relaxation, all, {Filling::Answer::unknown, 0});
  }

  struct Settled {
    Filling::Answer answer;
    std::size_t level;  // that could not be filled
  };

  // Fills each level's packs with its tasks; a full co-schedule may be the best so far.
  Settled settle(const std::vector<Level>& all) {
    Packs packs;
    for (std::size_t l = 0; l < all.size(); ++l) {
      std::vector<int> needs;
      for (const int i : all[l].tasks)
        needs.push_back(fewest_within(instance_.times(), i, all[l].length));
      const Filling filling =
          fill_packs(needs, all[l].packs, instance_.procs(), instance_.max_tasks());
      if (filling.answer != Filling::Answer::yes) return {filling.answer, l};
      for (const std::vector<int>& indices : filling.packs) {
        if (indices.empty()) continue;
        packs.emplace_back();
        for (const int index : indices) packs.back().push_back(all[l].tasks[index]);
      }
    }
    if (!partitions(packs, instance_.tasks()))
      return {Filling::Answer::unknown, 0};  // by the master's rounding errors
    Coschedule found = heuristic::with_optimal_procs(instance_.times(), packs);
    if (found.cost < best_.cost) best_ = std::move(found);
    return {Filling::Answer::yes, 0};
  }

  // The level that could not be filled, or another, is pinned to what it is; what cannot be filled
  // when all is pinned has no solution.
  std::vector<Node> pin(const Node& node, const columns::Relaxation& relaxation,
                        const std::vector<Level>& all, const Settled& settled) {
    if (settled.level < all.size())
      if (const auto question = pinning_question(node.restrictions, all, all[settled.level]))
        return children(node, relaxation, *question);
    if (settled.answer == Filling::Answer::no) return {};
    for (const Level& level : all)
      if (const auto question = pinning_question(node.restrictions, all, level))
        return children(node, relaxation, *question);
    unresolved_ = std::min(unresolved_, std::max(node.bound, relaxation.bound()));
    return {};
  }

  std::vector<Node> children(const Node& node, const columns::Relaxation& relaxation,
                             const Alternatives& alternatives) {
    std::vector<Node> result;
    for (const columns::Restrictions& restrictions : alternatives) {
      bool empty = false;
      for (int i = 0; i < instance_.tasks(); ++i)
        empty = empty || restrictions.least[i] >= restrictions.below[i];
      if (empty) continue;
      result.push_back({restrictions, relaxation.prices(), std::max(node.bound, relaxation.bound()),
                        ++created_});
    }
    return result;
  }

  std::vector<columns::Column> useful_columns(const Node& node) const {
    if (node.prices.task.empty()) return {pool_.begin(), pool_.end()};
    std::vector<double> prices = node.prices.count;
    prices.resize(node.restrictions.counts.size(), 0.0);
    const columns::CountPrices count_price(node.restrictions.counts, prices);
    std::vector<columns::Column> columns;
    for (const columns::Column& column : pool_) {
      double worth = count_price(column.length);
      for (const int i : column.tasks) worth += node.prices.task[i];
      if (worth >= column.length * (1 - kPoolMargin)) columns.push_back(column);
    }
    return columns;
  }

  void remember(const columns::Column& column) {
    if (!column.tasks.empty() && pool_.size() < kMostPooled) pool_.insert(column);
  }

  struct ColumnOrder {
    bool operator()(const columns::Column& a, const columns::Column& b) const {
      return a.length < b.length || (a.length == b.length && a.tasks < b.tasks);
    }
  };

  const Instance& instance_;
  Coschedule best_;
  columns::Dominance dominates_;
  std::set<columns::Column, ColumnOrder> pool_;
  std::priority_queue<Node, std::vector<Node>, LaterNode> open_;
  double bound_ = 0;               // of the root, without pricing
  double unresolved_ = kInfinity;  // least bound of nodes that no question could split
  std::int64_t created_ = 0;
};

}  // namespace

ExactResult branch_and_price(const Instance& instance, const Coschedule& start,
                             std::optional<double> time_limit, std::int64_t most_nodes) {
  Search search(instance, start);
  const bool complete = finishes_within(time_limit, [&] { search.run(most_nodes); });
  ExactResult result = search.result();
  result.complete = complete;
  return result;
}

}  // namespace cosched::packs::exact
