// The bound `transfers`: the largest T of which it is proved that no schedule is as short, where
// data that moves between memories costs time.
//
// For a guess T, tasks have heads and tails by type, and some types, and pairs of types of an edge,
// are closed (transfer_windows.hpp).  What is left must satisfy, for every schedule of at most T
// and its allocation x, with y_e[q][r] = 1 where the ends of edge e = (i, j) run on q and r,
//   loads     sum_j p_jq x_jq <= m_q T
//   edges     C_i + sum c_e[q][r] y_e[q][r] + p_j(x) <= C_j
//   windows   sum_q x_jq (head_jq + p_jq) <= C_j,   C_j + sum_q x_jq tail_jq <= T
//   energy    sum_j x_jq energy(j, [a, b)) <= m_q (b - a)                    (energetic.hpp)
//   plans     sum_r y_e[q][r] = x_iq,   sum_q y_e[q][r] = x_jr.
// A combination of them with prices refutes T where even the cheapest types break it, as in
// windows.hpp.  The price of a plan is a shift s_e[q]: what edge e adds to the price of its first
// task on q.  Its second task gets on r the least, over open pairs (e, q, r), of f_e c_e[q][r] -
// s_e[q]: so every shift proves something, and the check is O(e Q^2).
//
// Why this is not the engine of windows.hpp too: docs/decisions/two-refuters.md.  Where data costs
// nothing this one takes 3 to 12 times as long for about the same bound; and heads and tails
// without a type cannot say what a transfer costs.  What is the same for both is the same code.
#pragma once

#include "cosched/dags/hlp/hlp.hpp"
#include "cosched/dags/proof/bisection.hpp"
#include "cosched/dags/proof/certificate.hpp"

namespace cosched::dags::proof {

// LP* with transfers: the linear programme of transfer_lp.hpp without a guess of the makespan, and
// so without heads, tails and energy.
//
//   minimise lambda
//   C_i + sum_qr c_e[q][r] y_e[q][r] + P_j(x) <= C_j        for every edge e = (i, j)
//   P_j(x) <= C_j <= lambda,   (1/m_q) sum_j p_jq x_jq <= lambda
//   sum_r y_e[q][r] = x_iq,  sum_q y_e[q][r] = x_jr,  sum_q x_jq = 1,  x, y >= 0

struct TransfersRelaxation {
  double value = 0;                // the optimum, s
  Table x;                         // (n, Q)
  std::vector<double> completion;  // C
  TransferRefutation refutation;   // of what its prices prove: one combination, no pruning needed
};

/// `structured`: by an interior point method, to 1e-8.  `glpk`: the reference.
TransfersRelaxation transfers_relaxation(const Instance& instance,
                                         hlp::Method method = hlp::Method::structured);

/// What its prices prove, if that is more than `above`; as soon as it cannot be, or where a step
/// would take more than `most_work` multiplications, nothing.
std::optional<TransferRefutation> refute_by_relaxation(const Instance& instance, double above,
                                                       double most_work);

/// The same as a plain model, and what a solution of it says: a value a column, a price a row.
lp::Model transfers_model(const Instance& instance);
TransfersRelaxation transfers_from_lp(const Instance& instance, const std::vector<double>& x,
                                      const std::vector<double>& dual);

using TransfersBound = ProvenBound<TransfersCertificate>;

/// `windows`: a proof without transfers, which is where the search begins.
TransfersBound transfers_bound(const Instance& instance, const WindowsCertificate& windows,
                               const BoundOptions& options = {});

}  // namespace cosched::dags::proof
