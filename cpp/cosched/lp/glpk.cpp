#include "cosched/lp/glpk.hpp"

#include <glpk.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <csetjmp>
#include <cstring>

#include "cosched/core/errors.hpp"

namespace cosched::lp {
namespace {

// GLPK reports a bad call or exhausted memory through glp_error_hook; the hook
// must not return.  Everything between setjmp and longjmp lives in this trivially
// destructible struct or is a pointer into vectors that an outer frame owns, so
// that longjmp skips no destructor.  glp_free_env then frees GLPK's memory.
struct Call {
  // in
  int rows, columns;
  const int *row_type, *col_type, *kind;
  const double *row_lower, *row_upper, *lower, *upper, *cost;
  int entries;
  const int *entry_row, *entry_col;  // 1-based, index 0 unused
  const double* entry_value;
  GlpkOptions::Method method;
  bool presolve, integer_programme;
  int time_limit_ms;  // INT_MAX: none
  double mip_gap;
  int memory_limit_mb;  // 0: none
  // out
  double *x, *dual, *reduced;
  double objective, bound;
  int code;    // return code of the GLPK routine
  int status;  // GLP_OPT, ...
};

thread_local std::jmp_buf on_error;

void jump_out(void*) { std::longjmp(on_error, 1); }

int bound_type(double lower, double upper) {
  const bool has_lower = std::isfinite(lower), has_upper = std::isfinite(upper);
  if (has_lower && has_upper) return lower == upper ? GLP_FX : GLP_DB;
  return has_lower ? GLP_LO : has_upper ? GLP_UP : GLP_FR;
}

glp_prob* load(const Call& call) {
  glp_prob* problem = glp_create_prob();
  glp_set_obj_dir(problem, GLP_MIN);
  if (call.rows > 0) glp_add_rows(problem, call.rows);
  for (int i = 0; i < call.rows; ++i)
    glp_set_row_bnds(problem, i + 1, call.row_type[i], call.row_lower[i], call.row_upper[i]);
  if (call.columns > 0) glp_add_cols(problem, call.columns);
  for (int j = 0; j < call.columns; ++j) {
    glp_set_col_bnds(problem, j + 1, call.col_type[j], call.lower[j], call.upper[j]);
    glp_set_obj_coef(problem, j + 1, call.cost[j]);
    if (call.kind[j]) glp_set_col_kind(problem, j + 1, GLP_IV);
  }
  glp_load_matrix(problem, call.entries, call.entry_row, call.entry_col, call.entry_value);
  return problem;
}

void run_integer(glp_prob* problem, Call& call) {
  glp_iocp control;
  glp_init_iocp(&control);
  control.msg_lev = GLP_MSG_OFF;
  control.presolve = GLP_ON;
  control.mip_gap = call.mip_gap;
  control.tm_lim = call.time_limit_ms;
  // The search's proven bound is asked for in the callback, while the tree lives.
  control.cb_info = &call;
  control.cb_func = [](glp_tree* tree, void* info) {
    const int best = glp_ios_best_node(tree);
    if (best > 0) static_cast<Call*>(info)->bound = glp_ios_node_bound(tree, best);
  };
  call.code = glp_intopt(problem, &control);
  call.status = glp_mip_status(problem);
  call.objective = glp_mip_obj_val(problem);
  for (int j = 0; j < call.columns; ++j) call.x[j] = glp_mip_col_val(problem, j + 1);
}

void run_simplex(glp_prob* problem, Call& call) {
  glp_smcp control;
  glp_init_smcp(&control);
  control.msg_lev = GLP_MSG_OFF;
  control.meth = call.method == GlpkOptions::Method::dual ? GLP_DUALP : GLP_PRIMAL;
  control.presolve = call.presolve ? GLP_ON : GLP_OFF;
  control.tm_lim = call.time_limit_ms;
  if (!call.presolve) glp_adv_basis(problem, 0);
  call.code = glp_simplex(problem, &control);
  call.status = glp_get_status(problem);
  call.objective = glp_get_obj_val(problem);
  for (int j = 0; j < call.columns; ++j) {
    call.x[j] = glp_get_col_prim(problem, j + 1);
    call.reduced[j] = glp_get_col_dual(problem, j + 1);
  }
  for (int i = 0; i < call.rows; ++i) call.dual[i] = glp_get_row_dual(problem, i + 1);
}

void run_interior(glp_prob* problem, Call& call) {
  glp_iptcp control;
  glp_init_iptcp(&control);
  control.msg_lev = GLP_MSG_OFF;
  call.code = glp_interior(problem, &control);
  call.status = glp_ipt_status(problem);
  call.objective = glp_ipt_obj_val(problem);
  for (int j = 0; j < call.columns; ++j) {
    call.x[j] = glp_ipt_col_prim(problem, j + 1);
    call.reduced[j] = glp_ipt_col_dual(problem, j + 1);
  }
  for (int i = 0; i < call.rows; ++i) call.dual[i] = glp_ipt_row_dual(problem, i + 1);
}

// True when GLPK came back; false when it hit its error hook.
bool run(Call& call) {
  if (setjmp(on_error) != 0) {
    glp_free_env();
    return false;
  }
  glp_error_hook(jump_out, nullptr);
  glp_term_out(GLP_OFF);
  if (call.memory_limit_mb > 0) glp_mem_limit(call.memory_limit_mb);
  glp_prob* problem = load(call);
  if (call.integer_programme)
    run_integer(problem, call);
  else if (call.method == GlpkOptions::Method::interior)
    run_interior(problem, call);
  else
    run_simplex(problem, call);
  glp_delete_prob(problem);
  glp_free_env();  // nothing of this call stays behind in the thread
  return true;
}

std::string code_name(int code) {
  switch (code) {
    case GLP_EFAIL:
      return "the solver failed";
    case GLP_ESING:
      return "singular basis matrix";
    case GLP_ECOND:
      return "ill-conditioned basis matrix";
    case GLP_EITLIM:
      return "iteration limit";
    case GLP_EINSTAB:
      return "numerical instability";
    case GLP_ENOCVG:
      return "no convergence";
    default:
      return "return code " + std::to_string(code);
  }
}

Status status_of(const Call& call) {
  if (call.code == GLP_ENOPFS) return Status::infeasible;  // presolver: no primal solution
  if (call.code == GLP_ENODFS) return Status::unbounded;   // presolver: no dual solution
  if (call.code == GLP_EBOUND) return Status::infeasible;  // a column with lower > upper
  if (call.code == GLP_ETMLIM) return Status::time_limit;
  if (call.code != 0 && call.code != GLP_EMIPGAP)
    throw SolverError("GLPK: " + code_name(call.code));
  switch (call.status) {
    case GLP_OPT:
      return Status::optimal;
    case GLP_INFEAS:  // the interior-point method proves neither; the simplex stops here only early
    case GLP_NOFEAS:
      return Status::infeasible;
    case GLP_UNBND:
      return Status::unbounded;
    case GLP_FEAS:
      return call.code == GLP_EMIPGAP ? Status::optimal : Status::time_limit;
    default:
      throw SolverError("GLPK: status undefined after " + code_name(call.code));
  }
}

std::vector<int> bound_types(const std::vector<double>& lower, const std::vector<double>& upper) {
  std::vector<int> types(lower.size());
  for (std::size_t k = 0; k < lower.size(); ++k) types[k] = bound_type(lower[k], upper[k]);
  return types;
}

bool crossed(const std::vector<double>& lower, const std::vector<double>& upper) {
  for (std::size_t k = 0; k < lower.size(); ++k)
    if (lower[k] > upper[k]) return true;
  return false;
}

}  // namespace

Solution solve_glpk(const Model& model, const GlpkOptions& options) {
  model.check();
  Solution solution;
  if (crossed(model.lower, model.upper) || crossed(model.row_lower, model.row_upper))
    return solution;  // infeasible; GLPK would refuse the call

  const auto row_types = bound_types(model.row_lower, model.row_upper);
  const auto col_types = bound_types(model.lower, model.upper);
  const std::vector<int> kinds(model.integer.begin(), model.integer.end());
  std::vector<int> entry_row{0}, entry_col{0};
  std::vector<double> entry_value{0};
  for (const auto& [row, col, value] : model.entries) {
    if (value == 0) continue;
    entry_row.push_back(row + 1);
    entry_col.push_back(col + 1);
    entry_value.push_back(value);
  }
  solution.x.resize(model.columns());
  solution.dual.resize(model.rows());
  solution.reduced.resize(model.columns());

  Call call{};
  call.rows = model.rows();
  call.columns = model.columns();
  call.row_type = row_types.data();
  call.col_type = col_types.data();
  call.kind = kinds.data();
  call.row_lower = model.row_lower.data();
  call.row_upper = model.row_upper.data();
  call.lower = model.lower.data();
  call.upper = model.upper.data();
  call.cost = model.cost.data();
  call.entries = static_cast<int>(entry_row.size()) - 1;
  call.entry_row = entry_row.data();
  call.entry_col = entry_col.data();
  call.entry_value = entry_value.data();
  call.method = options.method;
  call.presolve = options.presolve;
  call.integer_programme = std::any_of(kinds.begin(), kinds.end(), [](int k) { return k != 0; });
  call.time_limit_ms = INT_MAX;
  if (options.time_limit && *options.time_limit < INT_MAX / 1000.0)
    call.time_limit_ms = std::max(1, static_cast<int>(std::lround(*options.time_limit * 1000)));
  call.mip_gap = options.mip_gap;
  call.memory_limit_mb = options.memory_limit_mb.value_or(0);
  call.x = solution.x.data();
  call.dual = solution.dual.data();
  call.reduced = solution.reduced.data();
  call.bound = -kInfinity;

  if (!run(call))
    throw SolverError("GLPK gave up inside a call (its memory limit, or an internal error)");

  solution.status = status_of(call);
  if (call.integer_programme) {
    solution.dual.clear();
    solution.reduced.clear();
  }
  const bool has_point =
      solution.status == Status::optimal || (call.integer_programme && call.status == GLP_FEAS);
  if (!has_point) {
    solution.x.clear();
    solution.dual.clear();
    solution.reduced.clear();
    solution.bound = call.integer_programme ? call.bound : -kInfinity;
    return solution;
  }
  solution.objective = call.objective;
  solution.bound =
      call.integer_programme && solution.status != Status::optimal ? call.bound : call.objective;
  if (call.code == GLP_EMIPGAP) solution.bound = call.bound;
  return solution;
}

}  // namespace cosched::lp
