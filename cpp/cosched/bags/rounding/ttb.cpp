#include "cosched/bags/rounding/ttb.hpp"

#include "cosched/bags/energy/front.hpp"
#include "cosched/bags/rounding/baselines.hpp"
#include "cosched/bags/rounding/local_assign.hpp"
#include "cosched/bags/rounding/rounding.hpp"

namespace cosched::bags::rounding {
namespace {

constexpr double kMaxCells = 5e6;  // T M x changes of Algorithm A's result, in ttb_exact

// Calls visit(walk, makespan) for each of the makespans, which fall.
template <class Visit>
void for_each_makespan(const Instance& instance, const std::vector<double>& makespans,
                       Visit visit) {
  std::size_t k = 0;
  Poll poll;
  energy::visit_pieces(instance, energy::Cut::long_tasks,
                       [&](const energy::Walk& walk, double low) {
                         for (; k < makespans.size() && makespans[k] >= low; ++k) {
                           poll.count(std::int64_t{4} * instance.types());
                           visit(walk, makespans[k]);
                         }
                         return k < makespans.size();
                       });
}

// The best of the roundings that were tried.
class BestRounding {
 public:
  explicit BestRounding(const Instance& instance) : instance_(instance) {}

  // Rounds the relaxation at `makespan`; ties: the later one.
  void try_makespan(const energy::Walk& walk, double makespan) {
    check_interrupt();
    Counts counts = round_by_matching(instance_, walk.solution(makespan));
    if (!counts_.empty() && counts == last_counts_) return;
    last_counts_ = counts;
    const double rate = profit_rate_of(instance_, counts);
    if (!counts_.empty() && rate < rate_) return;
    rate_ = rate;
    counts_ = std::move(counts);
  }
  double rate() const { return rate_; }
  BagPlan plan() const { return make_plan(instance_, counts_); }

 private:
  const Instance& instance_;
  Counts counts_, last_counts_;
  double rate_ = 0;
};

// The best rounding of the relaxation at these makespans, which fall.  The one whose relaxation
// earns most goes first; then those whose relaxation earns more than the best plan so far.
BestRounding best_rounding(const Instance& instance, const std::vector<double>& makespans) {
  std::vector<double> rates;
  for_each_makespan(instance, makespans, [&](const energy::Walk& walk, double makespan) {
    rates.push_back(instance.profit_rate(walk.joules(makespan), makespan));
  });
  const double top_rate = *std::max_element(rates.begin(), rates.end());
  BestRounding best(instance);
  std::size_t k = 0;
  for_each_makespan(instance, makespans, [&](const energy::Walk& walk, double makespan) {
    if (rates[k] == top_rate) best.try_makespan(walk, makespan);
    ++k;
  });
  k = 0;
  for_each_makespan(instance, makespans, [&](const energy::Walk& walk, double makespan) {
    const double rate = rates[k];
    ++k;
    if (rate > best.rate() && rate != top_rate) best.try_makespan(walk, makespan);
  });
  return best;
}

// LB (1 + eps)^t in falling order.
std::vector<double> makespan_grid(double shortest_makespan, double longest_makespan, double eps) {
  const double steps =
      std::ceil(std::log(std::max(longest_makespan / shortest_makespan, 1.0)) / std::log1p(eps));
  std::vector<double> grid;
  for (double t = steps; t >= 0; --t) grid.push_back(shortest_makespan * std::pow(1 + eps, t));
  return grid;
}

// The better plan; ties: the first.
BagPlan better_plan(BagPlan first_plan, BagPlan second_plan) {
  return second_plan.profit_rate > first_plan.profit_rate ? std::move(second_plan)
                                                          : std::move(first_plan);
}

// The part of [low, high] where the relaxation earns more than `rate`; on a piece of the walk what
// it earns is monotone.  first >= second: nowhere.
std::pair<double, double> interval_above_rate(const Instance& instance, const energy::Walk& walk,
                                              double low, double high, double rate) {
  const auto is_above = [&](double makespan) {
    return instance.profit_rate(walk.joules(makespan), makespan) > rate;
  };
  const bool is_above_at_low = is_above(low), is_above_at_high = is_above(high);
  if (is_above_at_low && is_above_at_high) return {low, high};
  if (!is_above_at_low && !is_above_at_high) return {high, low};
  double inside = is_above_at_low ? low : high, outside = is_above_at_low ? high : low;
  while (!close(inside, outside, kExactTolerance)) {
    const double middle = inside + (outside - inside) / 2;
    if (is_above(middle))
      inside = middle;
    else
      outside = middle;
  }
  return is_above_at_low ? std::pair{low, outside} : std::pair{outside, high};
}

// Calls visit(a, b) for what decides Algorithm A, with its values at two makespans of a piece: each
// x_ij (its floor), and each sum of x_ij over the longest types of a machine type (a slot's border
// lies where it is an integer).  Between makespans where one of them is an integer, the fractional
// parts meet the same slots, the weights are constants, and Algorithm A gives the same counts.
template <class Visit>
void for_each_decisive_value(const Instance& instance, const Table& at_from, const Table& at_to,
                             Visit visit) {
  for (int j = 0; j < instance.machine_types(); ++j) {
    double from = 0, to = 0;
    for (const int i : order_by_longest(instance, j)) {
      visit(at_from(i, j), at_to(i, j));
      from += at_from(i, j);
      to += at_to(i, j);
      visit(from, to);
    }
  }
}

// How often Algorithm A's result may change between two makespans of a piece.
double count_changes(const Instance& instance, const energy::Walk& walk, double from, double to) {
  double count = 0;
  for_each_decisive_value(
      instance, walk.solution(from), walk.solution(to),
      [&](double a, double b) { count += std::abs(std::floor(b) - std::floor(a)); });
  return count;
}

// Where it may, in falling order; for a share below 1 as many evenly spread makespans instead.
std::vector<double> makespans_of_changes(const Instance& instance, const energy::Walk& walk,
                                         double from, double to, double share) {
  std::vector<double> changes;
  if (share < 1) {
    const double longest_makespan = std::ceil(share * count_changes(instance, walk, from, to));
    for (double k = 1; k <= longest_makespan; ++k)
      changes.push_back(from + (to - from) * k / (longest_makespan + 1));
  } else {
    for_each_decisive_value(
        instance, walk.solution(from), walk.solution(to), [&](double a, double b) {
          for (double k = std::floor(std::min(a, b)) + 1; k < std::max(a, b); ++k)
            changes.push_back(from + (to - from) * (k - a) / (b - a));
        });
  }
  std::sort(changes.rbegin(), changes.rend());
  return changes;
}

// Calls visit(walk, from, to) for each piece and the part of it where the relaxation earns more
// than the best plan so far.
template <class Visit>
void for_each_promising_piece(const Instance& instance, const BestRounding& best, Visit visit) {
  energy::visit_pieces(
      instance, energy::Cut::long_tasks, [&](const energy::Walk& walk, double low) {
        if (walk.high() == kInfinity) return true;  // x is constant there
        const auto [from, to] = interval_above_rate(instance, walk, low, walk.high(), best.rate());
        if (from < to) visit(walk, from, to);
        return true;
      });
}

}  // namespace

BagPlan ttb(const Instance& instance, double eps, bool with_tms) {
  if (!(eps >= 1e-6 && eps <= 1))
    throw InvalidInstance("eps = " + to_text(eps) + ": expected 1e-6 <= eps <= 1");
  const double shortest_makespan = energy::least_makespan(instance);
  std::vector<double> makespans =
      makespan_grid(shortest_makespan, min_energy(instance).makespan, eps);
  if (!with_tms) return best_rounding(instance, makespans).plan();
  BagPlan tms_plan = tms(instance);
  for (const double makespan :
       {energy::best_rate(instance, energy::Cut::none).makespan, tms_plan.makespan})
    if (makespan >= shortest_makespan && makespan < kInfinity) makespans.push_back(makespan);
  std::sort(makespans.rbegin(), makespans.rend());
  return better_plan(best_rounding(instance, makespans).plan(), std::move(tms_plan));
}

BagPlan ttb_exact(const Instance& instance) {
  std::vector<double> vertices;
  energy::visit_pieces(instance, energy::Cut::long_tasks, [&](const energy::Walk&, double low) {
    vertices.push_back(low);
    return true;
  });
  BestRounding best = best_rounding(instance, vertices);
  double changes = 0;
  for_each_promising_piece(instance, best, [&](const energy::Walk& walk, double from, double to) {
    changes += count_changes(instance, walk, from, to);
  });
  const double cells = static_cast<double>(instance.types()) * instance.machine_types();
  const double share = changes > 0 ? std::min(1.0, kMaxCells / (cells * changes)) : 1;
  for_each_promising_piece(instance, best, [&](const energy::Walk& walk, double from, double to) {
    std::vector<double> marks = makespans_of_changes(instance, walk, from, to, share);
    marks.push_back(from);
    double previous_mark = to;
    for (const double mark : marks) {
      for (const double makespan : {(previous_mark + mark) / 2, mark})
        if (instance.profit_rate(walk.joules(makespan), makespan) > best.rate())
          best.try_makespan(walk, makespan);
      previous_mark = mark;
    }
  });
  return better_plan(best.plan(), ttb(instance, kDefaultEps));
}

}  // namespace cosched::bags::rounding
