#include "cosched/bags/algorithms.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "cosched/bags/rounding.hpp"
#include "cosched/core/errors.hpp"
#include "cosched/core/interrupt.hpp"

namespace cosched::bags {
namespace {

// Calls visit(walk, makespan) for each of the makespans, which fall.
template <class Visit>
void for_each(const Instance& instance, const std::vector<double>& makespans, Visit visit) {
  std::size_t k = 0;
  visit_pieces(instance, Cut::long_tasks, [&](const EnergyWalk& walk, double low) {
    for (; k < makespans.size() && makespans[k] >= low; ++k) visit(walk, makespans[k]);
    return k < makespans.size();
  });
}

// The best of the roundings that were tried.
class Best {
 public:
  explicit Best(const Instance& instance) : instance_(instance) {}

  // Rounds the relaxation at `makespan`; ties: the later one.
  void round(const EnergyWalk& walk, double makespan) {
    check_interrupt();
    Counts counts = round_by_matching(instance_, walk.solution(makespan));
    if (counts_.size() > 0 && (counts == last_).all()) return;
    last_ = counts;
    const double rate = profit_rate_of(instance_, counts);
    if (counts_.size() > 0 && rate < rate_) return;
    rate_ = rate;
    counts_ = std::move(counts);
  }
  double rate() const { return rate_; }
  Plan plan() const { return make_plan(instance_, counts_); }

 private:
  const Instance& instance_;
  Counts counts_, last_;
  double rate_ = 0;
};

// The best rounding of the relaxation at these makespans, which fall.  The one whose relaxation
// earns most goes first; then those whose relaxation earns more than the best plan so far.
Plan best_rounding(const Instance& instance, const std::vector<double>& makespans) {
  std::vector<double> rates;
  for_each(instance, makespans, [&](const EnergyWalk& walk, double makespan) {
    rates.push_back(instance.profit_rate(walk.joules(makespan), makespan));
  });
  const double top = *std::max_element(rates.begin(), rates.end());
  Best best(instance);
  std::size_t k = 0;
  for_each(instance, makespans, [&](const EnergyWalk& walk, double makespan) {
    if (rates[k++] == top) best.round(walk, makespan);
  });
  k = 0;
  for_each(instance, makespans, [&](const EnergyWalk& walk, double makespan) {
    const double rate = rates[k++];
    if (rate > best.rate() && rate != top) best.round(walk, makespan);
  });
  return best.plan();
}

// LB (1 + eps)^t in falling order.
std::vector<double> makespan_grid(double least, double most, double eps) {
  const double steps = std::ceil(std::log(std::max(most / least, 1.0)) / std::log1p(eps));
  std::vector<double> grid;
  for (double t = steps; t >= 0; --t) grid.push_back(least * std::pow(1 + eps, t));
  return grid;
}

}  // namespace

Plan ttb(const Instance& instance, double eps) {
  if (!(eps >= 1e-6 && eps <= 1))
    throw InvalidInstance("eps = " + to_text(eps) + ": expected 1e-6 <= eps <= 1");
  const double least = least_makespan(instance);
  std::vector<double> makespans = makespan_grid(least, min_energy(instance).makespan, eps);
  const double of_tms = best_rate(instance, Cut::none).makespan;
  if (of_tms >= least && of_tms < kInfinity)
    makespans.insert(std::upper_bound(makespans.begin(), makespans.end(), of_tms, std::greater<>()),
                     of_tms);
  return best_rounding(instance, makespans);
}

Plan ttb_exact(const Instance& instance) {
  std::vector<double> makespans;
  visit_pieces(instance, Cut::long_tasks, [&](const EnergyWalk&, double low) {
    makespans.push_back(low);
    return true;
  });
  return best_rounding(instance, makespans);
}

Plan tms(const Instance& instance) {
  const BestRate top = best_rate(instance, Cut::none);
  if (top.makespan == kInfinity) return min_energy(instance);
  Counts counts;
  visit_pieces(instance, Cut::none, [&](const EnergyWalk& walk, double low) {
    if (low == top.makespan) counts = round_by_largest_part(instance, walk.solution(low));
    return low > top.makespan;
  });
  return make_plan(instance, counts);
}

Plan min_energy(const Instance& instance) {
  Counts counts = Counts::Zero(instance.types(), instance.machine_types());
  for (int i = 0; i < instance.types(); ++i) counts(i, instance.thriftiest(i)) = instance.count(i);
  return make_plan(instance, counts);
}

Plan min_makespan(const Instance& instance) {
  Table x;
  visit_pieces(instance, Cut::long_tasks, [&](const EnergyWalk& walk, double low) {
    x = walk.solution(low);
    return true;
  });
  return make_plan(instance, round_by_matching(instance, x));
}

}  // namespace cosched::bags
