// HLP and QHLP: the linear relaxation of the allocation problem (Amaris, Lucarelli, Mommessin,
// Trystram 2017, Sections 3 and 5), and what every way to solve it comes to.
//
//   minimise lambda                                        (the value is LP*)
//   C_i + sum_q p_jq x_jq <= C_j       for every edge (i, j)
//         sum_q p_jq x_jq <= C_j       for every task without predecessors
//   C_j <= lambda,   (1/m_q) sum_j p_jq x_jq <= lambda,   sum_q x_jq = 1,   x_jq >= 0,
//   x_jq = 0 where p_jq is infinite.
//
// LP* is a lower bound on the makespan of every schedule.
#pragma once

#include <string>
#include <vector>

#include "cosched/dags/hlp/certificate.hpp"
#include "cosched/dags/model/instance.hpp"

namespace cosched::dags::hlp {

struct HlpSolution {
  double value = 0;                ///< LP*, the greatest of the loads and the longest path of x
  Table x;                         ///< (n, Q) shares
  std::vector<double> completion;  ///< C: earliest ends under x
  HlpCertificate certificate;
  int flows = 0;         ///< network flows solved by the structured method
  bool complete = true;  ///< false: ended before the optimum, see hlp_so_far()
  std::string failure;   ///< of the method, which ended it before the optimum; empty: none
};

}  // namespace cosched::dags::hlp
