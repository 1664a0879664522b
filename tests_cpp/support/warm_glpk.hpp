// GLPK on a trace of linear programmes: one problem object for all rounds, so that each solve
// starts from the basis and the factors of the last.
#pragma once

#include <glpk.h>

#include <cmath>
#include <string>
#include <vector>

#include "cosched/core/errors.hpp"
#include "support/lp_trace.hpp"

namespace cosched::testing {

class WarmGlpk {
 public:
  /// Keeps a reference to the trace, which may grow.
  explicit WarmGlpk(const LpTrace& trace) : trace_(trace), problem_(glp_create_prob()) {
    glp_term_out(GLP_OFF);
    glp_set_obj_dir(problem_, GLP_MIN);
    glp_add_rows(problem_, trace.rows());
    for (int i = 0; i < trace.rows(); ++i) set_row({i, trace.lower[i], trace.upper[i]});
    glp_init_smcp(&control_);
    control_.msg_lev = GLP_MSG_OFF;
    control_.meth = trace.dual ? GLP_DUAL : GLP_PRIMAL;
    control_.tol_dj = 1e-9;  // its 1e-7 would leave out columns that the algorithms need
  }
  WarmGlpk(const WarmGlpk&) = delete;
  WarmGlpk& operator=(const WarmGlpk&) = delete;
  ~WarmGlpk() {
    glp_delete_prob(problem_);
    glp_free_env();
  }

  /// The next round of the trace.
  void advance() {
    const TraceRound& round = trace_.rounds[next_];
    if (!round.add.empty()) add(round.add);
    if (next_++ == 0) set_first_basis();
    for (const int column : round.close) glp_set_col_bnds(problem_, column + 1, GLP_FX, 0, 0);
    for (const RowBounds& bounds : round.rows) set_row(bounds);
    const int code = glp_simplex(problem_, &control_);
    if (code != 0 || glp_get_status(problem_) != GLP_OPT)
      throw SolverError(trace_.name + ": GLPK stops with code " + std::to_string(code) +
                        " and status " + std::to_string(glp_get_status(problem_)));
  }

  double value() const { return glp_get_obj_val(problem_); }
  int pivots() const { return glp_get_it_cnt(problem_); }
  double row_price(int row) const { return glp_get_row_dual(problem_, row + 1); }

 private:
  void set_first_basis() {
    for (int i = 1; i <= trace_.rows(); ++i) glp_set_row_stat(problem_, i, GLP_BS);
    for (const int i : trace_.tight_rows)
      glp_set_row_stat(problem_, i + 1, std::isfinite(trace_.lower[i]) ? GLP_NL : GLP_NU);
    for (int j = 1; j <= glp_get_num_cols(problem_); ++j) glp_set_col_stat(problem_, j, GLP_NL);
    for (const int j : trace_.basic_columns) glp_set_col_stat(problem_, j + 1, GLP_BS);
  }

  void add(const std::vector<TraceColumn>& columns) {
    int j = glp_add_cols(problem_, static_cast<int>(columns.size()));
    std::vector<int> rows;  // GLPK counts from 1
    std::vector<double> values;
    for (const TraceColumn& column : columns) {
      rows.assign(1, 0);
      for (const int row : column.rows) rows.push_back(row + 1);
      values.assign(1, 0.0);
      values.insert(values.end(), column.values.begin(), column.values.end());
      glp_set_obj_coef(problem_, j, column.cost);
      glp_set_col_bnds(problem_, j, std::isfinite(column.lower) ? GLP_LO : GLP_FR, column.lower, 0);
      glp_set_mat_col(problem_, j, static_cast<int>(rows.size()) - 1, rows.data(), values.data());
      ++j;
    }
  }

  void set_row(const RowBounds& bounds) {
    const bool below = std::isfinite(bounds.lower), above = std::isfinite(bounds.upper);
    const int type = !above ? GLP_LO : !below ? GLP_UP : GLP_FX;
    glp_set_row_bnds(problem_, bounds.row + 1, type, bounds.lower, bounds.upper);
  }

  const LpTrace& trace_;
  glp_prob* problem_;
  glp_smcp control_{};
  std::size_t next_ = 0;
};

}  // namespace cosched::testing
