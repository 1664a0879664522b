// A flow in an acyclic network with its spanning tree: the state on which primal pivots
// (primal_pivots.hpp) and dual pivots (dual_pivots.hpp) work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/opt/spanning_tree.hpp"
#include "cosched/opt/tree_potentials.hpp"

namespace cosched::opt {

struct LengthArc {
  int from, to;
  double length;
};

/// Data that pivots change in place.  The flow of an arc outside the tree is at one of its bounds,
/// and the flows of tree arcs follow from these; the potentials make every tree arc tight.
struct FlowTree {
  // closed: an arc of capacity 0, whose bounds are equal.
  enum class ArcState : char { lower, upper, tree, closed };
  struct IncidentArc {
    int other, arc;
    double length;
  };
  // The arcs at each node, with the data that a scan needs side by side.
  struct IncidenceLists {
    std::vector<int> begin;
    std::vector<IncidentArc> items;
    struct ArcRange {
      const IncidentArc *first, *last;
      const IncidentArc* begin() const { return first; }
      const IncidentArc* end() const { return last; }
    };
    ArcRange arcs_at(int node) const {
      return {items.data() + begin[node], items.data() + begin[node + 1]};
    }
    void build_lists(int size, const std::vector<LengthArc>& arcs, bool is_leaving,
                     const std::vector<char>* is_skipped) {
      begin.assign(size + 1, 0);
      const auto is_listed = [&](std::size_t a) { return !is_skipped || !(*is_skipped)[a]; };
      for (std::size_t a = 0; a < arcs.size(); ++a)
        if (is_listed(a)) ++begin[(is_leaving ? arcs[a].from : arcs[a].to) + 1];
      for (int node = 0; node < size; ++node) begin[node + 1] += begin[node];
      items.resize(begin.back());
      std::vector<int> next(begin.begin(), begin.end() - 1);
      for (std::size_t a = 0; a < arcs.size(); ++a) {
        if (!is_listed(a)) continue;
        const auto& [from, to, length] = arcs[a];
        items[next[is_leaving ? from : to]++] = {is_leaving ? to : from, static_cast<int>(a),
                                                 length};
      }
    }
  };
  /// Requires what MaxLengthFlow requires.
  FlowTree(int number_of_nodes, std::vector<LengthArc> length_arcs,
           std::vector<char> is_uncapacitated);

  /// Builds the longest-path tree of the uncapacitated arcs: with the whole demand on its path to
  /// the last node it is a feasible start whatever the capacities.
  void build_first_tree();
  /// Computes the potentials anew from the tree.
  void recompute_potentials();
  /// Computes the flows of the tree arcs from those of the others, and lists the violated arcs.
  void recompute_flows();

  /// By how much the flow gets longer for one unit more on the arc, around its cycle in the tree.
  double reduced_length(int arc) const {
    return potential[arcs[arc].from] + arcs[arc].length - potential[arcs[arc].to];
  }
  /// By how much the flow is outside of [0, capacity]; <= 0 inside.
  double violation(int arc) const { return std::max(-flow[arc], flow[arc] - capacity[arc]); }

  /// The end of a tree arc that is further from the root.
  int lower_end(int arc) const {
    return tree.arc(arcs[arc].from) == arc ? arcs[arc].from : arcs[arc].to;
  }

  /// The arc leaves the tree, or stays outside, with its flow at the upper or at the lower bound.
  void set_bound(int arc, bool upper) {
    state[arc] = capacity[arc] <= 0 ? ArcState::closed : upper ? ArcState::upper : ArcState::lower;
    flow[arc] = upper ? capacity[arc] : 0;
  }

  /// Adds the arc to violated_arcs where it violates its bounds.
  void list_if_violated(int arc);

  void count_pivot() {
    constexpr int kPivotsPerCheck = 16;  // of some microseconds each
    ++pivots;
    if (pivots % kPivotsPerCheck == 0) check_interrupt();
    if (pivots > pivot_limit) throw SolverError("network simplex: the pivots do not end");
  }

  int node_count, arc_count;
  std::vector<LengthArc> arcs;
  std::vector<char> uncapacitated;  // of each arc
  std::vector<int> capacitated;     // the arcs with a capacity
  IncidenceLists leaving, entering, leaving_capacitated, entering_capacitated;
  std::vector<double> capacity, flow;  // of each arc
  std::vector<double> balance;         // scratch: of each node, what flows in and not yet out
  std::vector<double> distance;        // potentials before `potential` takes them over
  std::vector<ArcState> state;         // of each arc
  SpanningTree tree;
  TreePotentials potential;
  bool has_tree = false;
  double demand = 0;
  double tolerance = 0;         // of flows
  double length_tolerance = 0;  // of reduced lengths
  std::int64_t pivots = 0, pivot_limit = 0;

  std::vector<int> violated_arcs;  // tree arcs that may violate their bounds
  std::vector<char> is_listed;
};

}  // namespace cosched::opt
