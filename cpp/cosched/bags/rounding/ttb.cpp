#include "cosched/bags/rounding/ttb.hpp"

#include "cosched/bags/energy/front.hpp"
#include "cosched/bags/rounding/rounding.hpp"

namespace cosched::bags::rounding {

Plan tms(const Instance& instance) {
  const energy::BestRate top = energy::best_rate(instance, energy::Cut::none);
  if (top.makespan == kInfinity) return min_energy(instance);
  Counts counts;
  energy::visit_pieces(instance, energy::Cut::none, [&](const energy::Walk& walk, double low) {
    if (low == top.makespan) counts = round_by_largest_part(instance, walk.solution(low));
    return low > top.makespan;
  });
  return make_plan(instance, counts);
}

Plan min_energy(const Instance& instance) {
  Counts counts(instance.types(), instance.machine_types());
  for (int i = 0; i < instance.types(); ++i) counts(i, instance.thriftiest(i)) = instance.count(i);
  return make_plan(instance, counts);
}

Plan min_makespan(const Instance& instance) {
  Table x;
  energy::visit_pieces(instance, energy::Cut::long_tasks,
                       [&](const energy::Walk& walk, double low) {
                         x = walk.solution(low);
                         return true;
                       });
  return make_plan(instance, round_by_matching(instance, x));
}

namespace {

constexpr double kMostCells = 5e6;  // T M x changes of Algorithm A's result, in ttb_exact

// Calls visit(walk, makespan) for each of the makespans, which fall.
template <class Visit>
void for_each(const Instance& instance, const std::vector<double>& makespans, Visit visit) {
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
class Best {
 public:
  explicit Best(const Instance& instance) : instance_(instance) {}

  // Rounds the relaxation at `makespan`; ties: the later one.
  void round(const energy::Walk& walk, double makespan) {
    check_interrupt();
    Counts counts = round_by_matching(instance_, walk.solution(makespan));
    if (!counts_.empty() && counts == last_) return;
    last_ = counts;
    const double rate = profit_rate_of(instance_, counts);
    if (!counts_.empty() && rate < rate_) return;
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
Best best_rounding(const Instance& instance, const std::vector<double>& makespans) {
  std::vector<double> rates;
  for_each(instance, makespans, [&](const energy::Walk& walk, double makespan) {
    rates.push_back(instance.profit_rate(walk.joules(makespan), makespan));
  });
  const double top = *std::max_element(rates.begin(), rates.end());
  Best best(instance);
  std::size_t k = 0;
  for_each(instance, makespans, [&](const energy::Walk& walk, double makespan) {
    if (rates[k++] == top) best.round(walk, makespan);
  });
  k = 0;
  for_each(instance, makespans, [&](const energy::Walk& walk, double makespan) {
    const double rate = rates[k++];
    if (rate > best.rate() && rate != top) best.round(walk, makespan);
  });
  return best;
}

// LB (1 + eps)^t in falling order.
std::vector<double> makespan_grid(double least, double most, double eps) {
  const double steps = std::ceil(std::log(std::max(most / least, 1.0)) / std::log1p(eps));
  std::vector<double> grid;
  for (double t = steps; t >= 0; --t) grid.push_back(least * std::pow(1 + eps, t));
  return grid;
}

// The better plan; ties: the first.
Plan better(Plan first, Plan second) {
  return second.profit_rate > first.profit_rate ? std::move(second) : std::move(first);
}

// The part of [low, high] where the relaxation earns more than `rate`; on a piece of the walk what
// it earns is monotone.  first >= second: nowhere.
std::pair<double, double> where_above(const Instance& instance, const energy::Walk& walk,
                                      double low, double high, double rate) {
  const auto above = [&](double makespan) {
    return instance.profit_rate(walk.joules(makespan), makespan) > rate;
  };
  const bool at_low = above(low), at_high = above(high);
  if (at_low && at_high) return {low, high};
  if (!at_low && !at_high) return {high, low};
  double inside = at_low ? low : high, outside = at_low ? high : low;
  while (!close(inside, outside, kExactTolerance)) {
    const double middle = inside + (outside - inside) / 2;
    (above(middle) ? inside : outside) = middle;
  }
  return at_low ? std::pair{low, outside} : std::pair{outside, high};
}

// Calls visit(a, b) for what decides Algorithm A, with its values at two makespans of a piece: each
// x_ij (its floor), and each sum of x_ij over the longest types of a machine type (a slot's border
// lies where it is an integer).  Between makespans where one of them is an integer, the fractional
// parts meet the same slots, the weights are constants, and Algorithm A gives the same counts.
template <class Visit>
void for_each_form(const Instance& instance, const Table& at_from, const Table& at_to,
                   Visit visit) {
  for (int j = 0; j < instance.machine_types(); ++j) {
    double from = 0, to = 0;
    for (const int i : longest_first(instance, j)) {
      visit(at_from(i, j), at_to(i, j));
      visit(from += at_from(i, j), to += at_to(i, j));
    }
  }
}

// How often Algorithm A's result may change between two makespans of a piece.
double count_changes(const Instance& instance, const energy::Walk& walk, double from, double to) {
  double count = 0;
  for_each_form(instance, walk.solution(from), walk.solution(to),
                [&](double a, double b) { count += std::abs(std::floor(b) - std::floor(a)); });
  return count;
}

// Where it may, in falling order; for a share below 1 as many evenly spread makespans instead.
std::vector<double> rounding_changes(const Instance& instance, const energy::Walk& walk,
                                     double from, double to, double share) {
  std::vector<double> changes;
  if (share < 1) {
    const double most = std::ceil(share * count_changes(instance, walk, from, to));
    for (double k = 1; k <= most; ++k) changes.push_back(from + (to - from) * k / (most + 1));
  } else {
    for_each_form(instance, walk.solution(from), walk.solution(to), [&](double a, double b) {
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
void for_each_promising(const Instance& instance, const Best& best, Visit visit) {
  energy::visit_pieces(
      instance, energy::Cut::long_tasks, [&](const energy::Walk& walk, double low) {
        if (walk.high() == kInfinity) return true;  // x is constant there
        const auto [from, to] = where_above(instance, walk, low, walk.high(), best.rate());
        if (from < to) visit(walk, from, to);
        return true;
      });
}

}  // namespace

Plan ttb(const Instance& instance, double eps, bool with_tms) {
  if (!(eps >= 1e-6 && eps <= 1))
    throw InvalidInstance("eps = " + to_text(eps) + ": expected 1e-6 <= eps <= 1");
  const double least = energy::least_makespan(instance);
  std::vector<double> makespans = makespan_grid(least, min_energy(instance).makespan, eps);
  if (!with_tms) return best_rounding(instance, makespans).plan();
  Plan of_tms = tms(instance);
  for (const double makespan :
       {energy::best_rate(instance, energy::Cut::none).makespan, of_tms.makespan})
    if (makespan >= least && makespan < kInfinity) makespans.push_back(makespan);
  std::sort(makespans.rbegin(), makespans.rend());
  return better(best_rounding(instance, makespans).plan(), std::move(of_tms));
}

Plan ttb_exact(const Instance& instance) {
  std::vector<double> vertices;
  energy::visit_pieces(instance, energy::Cut::long_tasks, [&](const energy::Walk&, double low) {
    vertices.push_back(low);
    return true;
  });
  Best best = best_rounding(instance, vertices);
  double changes = 0;
  for_each_promising(instance, best, [&](const energy::Walk& walk, double from, double to) {
    changes += count_changes(instance, walk, from, to);
  });
  const double cells = static_cast<double>(instance.types()) * instance.machine_types();
  const double share = changes > 0 ? std::min(1.0, kMostCells / (cells * changes)) : 1;
  for_each_promising(instance, best, [&](const energy::Walk& walk, double from, double to) {
    std::vector<double> marks = rounding_changes(instance, walk, from, to, share);
    marks.push_back(from);
    double last = to;
    for (const double mark : marks) {
      for (const double makespan : {(last + mark) / 2, mark})
        if (instance.profit_rate(walk.joules(makespan), makespan) > best.rate())
          best.round(walk, makespan);
      last = mark;
    }
  });
  return better(best.plan(), ttb(instance, kDefaultEps));
}

}  // namespace cosched::bags::rounding
