// Flow of maximal total length in an acyclic network: a network simplex that keeps its tree
// from one set of capacities to the next.
#pragma once

#include <cstdint>
#include <vector>

#include "cosched/opt/spanning_tree.hpp"
#include "cosched/opt/tree_potentials.hpp"

namespace cosched::opt {

struct LengthArc {
  int from, to;
  double length;
};

/// maximise sum length(a) f(a) over flows of amount `demand` from node 0 to the last node
/// with 0 <= f(a) <= capacity(a).
///
/// The lengths stay, only capacities and demand change from call to call.  The tree of the
/// last optimum is kept, and the caller turns its flow into one that is feasible for the new
/// capacities (easy where a fast endless arc runs beside each capacitated one): primal pivots
/// go on from there.  Dual pivots, with long steps, sweep out what rounding leaves.
class LongestFlow {
 public:
  /// Requires from < to for every arc (nodes in topological order), every node reachable
  /// from node 0 by the arcs of `endless` (a flag an arc: its capacity is always infinite)
  /// and the last node reachable from every node by them.
  LongestFlow(int nodes, std::vector<LengthArc> arcs, std::vector<char> endless);

  /// Solves for capacity[a] >= 0 (ignored for endless arcs) and demand > 0.  `start`: a
  /// feasible flow; ignored at the first call.
  /// Throws SolverError when the pivots do not end (a numerical breakdown).
  void solve(const std::vector<double>& capacity, double demand, const std::vector<double>& start);
  bool has_flow() const { return has_tree_; }

  /// f(a), within [0, capacity] up to 1e-12 demand.
  double flow(int arc) const { return flow_[arc]; }
  /// Longest-path potentials: y(to) - y(from) >= length where the flow is below its
  /// capacity, <= length where it is above 0.  y(0) = 0.
  double potential(int node) const { return potential_[node]; }

 private:
  // closed: at its lower bound, which is its upper bound too.
  enum class State : char { lower, upper, tree, closed };
  struct Incident {
    int other, arc;
    double length;
  };
  struct Incidence {  // arcs at each node, with what a scan needs side by side
    std::vector<int> begin;
    std::vector<Incident> items;
    struct Range {
      const Incident *first, *last;
      const Incident* begin() const { return first; }
      const Incident* end() const { return last; }
    };
    Range at(int node) const {
      return {items.data() + begin[node], items.data() + begin[node + 1]};
    }
    void build(int nodes, const std::vector<LengthArc>& arcs, bool leaving,
               const std::vector<char>* skip);
  };
  struct Crossing {  // an arc that may enter, and how far the cut's potentials move to it
    double ratio;
    int arc;
    bool operator<(const Crossing& other) const {
      return ratio != other.ratio ? ratio > other.ratio : arc > other.arc;
    }
  };
  struct Blocking {  // the first arc of a cycle to reach a bound
    double amount;
    int top;  // its lower end; -1: the entering arc itself
    bool on_from_side;
  };

  void build_first_tree();
  void recompute_potentials();
  void recompute_flows();
  double reduced_length(int arc) const {
    return potential_[arcs_[arc].from] + arcs_[arc].length - potential_[arcs_[arc].to];
  }
  double violation(int arc) const;
  int lower_end(int arc) const;
  void set_bound(int arc, bool upper);
  void count_pivot();

  void dual_phase();
  void note(int arc);
  int choose_violated();
  void dual_pivot(int leaving);
  void find_crossings(const std::vector<int>& side, bool exporting, double amount);
  int push(int arc, double amount);

  void primal_phase();
  void adopt(const std::vector<double>& start);
  int choose_entering();
  void primal_pivot(int arc, bool increase);
  Blocking find_blocking(int arc, double sign, int join) const;
  void push_cycle(int arc, double amount, int join);
  int join_of(int arc) const;

  int nodes_, count_;
  std::vector<LengthArc> arcs_;
  std::vector<char> endless_;
  std::vector<int> capped_;  // the other arcs
  Incidence leaving_, entering_, leaving_capped_, entering_capped_;
  std::vector<double> capacity_, flow_, balance_;
  std::vector<double> distance_;  // potentials before the tree takes them over
  std::vector<State> state_;
  SpanningTree tree_;
  TreePotentials potential_;
  bool has_tree_ = false;
  double demand_ = 0, tolerance_ = 0, length_tolerance_ = 0;
  std::int64_t pivots_ = 0, pivot_limit_ = 0;

  std::vector<int> violated_;  // tree arcs that may be outside their bounds
  std::vector<char> noted_;
  std::size_t next_violated_ = 0;
  int next_entering_ = 0;
  std::vector<int> between_;
  std::vector<Crossing> crossings_;
};

}  // namespace cosched::opt
