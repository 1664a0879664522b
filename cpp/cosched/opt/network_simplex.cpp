#include "cosched/opt/network_simplex.hpp"

#include <algorithm>

namespace cosched::opt {
namespace {

// Dual pivots scan cuts, so they only pay while few arcs are violated.
constexpr std::size_t kFew = 30;

}  // namespace

void LongestFlow::solve(const std::vector<double>& capacity, double demand,
                        const std::vector<double>& start) {
  net_.demand = demand;
  net_.tolerance = 1e-13 * demand;
  net_.pivot_limit = net_.pivots + 100000 + 100 * static_cast<std::int64_t>(net_.count);
  for (const int a : net_.capped)
    // More than the demand never flows; a finite bound keeps flows at `upper` finite.
    net_.capacity[a] = std::min(capacity[a], 2 * demand);
  const bool warm = net_.has_tree;
  if (!warm) {
    net_.build_first_tree();
    net_.recompute_potentials();
  }
  for (const int a : net_.capped)
    if (net_.state[a] != FlowTree::State::tree)
      net_.set_bound(a, warm && net_.reduced_length(a) > 0);
  net_.recompute_flows();
  if (!warm || net_.violated.size() > kFew) {
    if (warm) primal_.adopt(net_, start);
    primal_.run(net_);
  }
  for (int repeat = 0; repeat < 20; ++repeat) {  // sweeps rounding errors out
    net_.recompute_flows();
    if (net_.violated.empty()) break;
    dual_.run(net_);
  }
  net_.recompute_potentials();
}

}  // namespace cosched::opt
