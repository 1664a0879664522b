// The bound `windows`: the largest T of which it is proved that no schedule is as short.
//
// For a guess T of the makespan, tasks have windows and some types are closed to them
// (time_windows.hpp).  What is left must satisfy, for every schedule of at most T,
//   loads      sum_j p_jq x_jq <= m_q T
//   paths      head of the first + sum p_j(x) + tail of the last <= T, and flows of paths
//   energy     sum_j x_jq energy(j, [a, b)) <= m_q (b - a)                    (energetic.hpp)
// A combination of such rows with prices >= 0 refutes T where even the cheapest type of each task
// breaks it; where it does not, it closes the pairs (j, q) that would break it, and T is pruned
// again.  Bisection between LP* and an upper bound finds the largest T that is refuted.  Where data
// costs time the rows are others: transfers_bound.hpp, which says why that is an engine of its own.
#pragma once

#include "cosched/dags/proof/certificate.hpp"
#include "cosched/dags/proof/proven_bound.hpp"

namespace cosched::dags::proof {

using WindowsBound = ProvenBound<WindowsCertificate>;

/// `relaxation`: of LP*, complete or not.  Above 10,000 tasks it is the bound where the loads alone
/// or one path alone prove it: anything more would cost a multiple of it.
WindowsBound windows_bound(const Instance& instance, const hlp::HlpCertificate& relaxation,
                           const BoundOptions& options = {});

}  // namespace cosched::dags::proof
