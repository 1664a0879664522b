// Lower bound on the minsum sum_i w_i C_i: the optimum of the programme of model.hpp.
#pragma once

#include <vector>

#include "cosched/lp/model.hpp"
#include "cosched/moldable/minsum/model.hpp"

namespace cosched::moldable::minsum {

// The exact optimum of the minsum programme (model.hpp).

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

/// The bound: solve(make_model(instance, options)).value.
double bound(const Instance& instance, const Options& options = {});

/// The programme as the paper writes it, for any LP solver, scaled for absolute tolerances: costs
/// in units of `unit`, a surface row over its right-hand side.  Surface rows come first.  Throws
/// InvalidInstance above 2e7 coefficients (about n J^2 / 2).
struct Lp {
  lp::Model model;
  double unit = 1;
};

Lp to_lp(const Model& model);

/// The reference for solve: the programme by GLPK's dual simplex; the value is that of its
/// multipliers (lagrangian), so a bound as well.
double bound_by_glpk(const Instance& instance, const Options& options = {});

}  // namespace cosched::moldable::minsum
