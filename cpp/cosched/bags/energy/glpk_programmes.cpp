#include "cosched/bags/energy/glpk_programmes.hpp"

#include "cosched/lp/glpk.hpp"

namespace cosched::bags::energy {
namespace {

struct LpCell {
  int i, j, column;
};

lp::GlpkOptions dual_simplex_options() {
  lp::GlpkOptions options;
  options.method = lp::GlpkOptions::Method::dual;
  options.presolve = false;  // a presolved model's solution need not be basic in this one
  return options;
}

}  // namespace

EnergyRelaxation solve_relaxation_by_glpk(const Instance& instance, double makespan) {
  // Columns are shares x_ij / T_i, rows are divided by M_j MS, energies by their least sum: GLPK's
  // tolerances are absolute.
  if (!(makespan > 0) || makespan == kInfinity)
    throw InvalidInstance("makespan = " + to_text(makespan) +
                          ": expected a positive finite number of seconds");
  const double unit = instance.least_joules() > 0 ? instance.least_joules() : 1;
  lp::Model model;
  std::vector<LpCell> cells;
  for (int i = 0; i < instance.types(); ++i) model.add_row(instance.count(i) > 0 ? 1 : 0, 1);
  for (int j = 0; j < instance.machine_types(); ++j) model.add_row(-kInfinity, 1);
  const int cap = model.add_row(-kInfinity, instance.power_above_idle() * makespan / unit);
  for (int i = 0; i < instance.types(); ++i)
    for (int j = 0; j < instance.machine_types(); ++j) {
      if (!instance.is_allowed(i, j) || instance.etc(i, j) > makespan) continue;
      if (instance.count(i) == 0) continue;
      const auto n = static_cast<double>(instance.count(i));
      const double joules = n * instance.joules(i, j) / unit;
      const int column = model.add_column(joules);
      model.add_entry(i, column, 1);
      model.add_entry(instance.types() + j, column,
                      n * instance.etc(i, j) / (instance.machines(j) * makespan));
      model.add_entry(cap, column, joules);
      cells.push_back({i, j, column});
    }
  const lp::Solution solution = lp::solve_glpk(model, dual_simplex_options());
  if (solution.status == lp::Status::infeasible) return {};
  lp::require_optimal(solution, "energy programme");
  EnergyRelaxation result{true, 0, Table(instance.types(), instance.machine_types())};
  for (const auto& [i, j, column] : cells) {
    result.x(i, j) = static_cast<double>(instance.count(i)) * std::max(solution.x[column], 0.0);
    result.joules += result.x(i, j) > 0 ? result.x(i, j) * instance.joules(i, j) : 0;
  }
  return result;
}

ProfitLp solve_profit_by_glpk(const Instance& instance) {
  // Time in units of the makespan of least energy (mean loads), shares y_ij = z_ij / T_i.
  const Walk thrifty(instance, Cut::none);
  const double second = thrifty.low(), c = instance.energy_cost();
  const double money = std::max({instance.price(), c * instance.least_joules(), kTinyPositive});
  lp::Model model;
  std::vector<LpCell> cells;
  for (int i = 0; i < instance.types(); ++i) model.add_row(0, 0);
  for (int j = 0; j < instance.machine_types(); ++j) model.add_row(-kInfinity, 1);
  const double watt = instance.least_joules() > 0 ? instance.least_joules() / second : 1;
  const int cap = model.add_row(-kInfinity, instance.power_above_idle() / watt);
  for (int i = 0; i < instance.types(); ++i)
    for (int j = 0; j < instance.machine_types(); ++j) {
      if (!instance.is_allowed(i, j) || instance.count(i) == 0) continue;
      const auto n = static_cast<double>(instance.count(i));
      const int column = model.add_column(c * n * instance.joules(i, j) / money);
      model.add_entry(i, column, 1);
      model.add_entry(instance.types() + j, column,
                      n * instance.etc(i, j) / (instance.machines(j) * second));
      model.add_entry(cap, column, n * instance.joules(i, j) / (watt * second));
      cells.push_back({i, j, column});
    }
  const int r = model.add_column(-instance.price() / money);
  for (int i = 0; i < instance.types(); ++i)
    if (instance.count(i) > 0) model.add_entry(i, r, -1);
  const lp::Solution solution = lp::solve_glpk(model, dual_simplex_options());
  lp::require_optimal(solution, "profit programme");
  ProfitLp result;
  result.rate = -solution.objective * money / second - c * instance.idle_power();
  if (solution.x[r] < kExactTolerance)
    return result;  // 1 / makespan: there is no plan with a profit
  result.makespan = second / solution.x[r];
  result.x = Table(instance.types(), instance.machine_types());
  for (const auto& [i, j, column] : cells)
    result.x(i, j) =
        static_cast<double>(instance.count(i)) * std::max(solution.x[column], 0.0) / solution.x[r];
  return result;
}

}  // namespace cosched::bags::energy
