#include "cosched/opt/max_length_flow.hpp"

namespace cosched::opt {
namespace {

// Dual pivots scan cuts, so they only pay while few arcs are violated.
constexpr std::size_t kMaxViolatedForDual = 30;

}  // namespace

void MaxLengthFlow::solve(const std::vector<double>& capacity, double demand,
                          const std::vector<double>& start) {
  net_.demand = demand;
  net_.tolerance = 1e-13 * demand;
  net_.pivot_limit = net_.pivots + 100000 + 100 * static_cast<std::int64_t>(net_.arc_count);
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
  for (int repeat = 0; repeat < 20; ++repeat) {  // sweeps rounding errors out
    net_.recompute_flows();
    if (net_.violated_arcs.empty()) break;
    dual_.pivot_to_feasibility(net_);
  }
  net_.recompute_potentials();
}

}  // namespace cosched::opt
