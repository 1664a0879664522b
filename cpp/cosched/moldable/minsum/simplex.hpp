// The exact optimum of the minsum programme (model.hpp).
#pragma once

#include <vector>

#include "cosched/moldable/minsum/model.hpp"

namespace cosched::moldable::minsum {

/// What solves the programme: primal and dual values agree (to kExactTolerance).
struct Solution {
  double value = 0;   // of the multipliers: certainly a bound, whatever rounding did
  double primal = 0;  // of x
  std::vector<double>
      price;  // of surface in interval j: sum of the multipliers of rows j, j+1, ...
  int pivots = 0;
};

/// Exact optimum by a simplex method that knows the structure (basis.hpp): n + J rows, but a
/// basis of J x J.  A step costs O(J^2) and the pricing of a block of jobs.
Solution solve(const Model& model);

}  // namespace cosched::moldable::minsum
