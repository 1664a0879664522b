// GLPK back end.  glpk.cpp is the only file that includes <glpk.h>.
//
// Each call creates, solves and deletes its problem in one thread, so calls in
// different threads do not disturb each other.  GLPK aborts the process on a bad
// call or when its memory runs out; here either becomes a SolverError.
#pragma once

#include "cosched/lp/model.hpp"

namespace cosched::lp {

struct GlpkOptions {
  enum class Method {
    primal,  // GLPK's default
    dual,    // dual simplex, primal if that fails: often several times faster
  };
  Method method = Method::dual;
  bool presolve = true;                // off where the basis itself matters
  double mip_gap = 0;                  // relative gap at which the search stops
  std::optional<int> memory_limit_mb;  // GLPK's own allocations in this thread
  /// An LP with so many entries is solved in a child process, which ends at once when it is
  /// stopped, even while GLPK presolves.
  int child_from_entries = 300'000;
};

/// Solves the LP, or the integer programme where a column is integer.
/// Infeasible and unbounded are a status.  Throws SolverError when GLPK fails.
/// Stops as check_interrupt() would: an LP throws, an integer programme whose time limit has passed
/// returns its best solution so far with Status::time_limit.
Solution solve_glpk(const Model& model, const GlpkOptions& options = {});

}  // namespace cosched::lp
