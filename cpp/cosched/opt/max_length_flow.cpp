#include "cosched/opt/max_length_flow.hpp"

namespace cosched::opt {
namespace {

// Dual pivots scan cuts, so they only pay while few arcs are violated.
constexpr std::size_t kMaxViolatedForDual = 30;
// Flows within this part of the demand of a bound are at it: a flow is a sum of capacities, with a
// rounding error of 1e-16 for each.
constexpr double kFlowTolerance = 1e-13;
// Pivots after which a solve() fails: far more than it needs, against a cycle.
constexpr std::int64_t kMaxPivots = 100'000, kMaxPivotsPerArc = 100;
// How often flows are computed anew from the tree, and violated arcs are pivoted out.
constexpr int kMaxSweeps = 20;

}  // namespace

void MaxLengthFlow::solve(const std::vector<double>& capacity, double demand,
                          const std::vector<double>& start) {
  net_.demand = demand;
  net_.tolerance = kFlowTolerance * demand;
  net_.pivot_limit =
      net_.pivots + kMaxPivots + kMaxPivotsPerArc * static_cast<std::int64_t>(net_.arc_count);
  for (const int a : net_.capacitated)
    // More than the demand never flows; a finite bound keeps flows at their upper bounds finite.
    net_.capacity[a] = std::min(capacity[a], 2 * demand);
  const bool is_warm = net_.has_tree;
  if (!is_warm) {
    net_.build_first_tree();
    net_.recompute_potentials();
  }
  for (const int a : net_.capacitated)
    if (net_.state[a] != FlowTree::ArcState::tree)
      net_.set_bound(a, is_warm && net_.reduced_length(a) > 0);
  net_.recompute_flows();
  if (!is_warm || net_.violated_arcs.size() > kMaxViolatedForDual) {
    if (is_warm) primal_.adopt_flow(net_, start);
    primal_.pivot_to_optimum(net_);
  }
  for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {  // sweeps rounding errors out
    net_.recompute_flows();
    if (net_.violated_arcs.empty()) break;
    dual_.pivot_to_feasibility(net_);
  }
  net_.recompute_potentials();
}

}  // namespace cosched::opt
