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
class Growth {
 public:
  struct Pick {
    int place, group;  // of order(), of groups()
  };
  struct Group {
    int first, last;  // of the choices
  };
  /// Sets whose total load is from `least` to `most`, in capacities of the bandwidth: f is at least
  /// what `least` makes of it, for sets of two and more.
  struct Loads {
    double least = 0, most = kInfinity;
  };
  struct Beside {
    int place;
    double factor;  // at least
    double growth;  // the bound with it, and none before it; where limit() has been asked
  };

  /// `surrogate`: weights of the rows for a mix of them.
  Growth(const Instance& instance, const bounds::Rows& rows, const std::vector<double>& surrogate)
      : instance_(instance), sharing_(*instance.sharing()), rows_(rows) {
    for (int row = 0; row <= sharing_.resources(); ++row) {
      weights_.emplace_back(sharing_.resources() + 1, 0.0);
      weights_.back()[row] = 1;
    }
    weights_.emplace_back(surrogate.begin(), surrogate.begin() + sharing_.resources() + 1);
    for (int i = 0; i < instance.jobs(); ++i) groups_.push_back(groups_of(i));
  }

  void price(const std::vector<double>& prices) {
    prices_ = prices;
    order_.clear();
    std::vector<double> density(instance_.jobs(), 0);
    for (int i = 0; i < instance_.jobs(); ++i) {
      if (!(prices[i] > 0)) continue;
      order_.push_back(i);
      for (const Choice& c : rows_.of(i))
        density[i] = std::max(
            density[i], prices[i] / c.time / std::max(weight(weights_.size() - 1, i, c), 1e-12));
    }
    std::stable_sort(order_.begin(), order_.end(),
                     [&](int a, int b) { return density[a] > density[b]; });
    const std::size_t n = order_.size();
    const std::size_t all = weights_.size() + (sharing_.has_bandwidth() ? 1 : 0);
    joining_.assign(all, std::vector<Hull>(n));
    joined_.assign(all, std::vector<std::vector<Hull>>(n));
    price_of_.assign(all, 0);
    for (std::size_t w = 0; w < all; ++w)
      for (std::size_t place = 0; place < n; ++place) {
        const int i = order_[place], counts = static_cast<int>(rows_.of(i).size());
        joining_[w][place] = hull(w, i, {0, counts - 1}, true);
        for (const Group& group : groups_[i]) joined_[w][place].push_back(hull(w, i, group, false));
      }
  }

  const std::vector<int>& order() const { return order_; }
  const std::vector<Group>& groups(int i) const { return groups_[i]; }

  bool fits(const std::vector<Pick>& set) const {
    std::vector<Run> runs;
    long long used = 0;
    for (const Pick& pick : set) {
      const int i = order_[pick.place];
      runs.push_back({i, rows_.of(i)[groups_[i][pick.group].first].procs, 0});
      used += runs.back().procs;
    }
    return used <= instance_.machines() && sharing_.fits(runs);
  }

  std::vector<double> factors(const std::vector<Pick>& set) {
    poll_.count(kPairStep * static_cast<std::int64_t>(set.size() * set.size() + 1));
    std::vector<Run> runs;
    for (const Pick& pick : set) {
      const int i = order_[pick.place];
      const Choice& c = rows_.of(i)[groups_[i][pick.group].first];
      runs.push_back({i, c.procs, c.time});
    }
    return sharing_.factors(runs);
  }

  /// Who fits beside the set, from order()[from] on.
  void look_beside(const std::vector<Pick>& set, int from, Loads loads) {
    beside_.clear();
    double load = 0;
    int procs = 0;
    used_.assign(sharing_.resources(), 0);
    for (const Pick& pick : set) {
      const int i = order_[pick.place];
      const int q = rows_.of(i)[groups_[i][pick.group].first].procs;
      load += sharing_.load(i, q);
      procs += q;
      for (int r = 0; r < sharing_.resources(); ++r) used_[r] += sharing_.need(r, i, q);
    }
    const double most = loads.most + kSlack;
    for (int place = from; place < static_cast<int>(order_.size()); ++place) {
      const int i = order_[place];
      double own = kInfinity;
      for (const Group& group : groups_[i])
        if (fits(i, group, procs))
          own = std::min(own, sharing_.load(i, rows_.of(i)[group.first].procs));
      if (own == kInfinity || load + own > most) continue;
      double f = factor_beside(set, i);
      if (!set.empty()) f = std::max(f, 1 + sharing_.stall(i) * std::max(0.0, load + own - 1));
      f = std::max(f, 1 + sharing_.stall(i) * std::max(0.0, loads.least - 1));
      beside_.push_back({place, f, kInfinity});
    }
    steps_ += static_cast<std::int64_t>(order_.size()) - from;
  }

  const std::vector<Beside>& beside() const { return beside_; }

  /// A bound on what the set and those beside it, as of look_beside(), may be worth; `enough` at
  /// least, where it need not be sharper.  The second also finds Beside::growth.
  double bound(const std::vector<Pick>& set, const std::vector<double>& factors, Loads loads,
               double enough) {
    double least = kInfinity;
    for (std::size_t w = 0; w < knapsacks(loads); ++w) {
      fill(w, set, factors, loads, true);
      if (at_price(price_of_[w]) <= enough) return enough;
      least = std::min(least, optimum());
      if (least <= enough) return enough;
    }
    return least;
  }

  double limit(const std::vector<Pick>& set, const std::vector<double>& factors, Loads loads) {
    double least = kInfinity;
    for (std::size_t w = 0; w < knapsacks(loads); ++w) {
      fill(w, set, factors, loads, true);
      least = std::min(least, optimum(&price_of_[w]));
      const double price = price_of_[w];
      const auto gain = [&](int step) {
        return std::max(0.0, knapsack_.steps[step].value - price * knapsack_.steps[step].weight);
      };
      double sum = knapsack_.sum + price * knapsack_.room;
      for (int step = 0; step < (beside_.empty() ? 0 : knapsack_.of[0]); ++step) sum += gain(step);
      for (std::size_t k = beside_.size(); k-- > 0;) {
        for (int step = knapsack_.of[k]; step < knapsack_.of[k + 1]; ++step) sum += gain(step);
        beside_[k].growth = std::min(beside_[k].growth, sum);
      }
    }
    return least;
  }

  /// The same with nobody beside it: a bound on the worth of the set.
  double alone(const std::vector<Pick>& set, const std::vector<double>& factors) {
    fill(0, set, factors, {}, false);
    return optimum();
  }

  std::int64_t steps() const { return steps_; }

 private:
  static constexpr double kSlack = 1e-8;  // of a row, for rounding errors of sums
  static constexpr std::int64_t kSortedStep = 100,
                                kPairStep = 3;  // nanoseconds, about: looks at the clock

  struct Step {
    double value, weight;
  };
  // Upper hull of (weight, value) over counts, as steps of falling density from its first point.
  struct Hull {
    double value = 0, weight = 0;
    std::vector<Step> steps;
  };
  // A knapsack of one row: what is in for sure, what may be.
  struct Knapsack {
    double sum = 0, room = 0;
    std::vector<Step> steps;
    std::vector<int> of;  // the begin of each of those beside, in steps; and the end
  };

  // Neighbours that need and load the same.
  std::vector<Group> groups_of(int i) const {
    std::vector<Group> groups;
    const std::vector<Choice>& counts = rows_.of(i);
    for (int c = 0; c < static_cast<int>(counts.size()); ++c) {
      const auto same = [&](int q, int other) {
        for (int r = 0; r < sharing_.resources(); ++r)
          if (sharing_.need(r, i, q) != sharing_.need(r, i, other)) return false;
        return sharing_.load(i, q) == sharing_.load(i, other);
      };
      if (c > 0 && same(counts[c].procs, counts[c - 1].procs))
        groups.back().last = c;
      else
        groups.push_back({c, c});
    }
    return groups;
  }

  double weight(std::size_t w, int i, const Choice& c) const {
    if (is_load(w)) return sharing_.load(i, c.procs);
    double sum = 0;
    for (std::size_t row = 0; row < weights_[w].size(); ++row)
      if (weights_[w][row] > 0)
        sum += weights_[w][row] * rows_.share(static_cast<int>(row), i, c.procs);
    return sum;
  }

  bool is_load(std::size_t w) const { return w == weights_.size(); }
  std::size_t knapsacks(Loads loads) const {
    return weights_.size() + (loads.most < kInfinity ? 1 : 0);
  }

  Hull hull(std::size_t w, int i, Group group, bool from_nothing) const {
    std::vector<std::pair<double, double>> points;
    for (int c = group.first; c <= group.last; ++c) {
      const Choice& choice = rows_.of(i)[c];
      points.emplace_back(weight(w, i, choice), -prices_[i] / choice.time);
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
    Hull made{kept.front().second, kept.front().first, {}};
    for (std::size_t k = 1; k < kept.size(); ++k)
      made.steps.push_back(
          {kept[k].second - kept[k - 1].second, kept[k].first - kept[k - 1].first});
    return made;
  }

  bool fits(int i, const Group& group, int procs) const {
    const int q = rows_.of(i)[group.first].procs;
    if (procs + q > instance_.machines()) return false;
    for (int r = 0; r < sharing_.resources(); ++r)
      if (!leq(used_[r] + sharing_.need(r, i, q), sharing_.capacity(r))) return false;
    return true;
  }

  double factor_beside(const std::vector<Pick>& set, int i) const {
    double f = 1;
    for (const Pick& pick : set)
      f = with_companion(sharing_.rule(), f, sharing_.excess(i, order_[pick.place]));
    return f;
  }

  // Counts of the set and of those beside it.
  void fill(std::size_t w, const std::vector<Pick>& set, const std::vector<double>& factors,
            Loads loads, bool with_beside) {
    std::vector<Step>& steps = knapsack_.steps;
    steps.clear();
    knapsack_.of.clear();
    double sum = 0, room = kSlack;
    if (is_load(w))
      room += loads.most;
    else
      for (const double share : weights_[w]) room += share;
    for (std::size_t k = 0; k < set.size(); ++k) {
      const Hull& own = joined_[w][set[k].place][set[k].group];
      const double stall = sharing_.stall(order_[set[k].place]);
      const double f = std::max(factors[k], 1 + stall * std::max(0.0, loads.least - 1));
      sum += own.value / f;
      room -= own.weight;
      for (const Step& step : own.steps) steps.push_back({step.value / f, step.weight});
    }
    knapsack_.sum = sum;
    knapsack_.room = std::max(room, 0.0);
    if (!with_beside) return;
    for (const Beside& other : beside_) {
      knapsack_.of.push_back(static_cast<int>(steps.size()));
      for (const Step& step : joining_[w][other.place].steps)
        steps.push_back({step.value / other.factor, step.weight});
    }
    knapsack_.of.push_back(static_cast<int>(steps.size()));
  }

  // A bound at any price >= 0 of the row.
  double at_price(double price) {
    double sum = knapsack_.sum + price * knapsack_.room;
    for (const Step& step : knapsack_.steps) sum += std::max(0.0, step.value - price * step.weight);
    steps_ += static_cast<std::int64_t>(knapsack_.steps.size()) / 4;
    return sum;
  }

  // The fractional one, and the price at which at_price() is the same.
  double optimum(double* price = nullptr) {
    sorted_ = knapsack_.steps;
    std::sort(sorted_.begin(), sorted_.end(),
              [](const Step& a, const Step& b) { return a.value * b.weight > b.value * a.weight; });
    steps_ += static_cast<std::int64_t>(sorted_.size());
    poll_.count(kSortedStep * static_cast<std::int64_t>(sorted_.size() + 1));
    double sum = knapsack_.sum, room = knapsack_.room;
    if (price != nullptr) *price = 0;
    for (const Step& step : sorted_) {
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
  const bounds::Rows& rows_;
  std::vector<std::vector<double>> weights_;  // of rows, of several knapsacks; then that of loads
  std::vector<std::vector<Group>> groups_;
  std::vector<double> prices_;
  std::vector<int> order_;
  std::vector<std::vector<Hull>> joining_;              // by knapsack and place
  std::vector<std::vector<std::vector<Hull>>> joined_;  // and group
  std::vector<double> price_of_;                        // of each knapsack, as it was last
  std::vector<Beside> beside_;
  std::vector<double> used_;
  Knapsack knapsack_;
  std::vector<Step> sorted_;
  std::int64_t steps_ = 0;
  Poll poll_;
};

}  // namespace cosched::moldable::shared
