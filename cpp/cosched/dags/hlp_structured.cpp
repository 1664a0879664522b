#include "cosched/dags/hlp_structured.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "cosched/core/errors.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/dags/trade_off.hpp"
#include "cosched/opt/matrix_game.hpp"

namespace cosched::dags {
namespace {

// Tighter than promised, so that the sums of rounding errors still fit.
constexpr double kGap = 0.1 * kExactTolerance;

// Weight of the loads against the path's 1 where the path comes first.
constexpr double kHardly = 1e-5;

struct Proof {
  double bound = -kInfinity;
  std::vector<double> weights;
  std::vector<double> task_flow, link_flow;  // empty: no flow
};

Table fastest_types(const Instance& instance) {
  Table x = Table::Zero(instance.tasks(), instance.types());
  for (int task = 0; task < instance.tasks(); ++task) x(task, instance.fastest(task)) = 1;
  return x;
}

HlpSolution finish(const Instance& instance, TradeOff& trade_off, Table x, const Proof& proof) {
  HlpSolution solution;
  const std::vector<double> measures = measure(instance, trade_off.path(), x);
  solution.value = *std::max_element(measures.begin(), measures.end());
  solution.completion = earliest_ends(instance.graph(), fractional_durations(instance, x));
  solution.x = std::move(x);
  solution.certificate.weights = proof.weights;
  solution.certificate.task_flow = proof.task_flow;
  solution.certificate.task_flow.resize(instance.tasks(), 0.0);
  if (!proof.link_flow.empty() || !proof.task_flow.empty())
    solution.certificate.edge_flow =
        expand_flow(trade_off.network(), proof.task_flow, proof.link_flow);
  return solution;
}

// Columns and prices of the outer problem.
class Outer {
 public:
  Outer(const Instance& instance, TradeOff& trade_off)
      : instance_(instance), trade_off_(trade_off), game_(instance.types() + 1) {}

  void add(Relaxed point) {
    game_.add_column(point.measures);
    measures_.push_back(std::move(point.measures));
    points_.push_back(std::move(point.x));
    game_.solve();
  }

  /// Takes over a proof that is better than the best so far.
  void offer(Proof proof) {
    if (proof.bound > proof_.bound) proof_ = std::move(proof);
  }

  void query(const std::vector<double>& weights) {
    TradeOff::Optimum found = trade_off_.minimise(weights);
    ++flows_;
    if (found.bound > proof_.bound) {
      const bool with_path = weights.back() > 0;
      proof_ = {found.bound, weights, with_path ? trade_off_.task_flow() : std::vector<double>(),
                with_path ? trade_off_.link_flow() : std::vector<double>()};
    }
    add(std::move(found.point));
  }

  /// Finds the weight of the path, roughly, while those of the loads keep their proportions:
  /// a game with two rows.  The first query gives the path a third: a high weight first, since
  /// it falls with fewer pivots than it rises.
  void weigh_path(const std::vector<double>& load_weights) {
    constexpr double kRough = 0.02;
    double path = 1.0 / 3;
    for (int round = 0; round < 6; ++round) {
      std::vector<double> weights;
      for (const double weight : load_weights) weights.push_back((1 - path) * weight);
      weights.push_back(path);
      query(weights);
      opt::MatrixGame line(2);
      for (const std::vector<double>& measures : measures_)
        line.add_column(
            {std::inner_product(load_weights.begin(), load_weights.end(), measures.begin(), 0.0),
             measures.back()});
      line.solve();
      if (leq(line.value(), proof_.bound, kRough)) return;
      path = line.prices()[1];
    }
  }

  void run() {
    constexpr int kRounds = 2000;
    double trust = 1;  // falls to 0 while smoothed weights cut nothing off
    for (int round = 0; round < kRounds; ++round) {
      if (leq(game_.value(), proof_.bound, kGap)) return;
      const double value = game_.value(), bound = proof_.bound;
      const double smoothing = trust * smoothing_at(value / bound - 1);
      std::vector<double> weights = game_.prices();
      for (std::size_t r = 0; r < weights.size(); ++r)
        weights[r] = smoothing * proof_.weights[r] + (1 - smoothing) * weights[r];
      query(weights);
      const bool moved = proof_.bound > bound || game_.value() < value * (1 - 1e-12);
      if (!moved && trust == 0) throw SolverError("hlp: the column generation stalls");
      trust = moved ? 1 : trust < 0.1 ? 0 : trust / 2;
    }
    throw SolverError("hlp: the column generation does not end");
  }

  int flows() const { return flows_; }
  const Proof& proof() const { return proof_; }

  Table combination() const {
    Table x = Table::Zero(instance_.tasks(), instance_.types());
    for (std::size_t t = 0; t < points_.size(); ++t)
      if (game_.combination()[t] > 0) x += game_.combination()[t] * points_[t];
    return x;
  }

 private:
  // Share of the best weights so far in the next query.  A far jump costs many pivots, so
  // stay close while the prices are still wild (measured on the Chameleon graphs).
  static double smoothing_at(double gap) { return gap > 1e-2 ? 0.93 : gap > 1e-4 ? 0.85 : 0.3; }

  const Instance& instance_;
  TradeOff& trade_off_;
  opt::MatrixGame game_;
  std::vector<std::vector<double>> measures_;
  std::vector<Table> points_;
  Proof proof_;
  int flows_ = 0;
};

// The loads give way to the path as far as they can: prices of the path, then of the
// balanced loads.
std::vector<double> path_first(const AreaOptimum& area) {
  std::vector<double> weights;
  for (const double weight : area.weights) weights.push_back(kHardly * weight);
  weights.push_back(1);
  return weights;
}

Proof prove_by_path(const TradeOff& trade_off, const std::vector<double>& duration, int types) {
  const PathLength::Path path = trade_off.path().longest(duration);
  Proof proof{0, std::vector<double>(types + 1, 0.0), std::vector<double>(duration.size(), 0.0),
              std::vector<double>(trade_off.network().links.size(), 0.0)};
  proof.weights.back() = 1;
  for (const int task : path.tasks) {
    proof.task_flow[task] = 1;
    proof.bound += duration[task];
  }
  for (const int link : path.links) proof.link_flow[link] = 1;
  return proof;
}

}  // namespace

HlpSolution hlp_structured(const Instance& instance) {
  TradeOff trade_off(instance);
  const AreaOptimum area = balance_loads(instance);
  Proof by_area{area.value, area.weights, {}, {}};
  by_area.weights.push_back(0);
  Relaxed balanced{area.x, measure(instance, trade_off.path(), area.x)};
  if (leq(balanced.measures.back(), area.value, kGap))
    return finish(instance, trade_off, std::move(balanced.x), by_area);

  Relaxed fastest{fastest_types(instance), {}};
  fastest.measures = measure(instance, trade_off.path(), fastest.x);
  const double path = fastest.measures.back();
  const double fastest_value = *std::max_element(fastest.measures.begin(), fastest.measures.end());
  Outer outer(instance, trade_off);
  outer.offer(std::move(by_area));
  outer.add(std::move(balanced));
  outer.add(std::move(fastest));
  if (leq(area.value, path, kGap)) {
    Proof by_path = prove_by_path(
        trade_off, fractional_durations(instance, fastest_types(instance)), instance.types());
    if (leq(fastest_value, path, kGap))
      return finish(instance, trade_off, fastest_types(instance), by_path);
    Relaxed relaxed = trade_off.minimise(path_first(area)).point;
    if (leq(*std::max_element(relaxed.measures.begin(), relaxed.measures.end()), path, kGap))
      return finish(instance, trade_off, std::move(relaxed.x), by_path);
    outer.offer(std::move(by_path));
    outer.add(std::move(relaxed));
  }
  outer.weigh_path(area.weights);
  outer.run();
  HlpSolution solution = finish(instance, trade_off, outer.combination(), outer.proof());
  solution.flows = outer.flows();
  return solution;
}

}  // namespace cosched::dags
