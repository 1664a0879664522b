#include "cosched/bags/energy/front.hpp"

#include "cosched/lp/glpk.hpp"

namespace cosched::bags::energy {
namespace {

constexpr double kSame = 1e-12;  // vertices closer than this are one

// Least makespan in [walk.low(), walk.high()] with D <= power_left MS; above high() where none.
double capped_low(const Instance& instance, const Walk& walk) {
  const double power = instance.power_left(), low = walk.low();
  if (walk.joules(low) <= power * low) return low;
  if (walk.high() == kInfinity) return walk.joules(low) / power;  // D is constant there
  const double at_high = walk.joules(walk.high()), at_low = walk.joules(low);
  if (at_high > power * walk.high()) return kInfinity;
  const double slope = (at_high - at_low) / (walk.high() - low);  // <= 0
  return std::clamp((at_low - slope * low) / (power - slope), low, walk.high());
}

struct Cell {
  int i, j, column;
};

lp::GlpkOptions basic_solution() {
  lp::GlpkOptions options;
  options.method = lp::GlpkOptions::Method::dual;
  options.presolve = false;  // a presolved model's solution need not be basic in this one
  return options;
}

}  // namespace

void visit_pieces(const Instance& instance, Cut cut,
                  const std::function<bool(const Walk& walk, double low)>& visit) {
  Walk walk(instance, cut);
  do {
    const double low = capped_low(instance, walk);
    if (low == kInfinity || !visit(walk, low) || low > walk.low()) return;
  } while (walk.next());
}

std::vector<FrontPoint> energy_front(const Instance& instance, Cut cut) {
  std::vector<FrontPoint> points;
  const auto add = [&](double makespan, double joules) {
    if (points.empty() || !close(points.back().makespan, makespan, kSame) ||
        !close(points.back().joules, joules, kSame))
      points.push_back({makespan, joules});
  };
  visit_pieces(instance, cut, [&](const Walk& walk, double low) {
    if (walk.high() < kInfinity) add(walk.high(), walk.joules(walk.high()));
    add(low, walk.joules(low));
    return true;
  });
  std::reverse(points.begin(), points.end());
  return points;
}

double joules_at(const std::vector<FrontPoint>& front, double makespan) {
  const auto after = std::upper_bound(
      front.begin(), front.end(), makespan,
      [](double value, const FrontPoint& point) { return value < point.makespan; });
  if (after == front.begin()) return kInfinity;
  const FrontPoint& from = after[-1];
  if (after == front.end()) return from.joules;
  const double share = (makespan - from.makespan) / (after->makespan - from.makespan);
  return from.joules + share * (after->joules - from.joules);
}

double least_makespan(const Instance& instance) {
  double least = kInfinity;
  visit_pieces(instance, Cut::long_tasks, [&](const Walk&, double low) {
    least = low;
    return true;
  });
  return least;
}

Relaxation relaxation(const Instance& instance, double makespan) {
  if (!(makespan > 0) || makespan == kInfinity)
    throw InvalidInstance("makespan = " + to_text(makespan) +
                          ": expected a positive finite number of seconds");
  Relaxation result;
  visit_pieces(instance, Cut::long_tasks, [&](const Walk& walk, double low) {
    // Only at the least makespan is it the front's rounding that decides.
    const double at = leq(low, makespan) ? std::max(low, makespan) : makespan;
    result = {};
    if (low <= at && at <= walk.high()) result = {true, walk.joules(at), walk.solution(at)};
    return walk.low() > makespan;
  });
  return result;
}

BestRate best_rate(const Instance& instance, Cut cut) {
  BestRate best{kInfinity, 0 - instance.energy_cost() * instance.idle_power()};  // no -0
  visit_pieces(instance, cut, [&](const Walk& walk, double low) {
    const double rate = instance.profit_rate(walk.joules(low), low);
    if (rate >= best.rate) best = {low, rate};
    return true;
  });
  return best;
}

Relaxation relaxation_lp(const Instance& instance, double makespan) {
  // Columns are shares x_ij / T_i, rows are divided by M_j MS, energies by their least sum: GLPK's
  // tolerances are absolute.
  if (!(makespan > 0) || makespan == kInfinity)
    throw InvalidInstance("makespan = " + to_text(makespan) +
                          ": expected a positive finite number of seconds");
  const double unit = instance.least_joules() > 0 ? instance.least_joules() : 1;
  lp::Model model;
  std::vector<Cell> cells;
  for (int i = 0; i < instance.types(); ++i) model.add_row(instance.count(i) > 0 ? 1 : 0, 1);
  for (int j = 0; j < instance.machine_types(); ++j) model.add_row(-kInfinity, 1);
  const int cap = model.add_row(-kInfinity, instance.power_left() * makespan / unit);
  for (int i = 0; i < instance.types(); ++i)
    for (int j = 0; j < instance.machine_types(); ++j) {
      if (!instance.allowed(i, j) || instance.etc(i, j) > makespan) continue;
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
  const lp::Solution solution = lp::solve_glpk(model, basic_solution());
  if (solution.status == lp::Status::infeasible) return {};
  lp::require_optimal(solution, "energy programme");
  Relaxation result{true, 0, Table(instance.types(), instance.machine_types())};
  for (const auto& [i, j, column] : cells) {
    result.x(i, j) = static_cast<double>(instance.count(i)) * std::max(solution.x[column], 0.0);
    result.joules += result.x(i, j) > 0 ? result.x(i, j) * instance.joules(i, j) : 0;
  }
  return result;
}

ProfitLp profit_lp(const Instance& instance) {
  // Time in units of the makespan of least energy (mean loads), shares y_ij = z_ij / T_i.
  const Walk thrifty(instance, Cut::none);
  const double second = thrifty.low(), c = instance.energy_cost();
  const double money = std::max({instance.price(), c * instance.least_joules(), 1e-300});
  lp::Model model;
  std::vector<Cell> cells;
  for (int i = 0; i < instance.types(); ++i) model.add_row(0, 0);
  for (int j = 0; j < instance.machine_types(); ++j) model.add_row(-kInfinity, 1);
  const double watt = instance.least_joules() > 0 ? instance.least_joules() / second : 1;
  const int cap = model.add_row(-kInfinity, instance.power_left() / watt);
  for (int i = 0; i < instance.types(); ++i)
    for (int j = 0; j < instance.machine_types(); ++j) {
      if (!instance.allowed(i, j) || instance.count(i) == 0) continue;
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
  const lp::Solution solution = lp::solve_glpk(model, basic_solution());
  lp::require_optimal(solution, "profit programme");
  ProfitLp result;
  result.rate = -solution.objective * money / second - c * instance.idle_power();
  if (solution.x[r] < 1e-9) return result;
  result.makespan = second / solution.x[r];
  result.x = Table(instance.types(), instance.machine_types());
  for (const auto& [i, j, column] : cells)
    result.x(i, j) =
        static_cast<double>(instance.count(i)) * std::max(solution.x[column], 0.0) / solution.x[r];
  return result;
}

}  // namespace cosched::bags::energy
