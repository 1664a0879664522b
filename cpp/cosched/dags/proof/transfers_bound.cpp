#include "cosched/dags/proof/transfers_bound.hpp"

#include "cosched/dags/check/bounds.hpp"
#include "cosched/dags/hlp/bounds.hpp"
#include "cosched/dags/proof/transfer_refuter.hpp"
#include "cosched/lp/glpk.hpp"

namespace cosched::dags::proof {
namespace {

constexpr double kGap = 1e-8;

// The programme with all that it refers to.
struct Programme {
  explicit Programme(const Instance& instance)
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

TransfersRelaxation read(const Programme& programme, const std::vector<double>& point,
                         const std::vector<double>& prices) {
  TransfersRelaxation found;
  found.value = point[0] * programme.scale;
  found.x = programme.lp.shares(point);
  found.completion = programme.lp.ends(point);
  // What the prices prove: heads and tails are 0, so that the right side alone grows with T.
  TransferStage stage = programme.lp.stage(prices);
  TransferWindows one(programme.costs, 1);
  const double proved = TransferCombination(one, stage).ratio() * (1 - 4 * kProofSlack);
  if (proved > 0 && proved < kInfinity) found.refutation = {proved, {std::move(stage)}, false};
  return found;
}

// The programme's value where every task has these shares, so that no data moves.
double value_alike(const Instance& instance, const std::vector<double>& shares) {
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
double above_optimum(const Instance& instance) {
  const int types = instance.types();
  std::vector<double> level(types, 0.0);
  double sum = 0, least = kInfinity;
  for (int type = 0; type < types; ++type) {
    std::vector<double> alone(types, 0.0);
    alone[type] = 1;
    least = std::min(least, value_alike(instance, alone));
    double load = 0;
    for (int task = 0; task < instance.tasks(); ++task) load += instance.time(task, type);
    level[type] = load > 0 ? instance.units(type) / load : 0;
    sum += level[type];
  }
  if (!(sum > 0)) return least;
  for (double& share : level) share /= sum;
  return std::min(least, value_alike(instance, level));
}

// Of the loads in LP*.
std::vector<double> load_weights(const WindowsCertificate& windows) {
  const std::vector<double>& weights = windows.relaxation.weights;
  return {weights.begin(), weights.end() - 1};
}

// Any positive time will do: where nothing takes time but transfers.
double least_time(const Instance& instance) {
  const Transfers& transfers = instance.transfers();
  double least = kInfinity;
  for (int edge = 0; edge < instance.graph().edges(); ++edge)
    for (int q = 0; q < instance.types(); ++q)
      for (int r = 0; r < instance.types(); ++r)
        if (const double time = transfers.remote(edge, q, r); time > 0)
          least = std::min(least, time);
  return std::max(1e-300, least < kInfinity ? 1e-3 * least : 1);
}

// The relaxation's proof, where it says more than bisection with its precision.
void offer_relaxation(const Instance& instance, const TransferEffort& effort,
                      TransfersBound& best) {
  std::optional<TransferRefutation> found =
      refute_by_relaxation(instance, best.value, effort.work / kUsualSteps);
  if (!found) return;
  best.value = found->makespan;
  best.certificate.refutation = *std::move(found);
}

}  // namespace

lp::Model transfers_model(const Instance& instance) {
  const Programme programme(instance);
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
  return read(Programme(instance), x, dual);
}

std::optional<TransferRefutation> refute_by_relaxation(const Instance& instance, double above,
                                                       double most_work) {
  if (above_optimum(instance) <= above) return std::nullopt;
  const Programme programme(instance);
  const auto hopeless = [&](const opt::InteriorPoint& at) {
    return at.value * programme.scale <= above;
  };
  const opt::InteriorPoint found = opt::solve_interior(
      programme.lp.programme(), programme.lp.inside(), {kGap, hopeless, most_work});
  if (found.prices.empty()) return std::nullopt;
  TransferRefutation refutation = read(programme, found.point, found.prices).refutation;
  if (refutation.makespan <= above) return std::nullopt;
  return refutation;
}

TransfersRelaxation transfers_relaxation(const Instance& instance, hlp::Method method) {
  if (method == hlp::Method::structured) {
    const Programme programme(instance);
    const opt::InteriorPoint found =
        opt::solve_interior(programme.lp.programme(), programme.lp.inside(), {kGap, {}, kInfinity});
    return read(programme, found.point, found.prices);
  }
  const lp::Solution solution = lp::solve_glpk(transfers_model(instance));
  lp::require_optimal(solution, "transfers");
  return transfers_from_lp(instance, solution.x, solution.dual);
}

TransfersBound transfers_bound(const Instance& instance, const WindowsCertificate& windows,
                               const BoundOptions& options) {
  TransfersBound best;
  best.certificate.windows = windows;
  best.value = without_deadline([&] { return check::certified_bound(instance, windows); });
  if (!instance.transfers().given()) return best;
  prove_so_far(best, [&] {
    const TransferEffort effort = transfer_effort_for(instance);
    const TypeCosts costs(instance, effort.clusters);
    if (!costs.any()) return;
    const GeometricSteps steps(best.value, best.value > 0 ? best.value : least_time(instance),
                               options.upper_or_none(), options.precision_for(instance));
    TransferRefuter refuter(costs, load_weights(windows), best.value, effort);
    bisect(steps, refuter, best);
    offer_relaxation(instance, effort, best);
  });
  return best;
}

}  // namespace cosched::dags::proof
