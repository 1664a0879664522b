#include "cosched/dags/hlp/hlp.hpp"

#include "cosched/core/interrupt.hpp"
#include "cosched/dags/hlp/model.hpp"
#include "cosched/dags/hlp/structured.hpp"
#include "cosched/lp/glpk.hpp"

namespace cosched::dags::hlp {

Solution hlp(const Instance& instance, Method method) {
  if (method == Method::structured) {
    Solution solution = hlp_so_far(instance);
    if (!solution.complete) throw TimeLimit("the time limit has passed");
    return solution;
  }
  const lp::Model model = hlp_model(instance);
  lp::GlpkOptions options;
  if (method == Method::glpk_primal) options.method = lp::GlpkOptions::Method::primal;
  const lp::Solution solution = lp::solve_glpk(model, options);
  lp::require_optimal(solution, "hlp");
  return hlp_from_lp(instance, solution);
}

}  // namespace cosched::dags::hlp
