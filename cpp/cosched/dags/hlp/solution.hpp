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

#include "cosched/core/times.hpp"
#include "cosched/dags/hlp/certificate.hpp"

namespace cosched::dags::hlp {

struct Solution {
  double value = 0;                // LP*: loads and path of x
  Table x;                         // (n, Q)
  std::vector<double> completion;  // C, earliest ends under x
  Certificate certificate;
  int flows = 0;         // network flows solved (structured method)
  bool complete = true;  // false: see hlp_so_far
  std::string failure;   // why the method ended before its optimum; empty: it did not
};

}  // namespace cosched::dags::hlp
