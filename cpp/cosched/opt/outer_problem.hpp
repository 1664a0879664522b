// minimise over fractional choices x the largest of a few measures, of which the last is the
// longest path: the weights of the measures at which their least weighted sum is highest, by column
// generation.
//
// Every question (a vector of weights) has two answers (Relaxation): a bound on the value LP*, and
// a choice with its measures, a column of a matrix game.  The game's value is what a mixture of the
// choices so far reaches, LP* or more; its prices are the weights that would decide among them, and
// so the next question.  Bound and value meet at LP*.  Questions in this order, each part leaving
// what it finds to the next: the weight of the path alone (weigh_path), or of a large graph where a
// slice of it says (follow); then the game's prices, held near the best weights so far while bound
// and value are apart (run).
//
// Three tasks where no measure decides alone: a (3 s on the CPU, 2 s on the GPU) before b (2, 1),
// and c (6, 3), one unit each.  The loads alone prove 11/3 by the weights (1/3, 2/3, 0), the path
// of the fastest types proves 3 by (0, 0, 1).  At (1/4, 1/2, 1/4), with the path's flow through a
// and b, a costs min(3 (1/4 + 1/4), 2 (1/2 + 1/4)) = 1.5, b min(1, 0.75), c min(1.5, 1.5): 3.75,
// which a three quarters on the CPU, b on the GPU and c a quarter on the CPU reach.
#pragma once

#include "cosched/core/task_graph.hpp"
#include "cosched/core/times.hpp"
#include "cosched/opt/matrix_game.hpp"

namespace cosched::opt {

/// A fractional choice and its measures.
struct Relaxed {
  Table x;                       // a row a task, rows sum to 1
  std::vector<double> measures;  // the longest path last
};

/// What answers questions: the least weighted sum of the measures.
class Relaxation {
 public:
  struct Optimum {
    double bound;  // at most the weighted sum of `point.measures`
    Relaxed point;
  };
  virtual Optimum minimise(const std::vector<double>& weights) = 0;
  /// Of the last question, where the path had a weight: through each task, and on links of the
  /// event network.
  virtual std::vector<double> task_flow() const = 0;
  virtual std::vector<double> link_flow() const = 0;

 protected:
  ~Relaxation() = default;
};

/// A model of the whole that is cheaper to ask.
class Guide {
 public:
  /// From now on the model has these measures at these weights, as the whole has.
  virtual void correct(const std::vector<double>& weights, const std::vector<double>& measures) = 0;
  /// The weights at which the least weighted sum of the measures is highest, up to a relative
  /// `gap`. `columns`: measures of choices of the whole; `start`: weights to begin at.
  virtual std::vector<double> best_weights(const std::vector<std::vector<double>>& columns,
                                           std::vector<double> start, double gap) = 0;

 protected:
  ~Guide() = default;
};

/// A lower bound and the dual solution behind it.
struct Proof {
  double bound = -kInfinity;
  std::vector<double> weights;
  std::vector<double> task_flow;  // empty: no flow
  std::vector<EdgeFlow> edge_flow;
  bool in_network =
      false;  // the flow is on link_flow, links of the event network, not yet on edges
  std::vector<double> link_flow;
};

/// Weights of which the path has `path` and the loads share the rest.
inline std::vector<double> with_path(const std::vector<double>& load_weights, double path) {
  std::vector<double> weights;
  for (const double weight : load_weights) weights.push_back((1 - path) * weight);
  weights.push_back(path);
  return weights;
}

/// Choices found so far are the columns of a matrix game; its prices say which weights to ask next.
class OuterProblem {
 public:
  OuterProblem(Relaxation& relaxation, int measures) : relaxation_(relaxation), game_(measures) {}

  void add(Relaxed point) {
    game_.add_column(point.measures);
    measures_.push_back(std::move(point.measures));
    points_.push_back(std::move(point.x));
    game_.solve();
  }

  /// Asks at these weights.
  void ask(const std::vector<double>& weights) { query(weights); }
  bool has_proof() const { return !proof_.weights.empty(); }

  /// Takes over a proof that is better than the best so far.
  void offer(Proof proof) {
    if (proof.bound > proof_.bound) proof_ = std::move(proof);
  }

  /// Finds the weight of the path, roughly, while those of the loads keep their proportions.
  // A game with two rows.  The first query gives the path a third: a high weight first, since it
  // falls with fewer pivots than it rises.
  void weigh_path(const std::vector<double>& load_weights) {
    constexpr double kRough = 0.02;
    double path = 1.0 / 3;
    for (int round = 0; round < 6; ++round) {
      query(with_path(load_weights, path));
      MatrixGame line(2);
      for (const std::vector<double>& measures : measures_)
        line.add_column(
            {std::inner_product(load_weights.begin(), load_weights.end(), measures.begin(), 0.0),
             measures.back()});
      line.solve();
      if (leq(line.value(), proof_.bound, kRough)) return;
      path = line.prices()[1];
    }
  }

  /// Whether the model leaves nearly all weight to the path.
  bool path_leads(Guide& model, const std::vector<double>& start) const {
    return model.best_weights(measures_, start, 1e-3).back() > kNearlyAll;
  }

  /// Asks at these weights, then where the model takes the best ones to be, and corrects it by what
  /// that tells.  True: with `stop_at_path`, as soon as the model leaves nearly all weight to the
  /// path.
  bool follow(Guide& model, std::vector<double> weights, bool stop_at_path) {
    constexpr int kRounds = 6;
    constexpr double kNear = 1e-5;  // then facets of the whole decide, which a slice does not have
    std::vector<double> last_step;
    double damping = 1;
    for (int round = 1;; ++round) {
      query(weights);
      if (gap() < kNear || round == kRounds) return false;
      model.correct(weights, measures_.back());
      std::vector<double> step = model.best_weights(measures_, weights, 0.1 * kNear);
      if (stop_at_path && step.back() > kNearlyAll) return true;
      for (std::size_t r = 0; r < step.size(); ++r) step[r] -= weights[r];
      if (!last_step.empty()) damping = aitken(damping, last_step, step);
      for (std::size_t r = 0; r < step.size(); ++r) weights[r] += damping * step[r];
      last_step = std::move(step);
    }
  }

  /// Until value and proof are within a relative `gap`.  Throws SolverError if that fails.
  void run(double gap) {
    constexpr int kRounds = 2000;
    double trust = 1;  // falls to 0 while smoothed weights cut nothing off
    for (int round = 0; round < kRounds; ++round) {
      if (leq(game_.value(), proof_.bound, gap)) return;
      const double value = game_.value(), bound = proof_.bound;
      query(next_weights(trust));
      const bool moved = proof_.bound > bound || game_.value() < value * (1 - 1e-12);
      if (!moved && trust == 0) throw SolverError("the column generation stalls");
      trust = moved ? 1 : trust < 0.1 ? 0 : trust / 2;
    }
    throw SolverError("the column generation does not end");
  }

  int flows() const { return static_cast<int>(asked_.size()); }
  const Proof& proof() const { return proof_; }

  /// The best mixture of the choices so far; there is one.
  Table combination() const {
    Table x(points_.front().rows(), points_.front().cols());
    for (std::size_t t = 0; t < points_.size(); ++t)
      if (game_.combination()[t] > 0) x.add(game_.combination()[t], points_[t]);
    return x;
  }

 private:
  static constexpr double kNearlyAll = 0.9;  // of the weight, where the path decides

  static double distance(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t r = 0; r < a.size(); ++r) sum += std::abs(a[r] - b[r]);
    return sum;
  }

  // Relaxation of a fixed-point iteration by its last two steps (Aitken): a model that goes too far
  // each time, and back, is followed part of the way.  At most the whole way.
  static double aitken(double damping, const std::vector<double>& before,
                       const std::vector<double>& step) {
    double along = 0, squared = 0;
    for (std::size_t r = 0; r < step.size(); ++r) {
      const double change = step[r] - before[r];
      along += before[r] * change;
      squared += change * change;
    }
    return squared > 0 ? std::min(1.0, std::max(0.2, -damping * along / squared)) : damping;
  }

  // Share of the best weights so far in the next query.  A far jump costs many pivots, so
  // stay close while the prices are still wild (measured on the Chameleon graphs).  At the end
  // a query leaves the tree nearly as it is: the prices are exact.
  static double smoothing_at(double gap) {
    if (gap > 1e-2) return 0.93;
    if (gap > 1e-4) return 0.85;
    return gap > 1e-7 ? 0.3 : 0;
  }

  // A question, and the bound that was its answer.
  struct Asked {
    std::vector<double> weights;
    double bound;
  };

  void query(const std::vector<double>& weights) {
    Relaxation::Optimum found = relaxation_.minimise(weights);
    asked_.push_back({weights, found.bound});
    if (found.bound > proof_.bound) {
      proof_ = Proof();
      proof_.bound = found.bound;
      proof_.weights = weights;
      proof_.in_network = weights.back() > 0;
      if (proof_.in_network) {
        proof_.task_flow = relaxation_.task_flow();
        proof_.link_flow = relaxation_.link_flow();
      }
    }
    add(std::move(found.point));
  }

  double gap() const { return game_.value() / proof_.bound - 1; }

  // How far from the best weights better ones may be.  Bounds fall with the square of the distance
  // at least as fast as they did at the weights asked so far, and none can be more than the gap
  // above the best.
  double radius() const {
    double curvature = kInfinity;
    for (const Asked& asked : asked_)
      if (asked.bound < proof_.bound) {
        const double away = distance(asked.weights, proof_.weights);
        curvature = std::min(curvature, (1 - asked.bound / proof_.bound) / (away * away));
      }
    return curvature < kInfinity ? std::sqrt(gap() / curvature) : kInfinity;
  }

  std::vector<double> next_weights(double trust) const {
    std::vector<double> weights = game_.prices();
    double share = 1 - trust * smoothing_at(gap());
    const double away = distance(weights, proof_.weights);
    if (trust > 0 && away > 0) share = std::min(share, 0.5 * radius() / away);
    for (std::size_t r = 0; r < weights.size(); ++r)
      weights[r] = (1 - share) * proof_.weights[r] + share * weights[r];
    return weights;
  }

  Relaxation& relaxation_;
  MatrixGame game_;
  std::vector<std::vector<double>> measures_;
  std::vector<Table> points_;
  std::vector<Asked> asked_;
  Proof proof_;
};

}  // namespace cosched::opt
