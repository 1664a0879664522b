#include "cosched/lp/glpk.hpp"

#include <glpk.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csetjmp>
#include <csignal>
#include <cstddef>
#include <exception>
#include <functional>
#include <new>
#include <thread>

#include "cosched/core/interrupt.hpp"

namespace cosched::lp {
namespace {

constexpr std::chrono::milliseconds kChildPollInterval{10};

// Memory that this process shares with its children.
class SharedMemory {
 public:
  explicit SharedMemory(std::size_t bytes)
      : bytes_(bytes),
        begin_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {}
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory() {
    if (is_mapped()) munmap(begin_, bytes_);
  }

  bool is_mapped() const { return begin_ != MAP_FAILED; }  // false: the system has no memory left
  void* begin() const { return begin_; }

 private:
  std::size_t bytes_;
  void* begin_;
};

enum class ProcessEnd { ok, failed, stopped, not_started };

// Runs `work` in a child process, which ends without destructors, so that it can be stopped at any
// moment: kills the child as soon as `stopped` returns true.
//   ok           `is_done` is set.  It lies in shared memory, because where the host ignores
//   SIGCHLD,
//                or waits for all its children, the exit status of the child is lost.
//   not_started  the system has no process left.
ProcessEnd run_in_child(const std::function<bool()>& work, const std::function<bool()>& stopped,
                        const volatile char& is_done) {
  const pid_t process = fork();
  if (process < 0) return ProcessEnd::not_started;
  if (process == 0) {
    work();
    _exit(0);
  }
  for (;;) {
    int exit_status = 0;
    const pid_t ended_process = waitpid(process, &exit_status, WNOHANG);
    if (ended_process == process || (ended_process < 0 && errno == ECHILD))
      return is_done != 0 ? ProcessEnd::ok : ProcessEnd::failed;
    if (ended_process < 0 && errno != EINTR) return ProcessEnd::failed;
    if (stopped()) {
      kill(process, SIGKILL);
      waitpid(process, &exit_status, 0);
      return ProcessEnd::stopped;
    }
    std::this_thread::sleep_for(kChildPollInterval);
  }
}

constexpr int kProgressIntervalMs =
    50;  // between two lines of progress, at which GLPK can be stopped

// GLPK reports a bad call or exhausted memory through glp_error_hook; the hook must not return.
// Its only other way out of a running simplex is the hook of its output.  Everything between setjmp
// and longjmp lives in this trivially destructible struct or is a pointer to what an outer frame
// owns, so that longjmp skips no destructor.  glp_free_env then frees GLPK's memory.
struct GlpkCall {
  // Input.
  int rows, columns;
  const int *row_type, *col_type, *kind;
  const double *row_lower, *row_upper, *lower, *upper, *cost;
  int entries;
  const int *entry_row, *entry_col;  // 1-based, index 0 unused
  const double* entry_value;
  GlpkOptions::Method method;
  bool uses_presolve, is_integer;
  double mip_gap;
  int memory_limit_mb;  // 0: none
  // Output.
  double *x, *dual, *reduced;
  double objective, bound;
  int code;    // return code of the GLPK routine
  int status;  // GLP_OPT, ...
  std::exception_ptr* interruption;
  bool is_in_child;  // the parent process ends this one
};

thread_local std::jmp_buf way_out;

void jump_out(void*) { std::longjmp(way_out, 1); }

// Calls check_interrupt(), and keeps its exception in the call; returns whether the solver has to
// stop. At a time limit an integer programme goes on, because GLPK ends it with its best solution.
bool keep_interruption(GlpkCall& call) {
  if (call.is_in_child) return false;
  try {
    check_interrupt();
    return false;
  } catch (const TimeLimit&) {
    if (call.is_integer) return false;
    *call.interruption = std::current_exception();
  } catch (...) {
    *call.interruption = std::current_exception();
  }
  return true;
}

// The hook of GLPK's output.  Returns non-zero, so that GLPK prints nothing.
int poll_interrupt(void* info, const char*) {
  if (keep_interruption(*static_cast<GlpkCall*>(info))) std::longjmp(way_out, 1);
  return 1;
}

// The remaining time limit of the thread.
int time_limit_ms() {
  const double seconds = seconds_left();
  return seconds < INT_MAX / 1000.0 ? std::max(1, static_cast<int>(seconds * 1000)) : INT_MAX;
}

int bound_type(double lower, double upper) {
  const bool has_lower = std::isfinite(lower), has_upper = std::isfinite(upper);
  if (has_lower && has_upper) return lower == upper ? GLP_FX : GLP_DB;
  return has_lower ? GLP_LO : has_upper ? GLP_UP : GLP_FR;
}

glp_prob* load_problem(const GlpkCall& call) {
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

int run_relaxation(glp_prob* problem, const GlpkCall& call) {
  glp_smcp control;
  glp_init_smcp(&control);
  control.msg_lev = GLP_MSG_ON;  // goes to poll_interrupt(), which prints nothing
  control.out_frq = kProgressIntervalMs;
  control.meth = call.method == GlpkOptions::Method::dual ? GLP_DUALP : GLP_PRIMAL;
  control.presolve = call.uses_presolve && !call.is_integer ? GLP_ON : GLP_OFF;
  control.tm_lim = time_limit_ms();
  if (control.presolve == GLP_OFF) glp_adv_basis(problem, 0);
  return glp_simplex(problem, &control);
}

// Solves the relaxation first, because GLPK's own preprocessing of integer programmes cannot be
// stopped.
void run_integer(glp_prob* problem, GlpkCall& call) {
  call.code = run_relaxation(problem, call);
  call.status = glp_get_status(problem);
  if (call.code != 0)
    call.status = GLP_UNDEF;  // a feasible point of the relaxation is no incumbent
  if (call.status != GLP_OPT) return;
  call.bound = glp_get_obj_val(problem);
  glp_iocp control;
  glp_init_iocp(&control);
  control.msg_lev = GLP_MSG_ON;
  control.out_dly = 0;
  control.mip_gap = call.mip_gap;
  // With the default, 1e-5, a solution is off by as much of a time, and cuts better nodes off.
  constexpr double kIntegralityTolerance = 1e-9;
  control.tol_int = kIntegralityTolerance;
  control.tm_lim = time_limit_ms();
  // The search's proven bound is asked for in the callback, while the tree lives.
  control.cb_info = &call;
  control.cb_func = [](glp_tree* tree, void* info) {
    GlpkCall& call_of_tree = *static_cast<GlpkCall*>(info);
    const int best = glp_ios_best_node(tree);
    if (best > 0) call_of_tree.bound = glp_ios_node_bound(tree, best);
    if (keep_interruption(call_of_tree)) glp_ios_terminate(tree);
  };
  call.code = glp_intopt(problem, &control);
  call.status = glp_mip_status(problem);
  call.objective = glp_mip_obj_val(problem);
  for (int j = 0; j < call.columns; ++j) call.x[j] = glp_mip_col_val(problem, j + 1);
}

void run_simplex(glp_prob* problem, GlpkCall& call) {
  call.code = run_relaxation(problem, call);
  call.status = glp_get_status(problem);
  call.objective = glp_get_obj_val(problem);
  for (int j = 0; j < call.columns; ++j) {
    call.x[j] = glp_get_col_prim(problem, j + 1);
    call.reduced[j] = glp_get_col_dual(problem, j + 1);
  }
  for (int i = 0; i < call.rows; ++i) call.dual[i] = glp_get_row_dual(problem, i + 1);
}

// Returns true where GLPK has finished; false where it called its error hook or was interrupted.
bool run_glpk(GlpkCall& call) {
  if (setjmp(way_out) != 0) {
    glp_free_env();
    return false;
  }
  glp_error_hook(jump_out, nullptr);
  glp_term_hook(poll_interrupt, &call);
  if (call.memory_limit_mb > 0) glp_mem_limit(call.memory_limit_mb);
  glp_prob* problem = load_problem(call);
  if (call.is_integer)
    run_integer(problem, call);
  else
    run_simplex(problem, call);
  glp_delete_prob(problem);
  glp_free_env();  // nothing of this call stays behind in the thread
  return true;
}

// The output of a call in a child process, in shared memory; x, reduced and dual follow it.
struct ChildResult {
  double objective, bound;
  int code, status;
  volatile char is_done;  // all of it is written
};

// Solves a large model in a child process, because GLPK loads and presolves it for seconds without
// calling any hook.
bool solve_in_child(GlpkCall& call) {
  const std::size_t columns = call.columns, numbers = 2 * columns + call.rows;
  const SharedMemory shared(sizeof(ChildResult) + numbers * sizeof(double));
  if (!shared.is_mapped()) return run_glpk(call);
  auto* const answer = new (shared.begin()) ChildResult{};
  auto* const values = reinterpret_cast<double*>(answer + 1);
  const auto work = [&] {
    call.is_in_child = true;
    call.x = values;
    call.reduced = values + columns;
    call.dual = values + 2 * columns;
    const bool came_back = run_glpk(call);
    answer->objective = call.objective;
    answer->bound = call.bound;
    answer->code = call.code;
    answer->status = call.status;
    answer->is_done = came_back ? 1 : 0;
    return came_back;
  };
  const ProcessEnd ending = run_in_child(
      work, [&] { return keep_interruption(call); }, answer->is_done);
  if (ending == ProcessEnd::not_started) return run_glpk(call);
  if (ending != ProcessEnd::ok) return false;
  call.objective = answer->objective;
  call.bound = answer->bound;
  call.code = answer->code;
  call.status = answer->status;
  std::copy_n(values, columns, call.x);
  std::copy_n(values + columns, columns, call.reduced);
  std::copy_n(values + 2 * columns, call.rows, call.dual);
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
    default:
      return "return code " + std::to_string(code);
  }
}

Status status_of(const GlpkCall& call) {
  if (call.code == GLP_ENOPFS) return Status::infeasible;  // presolver: no primal solution
  if (call.code == GLP_ENODFS) return Status::unbounded;   // presolver: no dual solution
  if (call.code == GLP_EBOUND) return Status::infeasible;  // a column with lower > upper
  if (call.code == GLP_ETMLIM) return Status::time_limit;
  if (call.code != 0 && call.code != GLP_EMIPGAP)
    throw SolverError("GLPK: " + code_name(call.code));
  switch (call.status) {
    case GLP_OPT:
      return Status::optimal;
    case GLP_INFEAS:  // the simplex stops here only early
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

bool has_crossed_bounds(const std::vector<double>& lower, const std::vector<double>& upper) {
  for (std::size_t k = 0; k < lower.size(); ++k)
    if (lower[k] > upper[k]) return true;
  return false;
}

// A model as GLPK takes it: all of GlpkCall but options and output.
struct GlpkInput {
  explicit GlpkInput(const Model& model)
      : row_type(bound_types(model.row_lower, model.row_upper)),
        col_type(bound_types(model.lower, model.upper)),
        kind(model.integer.begin(), model.integer.end()) {
    for (const auto& [row, col, value] : model.entries) {
      if (value == 0) continue;
      entry_row.push_back(row + 1);
      entry_col.push_back(col + 1);
      entry_value.push_back(value);
    }
  }

  std::vector<int> row_type, col_type, kind;
  std::vector<int> entry_row{0}, entry_col{0};  // from 1
  std::vector<double> entry_value{0};
};

void set_model(GlpkCall& call, const Model& model, const GlpkInput& input) {
  call.rows = model.rows();
  call.columns = model.columns();
  call.row_type = input.row_type.data();
  call.col_type = input.col_type.data();
  call.kind = input.kind.data();
  call.row_lower = model.row_lower.data();
  call.row_upper = model.row_upper.data();
  call.lower = model.lower.data();
  call.upper = model.upper.data();
  call.cost = model.cost.data();
  call.entries = static_cast<int>(input.entry_row.size()) - 1;
  call.entry_row = input.entry_row.data();
  call.entry_col = input.entry_col.data();
  call.entry_value = input.entry_value.data();
  call.is_integer = std::any_of(input.kind.begin(), input.kind.end(), [](int k) { return k != 0; });
}

void set_options(GlpkCall& call, const GlpkOptions& options) {
  call.method = options.method;
  call.uses_presolve = options.presolve;
  call.mip_gap = options.mip_gap;
  call.memory_limit_mb = options.memory_limit_mb.value_or(0);
}

// Fills the solution with that part of the output that the status of the call makes valid.
void read_solution(const GlpkCall& call, Solution& solution) {
  solution.status = status_of(call);
  if (solution.status == Status::time_limit && !call.is_integer) require_optimal(solution, "GLPK");
  const bool is_optimal = solution.status == Status::optimal;
  const bool has_point = is_optimal || (call.is_integer && call.status == GLP_FEAS);
  if (call.is_integer || !has_point) {
    solution.dual.clear();
    solution.reduced.clear();
  }
  if (!has_point) {
    solution.x.clear();
    solution.bound = call.is_integer ? call.bound : -kInfinity;
    return;
  }
  solution.objective = call.objective;
  const bool ended_early = (call.is_integer && !is_optimal) || call.code == GLP_EMIPGAP;
  solution.bound = ended_early ? call.bound : call.objective;
}

}  // namespace

Solution solve_glpk(const Model& model, const GlpkOptions& options) {
  model.check();
  Solution solution;
  if (has_crossed_bounds(model.lower, model.upper) ||
      has_crossed_bounds(model.row_lower, model.row_upper))
    return solution;  // infeasible; GLPK would refuse the call

  solution.x.resize(model.columns());
  solution.dual.resize(model.rows());
  solution.reduced.resize(model.columns());

  const GlpkInput input(model);
  GlpkCall call{};
  set_model(call, model, input);
  set_options(call, options);
  call.x = solution.x.data();
  call.dual = solution.dual.data();
  call.reduced = solution.reduced.data();
  call.bound = -kInfinity;
  std::exception_ptr interruption;
  call.interruption = &interruption;

  const bool runs_in_child = call.entries >= options.child_from_entries && !call.is_integer;
  const bool has_finished = runs_in_child ? solve_in_child(call) : run_glpk(call);
  if (interruption) std::rethrow_exception(interruption);
  if (!has_finished)
    throw SolverError("GLPK gave up inside a call (its memory limit, or an internal error)");

  read_solution(call, solution);
  return solution;
}

}  // namespace cosched::lp
