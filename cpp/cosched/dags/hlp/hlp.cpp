#include "cosched/dags/hlp/hlp.hpp"

#include "cosched/core/errors.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/dags/hlp/model.hpp"
#include "cosched/dags/hlp/scale.hpp"
#include "cosched/dags/hlp/structured.hpp"
#include "cosched/lp/glpk.hpp"

namespace cosched::dags::hlp {

Solution hlp(const Instance& instance, Method method) {
  if (method == Method::structured) {
    Solution solution = hlp_so_far(instance);
    if (!solution.failure.empty()) throw SolverError(solution.failure);
    if (!solution.complete) throw TimeLimit("the time limit has passed");
    return solution;
  }
  lp::GlpkOptions options;
  if (method == Method::glpk_primal) options.method = lp::GlpkOptions::Method::primal;
  return at_ordinary_scale(instance, [&](const Instance& scaled) {
    const lp::Solution solution = lp::solve_glpk(hlp_model(scaled), options);
    lp::require_optimal(solution, "hlp");
    return hlp_from_lp(scaled, solution);
  });
}

}  // namespace cosched::dags::hlp
