// minimise over fractional choices x the largest of a few measures, of which the last is the longest path: the weights of
// the measures at which their least weighted sum is highest, by column generation.
//
// Every question (a vector of weights) has two answers (Relaxation): a bound on the value LP*, and a choice
// with its measures, a column of a matrix game.  The game's value is what a mixture of the choices so
// far reaches, LP* or more; its prices are the weights that would decide among them, and so the next
// question.  Bound and value meet at LP*.  Questions in this order, each part leaving what it finds to the
// next: the weight of the path alone (weigh_path), or of a large graph where a slice of it says (follow);
// then the game's prices, held near the best weights so far while bound and value are apart (run).
//
// Three tasks where no measure decides alone: a (3 s on the CPU, 2 s on the GPU) before b (2, 1), and
// c (6, 3), one unit each.  The loads alone prove 11/3 by the weights (1/3, 2/3, 0), the path of the
// fastest types proves 3 by (0, 0, 1).  At (1/4, 1/2, 1/4), with the path's flow through a and b, a costs
// min(3 (1/4 + 1/4), 2 (1/2 + 1/4)) = 1.5, b min(1, 0.75), c min(1.5, 1.5): 3.75, which a three
// quarters on the CPU, b on the GPU and c a quarter on the CPU reach.
#pragma once

#include <utility>
#include <vector>

#include "cosched/core/numeric.hpp"
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
  /// Of the last question, where the path had a weight: through each task, and on links of the event network.
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
  /// The weights at which the least weighted sum of the measures is highest, up to a relative `gap`.
  /// `columns`: measures of choices of the whole; `start`: weights to begin at.
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
std::vector<double> with_path(const std::vector<double>& load_weights, double path);

/// Choices found so far are the columns of a matrix game; its prices say which weights to ask next.
class OuterProblem {
 public:
  OuterProblem(Relaxation& relaxation, int measures) : relaxation_(relaxation), game_(measures) {}

  void add(Relaxed point);

  /// Asks at these weights.
  void ask(const std::vector<double>& weights) { query(weights); }
  bool has_proof() const { return !proof_.weights.empty(); }

  /// Takes over a proof that is better than the best so far.
  void offer(Proof proof);

  /// Finds the weight of the path, roughly, while those of the loads keep their proportions.
  void weigh_path(const std::vector<double>& load_weights);

  /// Whether the model leaves nearly all weight to the path.
  bool path_leads(Guide& model, const std::vector<double>& start) const;

  /// Asks at these weights, then where the model takes the best ones to be, and corrects it by what
  /// that tells.  True: with `stop_at_path`, as soon as the model leaves nearly all weight to the path.
  bool follow(Guide& model, std::vector<double> weights, bool stop_at_path);

  /// Until value and proof are within a relative `gap`.  Throws SolverError if that fails.
  void run(double gap);

  int flows() const { return static_cast<int>(asked_.size()); }
  const Proof& proof() const { return proof_; }

  /// The best mixture of the choices so far; there is one.
  Table combination() const;

 private:
  // A question, and the bound that was its answer.
  struct Asked {
    std::vector<double> weights;
    double bound;
  };

  void query(const std::vector<double>& weights);
  double gap() const { return game_.value() / proof_.bound - 1; }
  double radius() const;
  std::vector<double> next_weights(double trust) const;

  Relaxation& relaxation_;
  MatrixGame game_;
  std::vector<std::vector<double>> measures_;
  std::vector<Table> points_;
  std::vector<Asked> asked_;
  Proof proof_;
};

}  // namespace cosched::opt
