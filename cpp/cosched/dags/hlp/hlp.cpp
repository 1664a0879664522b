#include "cosched/dags/hlp/hlp.hpp"

#include "cosched/core/errors.hpp"
#include "cosched/dags/hlp/hlp_model.hpp"
#include "cosched/dags/hlp/ordinary_scale.hpp"
#include "cosched/dags/hlp/structured.hpp"
#include "cosched/lp/glpk.hpp"

namespace cosched::dags::hlp {

HlpSolution hlp(const Instance& instance, HlpMethod method) {
  if (method == HlpMethod::structured) {
    HlpSolution solution = hlp_so_far(instance);
    if (!solution.failure.empty()) throw SolverError(solution.failure);
    if (!solution.complete) throw TimeLimit("the time limit has passed");
    return solution;
  }
  lp::GlpkOptions options;
  if (method == HlpMethod::glpk_primal) options.method = lp::GlpkOptions::Method::primal;
  return at_ordinary_scale(instance, [&](const Instance& scaled) {
    const lp::Solution solution = lp::solve_glpk(hlp_model(scaled), options);
    lp::require_optimal(solution, "hlp");
    return hlp_from_lp(scaled, solution);
  });
}

}  // namespace cosched::dags::hlp
