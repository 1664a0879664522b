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

#include "cosched/opt/dual_proof.hpp"
#include "cosched/opt/matrix_game.hpp"
#include "cosched/opt/surrogate_model.hpp"
#include "cosched/opt/weighted_relaxation.hpp"

namespace cosched::opt {

/// Weights of which the path has `path` and the loads share the rest.
std::vector<double> with_path(const std::vector<double>& load_weights, double path);

/// None of these changes the optimum: they decide where the outer problem queries next.
struct OuterProblemParams {
  /// The path decides where the model gives it more than this weight.
  double dominating_path_weight = 0.9;
  /// Queries of search_path_weight(), and the relative gap on its line at which it ends.
  int path_weight_rounds = 6;
  double path_weight_gap = 0.02;
  /// Queries of follow_model(), and the relative gap at which it ends: then facets of the whole
  /// decide, which a model of a slice does not have.
  int model_rounds = 6;
  double model_gap = 1e-5;
  /// Queries of close_gap() before it gives up.
  int max_rounds = 2000;
};

/// Choices found so far are the columns of a matrix game; its prices say which weights to ask next.
class OuterProblem {
 public:
  OuterProblem(WeightedRelaxation& relaxation, int measures, const OuterProblemParams& params = {})
      : params_(params), relaxation_(relaxation), game_(measures) {}

  void add_point(RelaxedPoint point);

  /// Asks at these weights.
  void query_at(const std::vector<double>& weights) { evaluate(weights); }
  bool has_proof() const { return !proof_.weights.empty(); }

  /// Takes over a proof that is better than the best so far.
  void offer_proof(DualProof proof) {
    if (proof.bound > proof_.bound) proof_ = std::move(proof);
  }

  /// Finds the weight of the path, roughly, while those of the loads keep their proportions.
  // A game with two rows.  The first query gives the path a third: a high weight first, since it
  // falls with fewer pivots than it rises.
  void search_path_weight(const std::vector<double>& load_weights);

  /// Whether the model leaves nearly all weight to the path.
  bool is_led_by_path(SurrogateModel& model, const std::vector<double>& start) const {
    constexpr double kGap = 1e-3;  // relative: the path's weight is asked for roughly
    return model.best_weights(measures_, start, kGap).back() > params_.dominating_path_weight;
  }

  /// Asks at these weights, then where the model takes the best ones to be, and corrects it by what
  /// that tells.  True: with `stop_at_path`, as soon as the model leaves nearly all weight to the
  /// path.
  bool follow_model(SurrogateModel& model, std::vector<double> weights, bool stop_at_path);

  /// Until value and proof are within a relative `gap`.  Throws SolverError if that fails.
  void close_gap(double gap);

  int query_count() const { return static_cast<int>(queries_.size()); }
  const DualProof& proof() const { return proof_; }

  /// The best mixture of the choices so far; there is one.
  Table combination() const;

 private:
  static double distance(const std::vector<double>& a, const std::vector<double>& b);
  static double aitken(double damping, const std::vector<double>& before,
                       const std::vector<double>& step);
  static double smoothing_at(double gap);

  // A question, and the bound that was its answer.
  struct QueryResult {
    std::vector<double> weights;
    double bound;
  };

  void evaluate(const std::vector<double>& weights);
  double gap() const { return game_.value() / proof_.bound - 1; }

  double search_radius() const;
  std::vector<double> next_weights(double smoothing) const;

  OuterProblemParams params_;
  WeightedRelaxation& relaxation_;
  MatrixGame game_;
  std::vector<std::vector<double>> measures_;
  std::vector<Table> points_;
  std::vector<QueryResult> queries_;
  DualProof proof_;
};

}  // namespace cosched::opt
