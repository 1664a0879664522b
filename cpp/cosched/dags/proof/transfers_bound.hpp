// The bound `transfers`: the largest T of which it is proved that no schedule is as short, where
// data that moves between memories costs time.
//
// For a guess T, tasks have heads and tails by type, and some types, and pairs of types of an edge,
// are closed (transfer_windows_bound.hpp).  What is left must satisfy, for every schedule of at
// most T and its allocation x, with y_e[q][r] = 1 where the ends of edge e = (i, j) run on q and r,
//   loads     sum_j p_jq x_jq <= m_q T
//   edges     C_i + sum c_e[q][r] y_e[q][r] + p_j(x) <= C_j
//   windows   sum_q x_jq (head_jq + p_jq) <= C_j,   C_j + sum_q x_jq tail_jq <= T
//   energy    sum_j x_jq energy(j, [a, b)) <= m_q (b - a)                    (energetic.hpp)
//   plans     sum_r y_e[q][r] = x_iq,   sum_q y_e[q][r] = x_jr.
// A combination of them with prices refutes T where even the cheapest types break it, as in
// windows_bound.hpp.  The price of a plan is a shift s_e[q]: what edge e adds to the price of its
// first task on q.  Its second task gets on r the least, over open pairs (e, q, r), of f_e
// c_e[q][r] - s_e[q]: so every shift proves something, and the check is O(e Q^2).
//
// Why this is not the engine of windows_bound.hpp too: docs/decisions/two-refuters.md.  Where data
// costs nothing this one takes 3 to 12 times as long for about the same bound; and heads and tails
// without a type cannot say what a transfer costs.  What is the same for both is the same code.
#pragma once

#include "cosched/dags/proof/certificate.hpp"
#include "cosched/dags/proof/proven_bound.hpp"

namespace cosched::dags::proof {

using TransfersBound = ProvenBound<TransfersCertificate>;

/// `windows`: a proof without transfers, which is where the search begins.
TransfersBound transfers_bound(const Instance& instance, const WindowsCertificate& windows,
                               const BoundOptions& options = {});

}  // namespace cosched::dags::proof
