// Linear and mixed-integer programmes as plain vectors.  Families build a Model;
// a back end (glpk.hpp) solves it.  No back end's type is visible here.
#pragma once

#include <optional>
#include <vector>

#include "cosched/core/numeric.hpp"

namespace cosched::lp {

struct Entry {
  int row, col;
  double value;
};

/// minimise cost . x   subject to   row_lower <= A x <= row_upper,
///                                  lower <= x <= upper,  x_j integer where integer[j].
/// Infinite bounds mean "none".  Entries with the same (row, col) are an error.
struct Model {
  std::vector<double> cost, lower, upper;
  std::vector<char> integer;
  std::vector<double> row_lower, row_upper;
  std::vector<Entry> entries;

  int columns() const { return static_cast<int>(cost.size()); }
  int rows() const { return static_cast<int>(row_lower.size()); }

  /// Returns the new column's number.
  int add_column(double cost_of, double lower_of = 0, double upper_of = kInfinity,
                 bool is_integer = false) {
    cost.push_back(cost_of);
    lower.push_back(lower_of);
    upper.push_back(upper_of);
    integer.push_back(is_integer);
    return columns() - 1;
  }
  /// Returns the new row's number.
  int add_row(double lower_of, double upper_of) {
    row_lower.push_back(lower_of);
    row_upper.push_back(upper_of);
    return rows() - 1;
  }
  void add_entry(int row, int col, double value) { entries.push_back({row, col, value}); }

  /// Throws SolverError that names the first breach: lengths, row or column out of
  /// range, a duplicate entry, NaN, an infinite cost or coefficient, lower > upper
  /// is allowed (the model is then infeasible).
  void check() const;
};

enum class Status {
  optimal,
  infeasible,
  unbounded,
  time_limit,  // of an integer programme: x is the incumbent if there is one, else empty
};

struct Solution {
  Status status = Status::infeasible;
  double objective = kInfinity;  // of x
  double bound = -kInfinity;     // proven lower bound (integer programmes); = objective for an LP
  std::vector<double> x;         // empty unless optimal, or time_limit with an incumbent
  std::vector<double> dual;      // a value a row (LP only)
  std::vector<double> reduced;   // reduced costs (LP only)
};

/// Throws TimeLimit where a time limit ended the call, SolverError that names `what` where it has
/// no optimum for another reason.
void require_optimal(const Solution& solution, const char* what);

}  // namespace cosched::lp
