// Which configuration is worth most: the pricing of configuration_bound.
#pragma once

#include <queue>

#include "cosched/moldable/shared/growth.hpp"

namespace cosched::moldable::shared {

/// Relative gap between a bound and what reaches it at which column generation ends.
inline constexpr double kEnough = 5e-4;

/// Best first over sets of jobs, a node bounded by its Growth; counts are chosen at the end, for
/// what a job slows and needs is the same on all of them, or on groups of them.  Under a bandwidth
/// a tree for each of some intervals of the total load, which together hold every set.
class ConfigurationPricing {
 public:
  /// `instance` and `rows` must outlive it.
  ConfigurationPricing(const Instance& instance, const bounds::Rows& rows,
                       const std::vector<double>& surrogate)
      : instance_(instance),
        sharing_(*instance.sharing()),
        rows_(rows),
        growth_(instance, rows, surrogate) {}

  struct Member {
    int job, choice;
  };
  struct Found {
    double value;
    std::vector<Member> set;
  };
  struct Answer {
    double most = 0;           // no configuration is worth more
    std::vector<Found> found;  // some that are worth much
    bool complete = true;
  };

  /// Those worth more than `threshold`; the bound is not sharper than threshold.  Adds what it took
  /// to `steps`.
  Answer best(const std::vector<double>& prices, double threshold, std::int64_t most_steps,
              std::int64_t& taken) {
    prices_ = prices;
    growth_.price(prices);
    Answer answer;
    answer.most = least_kept_ = threshold;
    const std::int64_t begin = steps(), last = begin + most_steps;
    consider_singles(answer);
    open_roots();
    dive(answer);
    while (!open_.empty()) {
      const Node node = open_.top();
      // What is left is worth no more than what was found, but for a tolerance.
      const bool enough = node.bound <= answer.most * (1 + kEnough / 4);
      if (enough || steps() > last || !expand(node, answer, last)) {
        answer.most = std::max(answer.most, node.bound);
        answer.complete = enough;
        break;
      }
    }
    taken += steps() - begin;
    return answer;
  }

  std::vector<double> factors(const std::vector<Member>& set) const {
    std::vector<Run> runs;
    for (const Member& member : set)
      runs.push_back({member.job, choice_of(member).procs, choice_of(member).time});
    return sharing_.factors(runs);
  }

 private:
  static constexpr int kDives = 8;
  static constexpr int kColumnsARound = 30;
  // Intervals of the total load: from 1 on, by this factor, up to the last.
  static constexpr double kLoadStep = 1.08, kLastLoad = 6;

  using Pick = Growth::Pick;
  struct Node {
    double bound;  // of its set, and what may be added from `from` on
    int from;
    std::vector<Pick> set;
    Growth::Loads loads;
    bool operator<(const Node& other) const { return bound < other.bound; }
  };

  void open_roots() {
    open_ = {};
    const auto open = [&](Growth::Loads loads) {
      growth_.look_beside({}, 0, loads);
      open_.push({growth_.bound({}, {}, loads, 0), 0, {}, loads});
    };
    if (!sharing_.has_bandwidth()) return open({});
    double from = 0;
    for (double to = 1; to <= kLastLoad; to *= kLoadStep) {
      open({from, to});
      from = to;
    }
    open({from, kInfinity});
  }

  // A factor is 1 alone whatever the load: the intervals are for sets of two and more.
  void consider_singles(Answer& answer) {
    for (const int i : growth_.order()) {
      Found best{0, {}};
      for (int c = 0; c < static_cast<int>(rows_.of(i).size()); ++c)
        if (const double value = prices_[i] / rows_.of(i)[c].time; value > best.value)
          best = {value, {{i, c}}};
      if (best.value > least_kept_) keep(std::move(best), answer);
    }
  }

  // Each further job that fits, on each group of counts.  False where the steps end before all have
  // been looked at.
  bool expand(const Node& node, Answer& answer, std::int64_t last) {
    open_.pop();
    std::vector<Pick> set = node.set;
    const std::vector<double> own = growth_.factors(set);
    growth_.look_beside(set, node.from, node.loads);
    growth_.limit(set, own, node.loads);
    const std::vector<Growth::Beside> beside = growth_.beside();
    for (const Growth::Beside& other : beside) {
      ++steps_;
      if (other.growth <= answer.most) continue;
      const int i = growth_.order()[other.place];
      for (int g = 0; g < static_cast<int>(growth_.groups(i).size()); ++g) {
        set.push_back({other.place, g});
        if (growth_.fits(set)) {
          const std::vector<double> factors = growth_.factors(set);
          consider(set, factors, answer);
          growth_.look_beside(set, other.place + 1, node.loads);
          if (!growth_.beside().empty()) {
            const double bound = std::min(
                {node.bound, other.growth, growth_.bound(set, factors, node.loads, answer.most)});
            if (bound > answer.most) open_.push({bound, other.place + 1, set, node.loads});
          }
        }
        set.pop_back();
        if (steps() > last) return false;
      }
    }
    return true;
  }

  // From each of the densest the set that grows by what adds most.
  void dive(Answer& answer) {
    const int dives = std::min<int>(kDives, static_cast<int>(growth_.order().size()));
    for (int first = 0; first < dives; ++first) {
      std::vector<Pick> set;
      double value = 0;
      while (grow(set, value, first)) continue;
      consider(set, growth_.factors(set), answer);
    }
  }

  // By one; false where none adds anything.
  bool grow(std::vector<Pick>& set, double& value, int first) {
    growth_.look_beside(set, 0, {});
    std::vector<int> places;
    for (const Growth::Beside& other : growth_.beside()) places.push_back(other.place);
    if (set.empty()) places = {first};
    bool grew = false;
    Pick best{};
    for (const int place : places) {
      if (std::any_of(set.begin(), set.end(), [&](const Pick& p) { return p.place == place; }))
        continue;
      const int i = growth_.order()[place];
      for (int g = 0; g < static_cast<int>(growth_.groups(i).size()); ++g) {
        set.push_back({place, g});
        if (growth_.fits(set)) {
          const double found = growth_.alone(set, growth_.factors(set));
          if (found > value) {
            value = found;
            best = {place, g};
            grew = true;
          }
        }
        set.pop_back();
      }
    }
    if (grew) set.push_back(best);
    return grew;
  }

  void consider(const std::vector<Pick>& set, const std::vector<double>& factors, Answer& answer) {
    if (growth_.alone(set, factors) <= least_kept_) return;
    Found found = with_counts(set, factors);
    if (found.value > least_kept_) keep(std::move(found), answer);
  }

  void keep(Found found, Answer& answer) {
    answer.most = std::max(answer.most, found.value);
    answer.found.push_back(std::move(found));
    if (answer.found.size() < 2 * kColumnsARound) return;
    std::sort(answer.found.begin(), answer.found.end(),
              [](const Found& a, const Found& b) { return a.value > b.value; });
    answer.found.resize(kColumnsARound);
    least_kept_ = answer.found.back().value;
  }

  // The best counts of a set, by processors.
  Found with_counts(const std::vector<Pick>& set, const std::vector<double>& factors) {
    const int m = instance_.machines();
    std::vector<std::vector<int>> chosen(set.size(), std::vector<int>(m + 1, -1));
    std::vector<double> worth(m + 1, 0), next;
    for (std::size_t k = 0; k < set.size(); ++k) {
      const int i = growth_.order()[set[k].place];
      const Growth::Group& group = growth_.groups(i)[set[k].group];
      next.assign(m + 1, -kInfinity);
      for (int c = group.first; c <= group.last; ++c) {
        const Choice& choice = rows_.of(i)[c];
        const double value = prices_[i] / (choice.time * factors[k]);
        for (int p = choice.procs; p <= m; ++p)
          if (worth[p - choice.procs] + value > next[p]) {
            next[p] = worth[p - choice.procs] + value;
            chosen[k][p] = c;
          }
      }
      worth = next;
      steps_ += static_cast<std::int64_t>(m) * (group.last - group.first + 1) / 8;
      poll_.count(static_cast<std::int64_t>(m) * (group.last - group.first + 1));
    }
    Found found{worth[m], {}};
    int p = m;
    for (std::size_t k = set.size(); k-- > 0;) {
      const int i = growth_.order()[set[k].place], c = chosen[k][p];
      found.set.push_back({i, c});
      p -= rows_.of(i)[c].procs;
    }
    return found;
  }

  std::int64_t steps() const { return growth_.steps() + steps_; }
  const Choice& choice_of(const Member& member) const {
    return rows_.of(member.job)[member.choice];
  }

  const Instance& instance_;
  const Sharing& sharing_;
  const bounds::Rows& rows_;
  Growth growth_;
  std::vector<double> prices_;
  std::priority_queue<Node> open_;
  double least_kept_ = 0;
  std::int64_t steps_ = 0;
  Poll poll_;
};

}  // namespace cosched::moldable::shared
