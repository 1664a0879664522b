// A flow in an acyclic network with its spanning tree: what the primal and the dual pivots of
// network_simplex.hpp share.
#pragma once

#include <cstdint>
#include <vector>

#include "cosched/opt/spanning_tree.hpp"

namespace cosched::opt {

struct LengthArc {
  int from, to;
  double length;
};

/// Plain data, which the pivots change in place: the flow of an arc beside the tree is at a bound,
/// that of a tree arc follows; the potentials make every tree arc tight.
struct FlowTree {
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
  /// Requires what LongestFlow requires.
  FlowTree(int node_count, std::vector<LengthArc> all, std::vector<char> always);

  void build_first_tree();
  void recompute_potentials();
  void recompute_flows();
  double reduced_length(int arc) const {
    return potential[arcs[arc].from] + arcs[arc].length - potential[arcs[arc].to];
  }
  double violation(int arc) const;
  int lower_end(int arc) const;
  void set_bound(int arc, bool upper);
  /// Lists the arc as violated where it is.
  void note(int arc);
  void count_pivot();

  int nodes, count;
  std::vector<LengthArc> arcs;
  std::vector<char> endless;
  std::vector<int> capped;  // the other arcs
  Incidence leaving, entering, leaving_capped, entering_capped;
  std::vector<double> capacity, flow, balance;
  std::vector<double> distance;  // potentials before the tree takes them over
  std::vector<State> state;
  SpanningTree tree;
  TreePotentials potential;
  bool has_tree = false;
  double demand = 0, tolerance = 0, length_tolerance = 0;
  std::int64_t pivots = 0, pivot_limit = 0;

  std::vector<int> violated;  // tree arcs that may be outside their bounds
  std::vector<char> noted;
};

}  // namespace cosched::opt
