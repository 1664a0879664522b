// The greatest average yield of mapped tasks (Casanova, Stillwell, Vivien 2011, section 4.6).
#pragma once

#include <vector>

#include "cosched/cluster/dfrs/mapping.hpp"

namespace cosched::cluster::dfrs {

/// opt=avg: maximises sum weight_j y_j with lower_j <= y_j <= 1 and no node above 1.
/// Requires weights > 0 and that `lower` itself is feasible up to rounding.
/// An LP, solved in independent components: jobs on no full node get 1; components with one
/// binding node are fractional knapsacks; the others go to the LP solver.
std::vector<double> best_average_yields(const Mapping& mapping, const std::vector<double>& lower,
                                        const std::vector<double>& weight);

}  // namespace cosched::cluster::dfrs
