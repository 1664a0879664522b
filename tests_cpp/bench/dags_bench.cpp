// Fixed work: HLP by the structured method against GLPK as the paper ran it (primal simplex
// from its own first basis) and GLPK's dual simplex with presolve, then every algorithm on a
// graph of 37,820 tasks.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <functional>
#include <string>

#include "cosched/dags/check/bounds.hpp"
#include "cosched/dags/hlp/hlp.hpp"
#include "cosched/dags/hlp/hlp_model.hpp"
#include "cosched/dags/hlp/ordinary_scale.hpp"
#include "cosched/dags/hlp/rounding.hpp"
#include "cosched/dags/list/cpop.hpp"
#include "cosched/dags/list/heft.hpp"
#include "cosched/dags/list/list_rules.hpp"
#include "cosched/dags/list/online.hpp"
#include "cosched/dags/list/peft.hpp"
#include "cosched/dags/list/ranks.hpp"
#include "cosched/dags/list/ready_rules.hpp"
#include "cosched/dags/search/hlp_best.hpp"
#include "cosched/lp/glpk.hpp"
#include "dags/graphs.hpp"

namespace {

using namespace cosched;
using namespace cosched::dags;

double seconds(const std::function<void()>& work) {  // of this process: others do not count
  const std::clock_t start = std::clock();
  work();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

void compare_lp(const std::string& name, const Instance& instance) {
  hlp::HlpSolution solution;
  const double structured = seconds([&] { solution = hlp::hlp(instance); });
  const lp::Model model = hlp::hlp_model(instance);
  double gap = 0;
  const auto glpk = [&](lp::GlpkOptions::Method method, bool presolve) {
    lp::GlpkOptions options;
    options.method = method;
    options.presolve = presolve;
    lp::Solution other;
    const double time = seconds([&] { other = lp::solve_glpk(model, options); });
    gap = std::max(gap, std::abs(other.objective / solution.value - 1));
    return time;
  };
  const double primal = glpk(lp::GlpkOptions::Method::primal, false);
  const double dual = glpk(lp::GlpkOptions::Method::dual, true);
  std::printf(
      "%-26s %6d tasks  %3d flows  %9.4f s  %8.0fx GLPK primal  %7.0fx dual+presolve"
      "  difference %.0e\n",
      name.c_str(), instance.tasks(), solution.flows, structured, primal / structured,
      dual / structured, gap);
}

void large_graph() {
  const Instance instance = graphs::cholesky(60, {512, 64}, 0.1, 1);
  std::printf("\nCholesky 60 x 60 tiles, %d tasks, %d edges, 512 CPUs, 64 GPUs\n", instance.tasks(),
              instance.graph().edges());
  hlp::HlpSolution solution;
  const double time = seconds([&] { solution = hlp::hlp(instance); });
  std::printf("  %-10s %8.3f s  LP* %.6g, certificate %.0e below\n", "hlp", time, solution.value,
              1 - check::certified_bound(instance, solution.certificate) / solution.value);
  const Allocation allocation = hlp::round_allocation(instance.times(), solution.x);
  const auto report = [&](const char* name, const std::function<Plan()>& algorithm) {
    Plan plan;
    const double used = seconds([&] { plan = algorithm(); });
    std::printf("  %-10s %8.3f s  makespan / LP* %.4f\n", name, used,
                plan.makespan() / solution.value);
  };
  report("hlp-est", [&] { return list::est(instance, allocation); });
  report("hlp-ols", [&] { return list::ols(instance, allocation); });
  report("hlp-best", [&] { return search::hlp_best(instance, {}, &solution).plan; });
  report("heft", [&] { return list::heft(instance); });
  report("er-ls", [&] { return list::er_ls(instance); });
  report("eft", [&] { return list::eft(instance); });
  report("greedy", [&] { return list::greedy(instance); });
  report("random", [&] { return list::random_types(instance, 0); });
}

}  // namespace

int main() {
  std::puts("HLP: structured method, ratio of GLPK's time to it (structured = 1)");
  for (const auto& [m, k] : {std::pair(16, 2), {16, 4}, {64, 8}}) {
    const std::string machine = ", " + std::to_string(m) + "+" + std::to_string(k);
    compare_lp("cholesky 12" + machine, graphs::cholesky(12, {m, k}, 0.1, 1));
    compare_lp("cholesky 16" + machine, graphs::cholesky(16, {m, k}, 0.1, 1));
    compare_lp("fork-join 5 x 200" + machine, graphs::fork_join(5, 200, {m, k}, 1));
  }
  large_graph();
  return 0;
}
