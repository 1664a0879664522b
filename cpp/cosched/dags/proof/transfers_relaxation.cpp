#include "cosched/dags/proof/transfers_relaxation.hpp"

#include "cosched/dags/hlp/area.hpp"
#include "cosched/dags/hlp/bounds.hpp"
#include "cosched/dags/proof/transfer_combination.hpp"
#include "cosched/dags/proof/transfer_lp.hpp"
#include "cosched/lp/glpk.hpp"

namespace cosched::dags::proof {
namespace {

// The relative gap at which the interior point method ends: its prices prove the bound whatever the
// gap, and smaller gaps cost steps that only fight with rounding errors.
constexpr double kGap = 1e-8;

// The programme with all that it refers to.
struct RelaxationProgramme {
  explicit RelaxationProgramme(const Instance& instance)
      : scale(std::max(hlp::area_bound(instance), hlp::critical_path_bound(instance))),
        costs(instance),
        windows(costs, kInfinity),
        lp(windows, {}, scale > 0 ? scale : 1) {
    if (!(scale > 0)) scale = 1;
  }

  double scale;
  TypeCosts costs;
  TransferWindows windows;
  TransferLp lp;
};

TransfersRelaxation read_relaxation(const RelaxationProgramme& programme,
                                    const std::vector<double>& point,
                                    const std::vector<double>& prices) {
  TransfersRelaxation relaxation;
  relaxation.value = point[0] * programme.scale;
  relaxation.x = programme.lp.shares(point);
  relaxation.completion = programme.lp.ends(point);
  // What the prices prove: heads and tails are 0, so that the right side alone grows with T.
  TransferStage stage = programme.lp.stage(prices);
  TransferWindows unit_windows(programme.costs, 1);
  const double proved = TransferCombination(unit_windows, stage).ratio() * (1 - 4 * kProofSlack);
  if (proved > 0 && proved < kInfinity) relaxation.refutation = {proved, {std::move(stage)}, false};
  return relaxation;
}

// The programme's value where every task has these shares, so that no data moves.
double value_of_equal_shares(const Instance& instance, const std::vector<double>& shares) {
  const int n = instance.tasks();
  std::vector<double> time(n, 0.0);
  double value = 0;
  for (int type = 0; type < instance.types(); ++type) {
    if (shares[type] == 0) continue;
    double load = 0;
    for (int task = 0; task < n; ++task) {
      const double part = shares[type] * instance.time(task, type);
      time[task] += part;
      load += part / instance.units(type);
    }
    value = std::max(value, load);
  }
  std::vector<double> end(n);
  for (const int task : instance.graph().order()) {
    double start = 0;
    for (const int before : instance.graph().predecessors(task))
      start = std::max(start, end[before]);
    end[task] = start + time[task];
    value = std::max(value, end[task]);
  }
  return value;
}

// The least of that where all types are loaded alike, and where all is on one type: no less than
// the optimum.
double upper_bound_of_relaxation(const Instance& instance) {
  const int types = instance.types();
  std::vector<double> level(types, 0.0);
  double sum = 0, least = kInfinity;
  for (int type = 0; type < types; ++type) {
    std::vector<double> alone(types, 0.0);
    alone[type] = 1;
    least = std::min(least, value_of_equal_shares(instance, alone));
    double load = 0;
    for (int task = 0; task < instance.tasks(); ++task) load += instance.time(task, type);
    level[type] = load > 0 ? instance.units(type) / load : 0;
    sum += level[type];
  }
  if (!(sum > 0)) return least;
  for (double& share : level) share /= sum;
  return std::min(least, value_of_equal_shares(instance, level));
}

}  // namespace

lp::Model transfers_model(const Instance& instance) {
  const RelaxationProgramme programme(instance);
  const opt::InequalityLp& rows = programme.lp.programme();
  lp::Model model;
  for (const double cost : rows.cost) model.add_column(cost, -kInfinity);
  for (int row = 0; row < rows.rows(); ++row) {
    model.add_row(rows.right[row], kInfinity);
    for (int k = rows.begin[row]; k < rows.begin[row + 1]; ++k)
      if (rows.value[k] != 0) model.add_entry(row, rows.column[k], rows.value[k]);
  }
  return model;
}

TransfersRelaxation transfers_from_lp(const Instance& instance, const std::vector<double>& x,
                                      const std::vector<double>& dual) {
  return read_relaxation(RelaxationProgramme(instance), x, dual);
}

std::optional<TransferRefutation> refute_by_relaxation(const Instance& instance, double above,
                                                       double max_multiplications) {
  if (upper_bound_of_relaxation(instance) <= above) return std::nullopt;
  const RelaxationProgramme programme(instance);
  const auto is_hopeless = [&](const opt::InteriorPoint& point) {
    return point.value * programme.scale <= above;
  };
  const opt::InteriorPoint optimum =
      opt::solve_interior(programme.lp.programme(), programme.lp.interior_point(),
                          {kGap, is_hopeless, max_multiplications});
  if (optimum.prices.empty()) return std::nullopt;
  TransferRefutation refutation =
      read_relaxation(programme, optimum.point, optimum.prices).refutation;
  if (refutation.makespan <= above) return std::nullopt;
  return refutation;
}

TransfersRelaxation transfers_relaxation(const Instance& instance, hlp::HlpMethod method) {
  if (method == hlp::HlpMethod::structured) {
    const RelaxationProgramme programme(instance);
    const opt::InteriorPoint optimum = opt::solve_interior(
        programme.lp.programme(), programme.lp.interior_point(), {kGap, {}, kInfinity});
    return read_relaxation(programme, optimum.point, optimum.prices);
  }
  const lp::Solution solution = lp::solve_glpk(transfers_model(instance));
  lp::require_optimal(solution, "transfers");
  return transfers_from_lp(instance, solution.x, solution.dual);
}

}  // namespace cosched::dags::proof
