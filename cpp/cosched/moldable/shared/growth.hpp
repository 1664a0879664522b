// How much a set of jobs that run together may be worth, whoever joins.
#pragma once

#include "cosched/core/interrupt.hpp"
#include "cosched/moldable/bounds/areas.hpp"

namespace cosched::moldable::shared {

/// At prices u a set S with counts is worth sum u_i / (t_i(q_i) f_i(S)).  Jobs are taken in an
/// order, by worth a share of the machine; counts of a job on which it needs and loads the same are
/// a group, and a set says the group of each.
///
/// Valid: f grows with S, so whoever is in S or joins has its factor beside S, or a greater one.
/// At these factors what grows from S is a knapsack with a row of processors, of each resource, of
/// traffic; one row alone, or a mix, counts as a fractional one, is a relaxation, and so is its
/// Lagrangian at any price >= 0 of the row.  Terms of who joins add up there, so that a suffix of
/// them bounds each child (Beside::growth).
class ExtensionBound {
 public:
  struct SetMember {
    int order_index, group_index;  // of order(), of groups()
  };
  struct CountGroup {
    int first_choice, last_choice;  // of the choices
  };
  /// Sets whose total load is from `least` to `most`, in capacities of the bandwidth: f is at least
  /// what `least` makes of it, for sets of two and more.
  struct LoadInterval {
    double low = 0, high = kInfinity;
  };
  struct Candidate {
    int order_index;
    double factor_bound;     // at least
    double extension_bound;  // the bound with it, and none before it; where limit() has been asked
  };

  /// `surrogate`: weights of the rows for a mix of them.
  ExtensionBound(const Instance& instance, const bounds::ResourceRows& rows,
                 const std::vector<double>& surrogate)
      : instance_(instance), sharing_(*instance.sharing()), rows_(rows) {
    for (int row = 0; row <= sharing_.resources(); ++row) {
      row_mixes_.emplace_back(sharing_.resources() + 1, 0.0);
      row_mixes_.back()[row] = 1;
    }
    row_mixes_.emplace_back(surrogate.begin(), surrogate.begin() + sharing_.resources() + 1);
    for (int i = 0; i < instance.jobs(); ++i) count_groups_.push_back(make_count_groups(i));
  }

  void set_prices(const std::vector<double>& prices) {
    prices_ = prices;
    order_.clear();
    std::vector<double> density(instance_.jobs(), 0);
    for (int i = 0; i < instance_.jobs(); ++i) {
      if (!(prices[i] > 0)) continue;
      order_.push_back(i);
      for (const Choice& c : rows_.choices(i))
        density[i] =
            std::max(density[i],
                     prices[i] / c.time / std::max(row_weight(row_mixes_.size() - 1, i, c), 1e-12));
    }
    std::stable_sort(order_.begin(), order_.end(),
                     [&](int a, int b) { return density[a] > density[b]; });
    const std::size_t n = order_.size();
    const std::size_t all = row_mixes_.size() + (sharing_.has_bandwidth() ? 1 : 0);
    candidate_hulls_.assign(all, std::vector<DensityHull>(n));
    member_hulls_.assign(all, std::vector<std::vector<DensityHull>>(n));
    multipliers_.assign(all, 0);
    for (std::size_t w = 0; w < all; ++w)
      for (std::size_t place = 0; place < n; ++place) {
        const int i = order_[place], counts = static_cast<int>(rows_.choices(i).size());
        candidate_hulls_[w][place] = make_hull(w, i, {0, counts - 1}, true);
        for (const CountGroup& group : count_groups_[i])
          member_hulls_[w][place].push_back(make_hull(w, i, group, false));
      }
  }

  const std::vector<int>& order() const { return order_; }
  const std::vector<CountGroup>& count_groups(int i) const { return count_groups_[i]; }

  bool has_room_for(const std::vector<SetMember>& set) const {
    std::vector<Run> runs;
    long long used = 0;
    for (const SetMember& pick : set) {
      const int i = order_[pick.order_index];
      runs.push_back(
          {i, rows_.choices(i)[count_groups_[i][pick.group_index].first_choice].procs, 0});
      used += runs.back().procs;
    }
    return used <= instance_.machines() && sharing_.fits(runs);
  }

  std::vector<double> slowdown_factors(const std::vector<SetMember>& set) {
    poll_.count(kPairStep * static_cast<std::int64_t>(set.size() * set.size() + 1));
    std::vector<Run> runs;
    for (const SetMember& pick : set) {
      const int i = order_[pick.order_index];
      const Choice& c = rows_.choices(i)[count_groups_[i][pick.group_index].first_choice];
      runs.push_back({i, c.procs, c.time});
    }
    return sharing_.factors(runs);
  }

  /// Who fits beside the set, from order()[from] on.
  void find_candidates(const std::vector<SetMember>& set, int from, LoadInterval loads) {
    candidates_.clear();
    double load = 0;
    int procs = 0;
    used_resources_.assign(sharing_.resources(), 0);
    for (const SetMember& pick : set) {
      const int i = order_[pick.order_index];
      const int q = rows_.choices(i)[count_groups_[i][pick.group_index].first_choice].procs;
      load += sharing_.load(i, q);
      procs += q;
      for (int r = 0; r < sharing_.resources(); ++r) used_resources_[r] += sharing_.need(r, i, q);
    }
    const double most = loads.high + kSlack;
    for (int place = from; place < static_cast<int>(order_.size()); ++place) {
      const int i = order_[place];
      double own = kInfinity;
      for (const CountGroup& group : count_groups_[i])
        if (has_room_for(i, group, procs))
          own = std::min(own, sharing_.load(i, rows_.choices(i)[group.first_choice].procs));
      if (own == kInfinity || load + own > most) continue;
      double f = factor_in_set(set, i);
      if (!set.empty()) f = std::max(f, 1 + sharing_.stall(i) * std::max(0.0, load + own - 1));
      f = std::max(f, 1 + sharing_.stall(i) * std::max(0.0, loads.low - 1));
      candidates_.push_back({place, f, kInfinity});
    }
    steps_ += static_cast<std::int64_t>(order_.size()) - from;
  }

  const std::vector<Candidate>& candidates() const { return candidates_; }

  /// A bound on what the set and those beside it, as of look_beside(), may be worth; `enough` at
  /// least, where it need not be sharper.  The second also finds Beside::growth.
  double bound_extensions(const std::vector<SetMember>& set, const std::vector<double>& factors,
                          LoadInterval loads, double enough) {
    double least = kInfinity;
    for (std::size_t w = 0; w < knapsack_count(loads); ++w) {
      fill_knapsack(w, set, factors, loads, true);
      if (lagrangian_at(multipliers_[w]) <= enough) return enough;
      least = std::min(least, solve_fractional());
      if (least <= enough) return enough;
    }
    return least;
  }

  double bound_each_candidate(const std::vector<SetMember>& set, const std::vector<double>& factors,
                              LoadInterval loads) {
    double least = kInfinity;
    for (std::size_t w = 0; w < knapsack_count(loads); ++w) {
      fill_knapsack(w, set, factors, loads, true);
      least = std::min(least, solve_fractional(&multipliers_[w]));
      const double price = multipliers_[w];
      const auto gain = [&](int step) {
        return std::max(0.0, knapsack_.steps[step].value - price * knapsack_.steps[step].weight);
      };
      double sum = knapsack_.fixed_value + price * knapsack_.free_weight;
      for (int step = 0; step < (candidates_.empty() ? 0 : knapsack_.candidate_begins[0]); ++step)
        sum += gain(step);
      for (std::size_t k = candidates_.size(); k-- > 0;) {
        for (int step = knapsack_.candidate_begins[k]; step < knapsack_.candidate_begins[k + 1];
             ++step)
          sum += gain(step);
        candidates_[k].extension_bound = std::min(candidates_[k].extension_bound, sum);
      }
    }
    return least;
  }

  /// The same with nobody beside it: a bound on the worth of the set.
  double bound_set(const std::vector<SetMember>& set, const std::vector<double>& factors) {
    fill_knapsack(0, set, factors, {}, false);
    return solve_fractional();
  }

  std::int64_t steps() const { return steps_; }

 private:
  static constexpr double kSlack = 1e-8;  // of a row, for rounding errors of sums
  static constexpr std::int64_t kSortedStep = 100,
                                kPairStep = 3;  // nanoseconds, about: looks at the clock

  struct HullStep {
    double value, weight;
  };
  // Upper hull of (weight, value) over counts, as steps of falling density from its first point.
  struct DensityHull {
    double base_value = 0, base_weight = 0;
    std::vector<HullStep> steps;
  };
  // A knapsack of one row: what is in for sure, what may be.
  struct FractionalKnapsack {
    double fixed_value = 0, free_weight = 0;
    std::vector<HullStep> steps;
    std::vector<int> candidate_begins;  // the begin of each of those beside, in steps; and the end
  };

  // Neighbours that need and load the same.
  std::vector<CountGroup> make_count_groups(int i) const {
    std::vector<CountGroup> groups;
    const std::vector<Choice>& counts = rows_.choices(i);
    for (int c = 0; c < static_cast<int>(counts.size()); ++c) {
      const auto same = [&](int q, int other) {
        for (int r = 0; r < sharing_.resources(); ++r)
          if (sharing_.need(r, i, q) != sharing_.need(r, i, other)) return false;
        return sharing_.load(i, q) == sharing_.load(i, other);
      };
      if (c > 0 && same(counts[c].procs, counts[c - 1].procs))
        groups.back().last_choice = c;
      else
        groups.push_back({c, c});
    }
    return groups;
  }

  double row_weight(std::size_t w, int i, const Choice& c) const {
    if (is_load_row(w)) return sharing_.load(i, c.procs);
    double sum = 0;
    for (std::size_t row = 0; row < row_mixes_[w].size(); ++row)
      if (row_mixes_[w][row] > 0)
        sum += row_mixes_[w][row] * rows_.share(static_cast<int>(row), i, c.procs);
    return sum;
  }

  bool is_load_row(std::size_t w) const { return w == row_mixes_.size(); }
  std::size_t knapsack_count(LoadInterval loads) const {
    return row_mixes_.size() + (loads.high < kInfinity ? 1 : 0);
  }

  DensityHull make_hull(std::size_t w, int i, CountGroup group, bool from_nothing) const {
    std::vector<std::pair<double, double>> points;
    for (int c = group.first_choice; c <= group.last_choice; ++c) {
      const Choice& choice = rows_.choices(i)[c];
      points.emplace_back(row_weight(w, i, choice), -prices_[i] / choice.time);
    }
    std::sort(points.begin(), points.end());  // the worthiest of a weight first
    std::vector<std::pair<double, double>> kept;
    if (from_nothing) kept.emplace_back(0, 0);
    for (auto [x, negative] : points) {
      const double y = -negative;
      if (!kept.empty() && y <= kept.back().second) continue;
      while (kept.size() > 1) {
        const auto& [x1, y1] = kept[kept.size() - 2];
        const auto& [x2, y2] = kept.back();
        if ((y2 - y1) * (x - x1) > (y - y1) * (x2 - x1)) break;
        kept.pop_back();
      }
      kept.emplace_back(x, y);
    }
    DensityHull made{kept.front().second, kept.front().first, {}};
    for (std::size_t k = 1; k < kept.size(); ++k)
      made.steps.push_back(
          {kept[k].second - kept[k - 1].second, kept[k].first - kept[k - 1].first});
    return made;
  }

  bool has_room_for(int i, const CountGroup& group, int procs) const {
    const int q = rows_.choices(i)[group.first_choice].procs;
    if (procs + q > instance_.machines()) return false;
    for (int r = 0; r < sharing_.resources(); ++r)
      if (!leq(used_resources_[r] + sharing_.need(r, i, q), sharing_.capacity(r))) return false;
    return true;
  }

  double factor_in_set(const std::vector<SetMember>& set, int i) const {
    double f = 1;
    for (const SetMember& pick : set)
      f = with_companion(sharing_.rule(), f, sharing_.excess(i, order_[pick.order_index]));
    return f;
  }

  // Counts of the set and of those beside it.
  void fill_knapsack(std::size_t w, const std::vector<SetMember>& set,
                     const std::vector<double>& factors, LoadInterval loads, bool with_beside) {
    std::vector<HullStep>& steps = knapsack_.steps;
    steps.clear();
    knapsack_.candidate_begins.clear();
    double sum = 0, room = kSlack;
    if (is_load_row(w))
      room += loads.high;
    else
      for (const double share : row_mixes_[w]) room += share;
    for (std::size_t k = 0; k < set.size(); ++k) {
      const DensityHull& own = member_hulls_[w][set[k].order_index][set[k].group_index];
      const double stall = sharing_.stall(order_[set[k].order_index]);
      const double f = std::max(factors[k], 1 + stall * std::max(0.0, loads.low - 1));
      sum += own.base_value / f;
      room -= own.base_weight;
      for (const HullStep& step : own.steps) steps.push_back({step.value / f, step.weight});
    }
    knapsack_.fixed_value = sum;
    knapsack_.free_weight = std::max(room, 0.0);
    if (!with_beside) return;
    for (const Candidate& other : candidates_) {
      knapsack_.candidate_begins.push_back(static_cast<int>(steps.size()));
      for (const HullStep& step : candidate_hulls_[w][other.order_index].steps)
        steps.push_back({step.value / other.factor_bound, step.weight});
    }
    knapsack_.candidate_begins.push_back(static_cast<int>(steps.size()));
  }

  // A bound at any price >= 0 of the row.
  double lagrangian_at(double price) {
    double sum = knapsack_.fixed_value + price * knapsack_.free_weight;
    for (const HullStep& step : knapsack_.steps)
      sum += std::max(0.0, step.value - price * step.weight);
    steps_ += static_cast<std::int64_t>(knapsack_.steps.size()) / 4;
    return sum;
  }

  // The fractional one, and the price at which at_price() is the same.
  double solve_fractional(double* price = nullptr) {
    sorted_steps_ = knapsack_.steps;
    std::sort(sorted_steps_.begin(), sorted_steps_.end(), [](const HullStep& a, const HullStep& b) {
      return a.value * b.weight > b.value * a.weight;
    });
    steps_ += static_cast<std::int64_t>(sorted_steps_.size());
    poll_.count(kSortedStep * static_cast<std::int64_t>(sorted_steps_.size() + 1));
    double sum = knapsack_.fixed_value, room = knapsack_.free_weight;
    if (price != nullptr) *price = 0;
    for (const HullStep& step : sorted_steps_) {
      if (step.weight > room) {
        if (price != nullptr) *price = step.value / step.weight;
        return sum + step.value * room / step.weight;
      }
      sum += step.value;
      room -= step.weight;
    }
    return sum;
  }

  const Instance& instance_;
  const Sharing& sharing_;
  const bounds::ResourceRows& rows_;
  std::vector<std::vector<double>> row_mixes_;  // of rows, of several knapsacks; then that of loads
  std::vector<std::vector<CountGroup>> count_groups_;
  std::vector<double> prices_;
  std::vector<int> order_;
  std::vector<std::vector<DensityHull>> candidate_hulls_;            // by knapsack and place
  std::vector<std::vector<std::vector<DensityHull>>> member_hulls_;  // and group
  std::vector<double> multipliers_;  // of each knapsack, as it was last
  std::vector<Candidate> candidates_;
  std::vector<double> used_resources_;
  FractionalKnapsack knapsack_;
  std::vector<HullStep> sorted_steps_;
  std::int64_t steps_ = 0;
  Poll poll_;
};

}  // namespace cosched::moldable::shared
