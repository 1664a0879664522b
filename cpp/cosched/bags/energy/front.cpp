#include "cosched/bags/energy/front.hpp"

namespace cosched::bags::energy {
namespace {

constexpr double kVertexTolerance = kSumTolerance;  // vertices closer than this are one

// The least makespan in [walk.low(), walk.high()] with D <= power_above_idle() MS; above high()
// where there is none.
double least_capped_makespan(const Instance& instance, const Walk& walk) {
  const double power = instance.power_above_idle(), low = walk.low();
  if (walk.joules(low) <= power * low) return low;
  if (walk.high() == kInfinity) return walk.joules(low) / power;  // D is constant there
  const double at_high = walk.joules(walk.high()), at_low = walk.joules(low);
  if (at_high > power * walk.high()) return kInfinity;
  const double slope = (at_high - at_low) / (walk.high() - low);  // <= 0
  return std::clamp((at_low - slope * low) / (power - slope), low, walk.high());
}

}  // namespace

void visit_pieces(const Instance& instance, Cut cut,
                  const std::function<bool(const Walk& walk, double low)>& visit) {
  Walk walk(instance, cut);
  do {
    const double low = least_capped_makespan(instance, walk);
    if (low == kInfinity || !visit(walk, low) || low > walk.low()) return;
  } while (walk.go_to_next_piece());
}

std::vector<FrontPoint> energy_front(const Instance& instance, Cut cut) {
  std::vector<FrontPoint> points;
  const auto add = [&](double makespan, double joules) {
    if (points.empty() || !close(points.back().makespan, makespan, kVertexTolerance) ||
        !close(points.back().joules, joules, kVertexTolerance))
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

EnergyRelaxation solve_relaxation(const Instance& instance, double makespan) {
  if (!(makespan > 0) || makespan == kInfinity)
    throw InvalidInstance("makespan = " + to_text(makespan) +
                          ": expected a positive finite number of seconds");
  EnergyRelaxation result;
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

}  // namespace cosched::bags::energy
