// The outer problem of the structured HLP method: the weights of the loads and of the longest path
// at which the least weighted sum of the measures is highest, by column generation.
//
// Every question (a vector of weights) has two answers (trade_off.hpp): a bound on LP*, and an allocation
// with its measures, a column of a matrix game.  The game's value is what a mixture of the allocations so
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
#include "cosched/dags/hlp/slice_model.hpp"
#include "cosched/dags/hlp/trade_off.hpp"
#include "cosched/opt/matrix_game.hpp"

namespace cosched::dags::hlp {

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

/// Allocations found so far are the columns of a matrix game; its prices say which weights to ask next.
class OuterProblem {
 public:
  OuterProblem(const Instance& instance, TradeOff& trade_off)
      : instance_(instance), trade_off_(trade_off), game_(instance.types() + 1) {}

  void add(Relaxed point);

  /// Takes over a proof that is better than the best so far.
  void offer(Proof proof);

  /// Finds the weight of the path, roughly, while those of the loads keep their proportions.
  void weigh_path(const std::vector<double>& load_weights);

  /// Whether the model leaves nearly all weight to the path.
  bool path_leads(SliceModel& model, const std::vector<double>& start) const;

  /// Asks at these weights, then where the model takes the best ones to be, and corrects it by what
  /// that tells.  True: with `stop_at_path`, as soon as the model leaves nearly all weight to the path.
  bool follow(SliceModel& model, std::vector<double> weights, bool stop_at_path);

  /// Until value and proof are within a relative `gap`.  Throws SolverError if that fails.
  void run(double gap);

  int flows() const { return static_cast<int>(asked_.size()); }
  const Proof& proof() const { return proof_; }

  /// The best mixture of the allocations so far.
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

  const Instance& instance_;
  TradeOff& trade_off_;
  opt::MatrixGame game_;
  std::vector<std::vector<double>> measures_;
  std::vector<Table> points_;
  std::vector<Asked> asked_;
  Proof proof_;
};

}  // namespace cosched::dags::hlp
