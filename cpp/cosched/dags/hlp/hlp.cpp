#include "cosched/dags/hlp/hlp.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "cosched/core/errors.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/dags/hlp/bounds.hpp"
#include "cosched/dags/hlp/model.hpp"
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

namespace {

constexpr int kOrdinary = 20;   // powers of two around 1
constexpr int kGreatest = 900;  // of any time: sums of them must not overflow

Instance scaled(const Instance& instance, int power) {
  Table times = instance.times();
  for (double& time : times) time = std::ldexp(time, power);
  return {std::move(times), instance.graph(), instance.units(), instance.transfers()};
}

}  // namespace

Solution at_ordinary_scale(const Instance& instance,
                           const std::function<Solution(const Instance&)>& solve) {
  const double path = critical_path_bound(instance);
  if (!(path > 0)) return solve(instance);
  const int power =
      std::max(std::ilogb(path), std::ilogb(longest_finite(instance.times())) - kGreatest);
  if (std::abs(power) <= kOrdinary) return solve(instance);
  Solution found = solve(scaled(instance, -power));
  found.value = std::ldexp(found.value, power);
  for (double& end : found.completion) end = std::ldexp(end, power);
  return found;
}

}  // namespace cosched::dags::hlp
