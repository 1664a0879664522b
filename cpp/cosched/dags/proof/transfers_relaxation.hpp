// LP* with transfers: the linear programme of transfer_lp.hpp without a guess of the makespan, and
// so without heads, tails and energy.
//
//   minimise lambda
//   C_i + sum_qr c_e[q][r] y_e[q][r] + P_j(x) <= C_j        for every edge e = (i, j)
//   P_j(x) <= C_j <= lambda,   (1/m_q) sum_j p_jq x_jq <= lambda
//   sum_r y_e[q][r] = x_iq,  sum_q y_e[q][r] = x_jr,  sum_q x_jq = 1,  x, y >= 0
#pragma once

#include <optional>

#include "cosched/dags/hlp/hlp.hpp"
#include "cosched/dags/proof/certificate.hpp"
#include "cosched/lp/model.hpp"

namespace cosched::dags::proof {

struct TransfersRelaxation {
  double value = 0;                // the optimum, s
  Table x;                         // (n, Q)
  std::vector<double> completion;  // C
  TransferRefutation refutation;   // of what its prices prove: one combination, no pruning needed
};

/// `structured`: by an interior point method, to 1e-8.  `glpk`: the reference.
TransfersRelaxation transfers_relaxation(const Instance& instance,
                                         hlp::HlpMethod method = hlp::HlpMethod::structured);

/// What its prices prove, if that is more than `above`; as soon as it cannot be, or where a step
/// would take more than `max_multiplications` multiplications, nothing.
std::optional<TransferRefutation> refute_by_relaxation(const Instance& instance, double above,
                                                       double max_multiplications);

/// The same as a plain model, and what a solution of it says: a value a column, a price a row.
lp::Model transfers_model(const Instance& instance);
TransfersRelaxation transfers_from_lp(const Instance& instance, const std::vector<double>& x,
                                      const std::vector<double>& dual);

}  // namespace cosched::dags::proof
