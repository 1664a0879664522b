// Which configuration is worth most: the pricing of configuration_bound.
#pragma once

#include <queue>

#include "cosched/moldable/shared/growth.hpp"

namespace cosched::moldable::shared {

/// Relative gap between a bound and what reaches it at which column generation ends.
inline constexpr double kPricingGap = 5e-4;

/// Best first over sets of jobs, a node bounded by its Growth; counts are chosen at the end, for
/// what a job slows and needs is the same on all of them, or on groups of them.  Under a bandwidth
/// a tree for each of some intervals of the total load, which together hold every set.
class ConfigurationPricing {
 public:
  /// `instance` and `rows` must outlive it.
  ConfigurationPricing(const Instance& instance, const bounds::ResourceRows& rows,
                       const std::vector<double>& surrogate)
      : instance_(instance),
        sharing_(*instance.sharing()),
        rows_(rows),
        extension_bound_(instance, rows, surrogate) {}

  struct ConfigurationMember {
    int job, choice;
  };
  struct PricedConfiguration {
    double value;
    std::vector<ConfigurationMember> members;
  };
  struct PricingResult {
    double value_bound = 0;                           // no configuration is worth more
    std::vector<PricedConfiguration> configurations;  // some that are worth much
    bool complete = true;
  };

  /// Those worth more than `threshold`; the bound is not sharper than threshold.  Adds what it took
  /// to `steps`.
  PricingResult find_best(const std::vector<double>& prices, double threshold,
                          std::int64_t most_steps, std::int64_t& taken) {
    prices_ = prices;
    extension_bound_.set_prices(prices);
    PricingResult answer;
    answer.value_bound = value_threshold_ = threshold;
    const std::int64_t begin = steps(), last = begin + most_steps;
    consider_singles(answer);
    open_roots();
    dive_greedily(answer);
    while (!open_nodes_.empty()) {
      const SearchNode node = open_nodes_.top();
      // What is left is worth no more than what was found, but for a tolerance.
      const bool enough = node.bound <= answer.value_bound * (1 + kPricingGap / 4);
      if (enough || steps() > last || !expand_node(node, answer, last)) {
        answer.value_bound = std::max(answer.value_bound, node.bound);
        answer.complete = enough;
        break;
      }
    }
    taken += steps() - begin;
    return answer;
  }

  std::vector<double> slowdown_factors(const std::vector<ConfigurationMember>& set) const {
    std::vector<Run> runs;
    for (const ConfigurationMember& member : set)
      runs.push_back({member.job, choice_of(member).procs, choice_of(member).time});
    return sharing_.factors(runs);
  }

 private:
  static constexpr int kDives = 8;
  static constexpr int kColumnsARound = 30;
  // Intervals of the total load: from 1 on, by this factor, up to the last.
  static constexpr double kLoadStep = 1.08, kLastLoad = 6;

  using Pick = ExtensionBound::SetMember;
  struct SearchNode {
    double bound;  // of its set, and what may be added from `from` on
    int next_index;
    std::vector<Pick> set;
    ExtensionBound::LoadInterval load_interval;
    bool operator<(const SearchNode& other) const { return bound < other.bound; }
  };

  void open_roots() {
    open_nodes_ = {};
    const auto open = [&](ExtensionBound::LoadInterval loads) {
      extension_bound_.find_candidates({}, 0, loads);
      open_nodes_.push({extension_bound_.bound_extensions({}, {}, loads, 0), 0, {}, loads});
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
  void consider_singles(PricingResult& answer) {
    for (const int i : extension_bound_.order()) {
      PricedConfiguration best{0, {}};
      for (int c = 0; c < static_cast<int>(rows_.choices(i).size()); ++c)
        if (const double value = prices_[i] / rows_.choices(i)[c].time; value > best.value)
          best = {value, {{i, c}}};
      if (best.value > value_threshold_) keep_configuration(std::move(best), answer);
    }
  }

  // Each further job that fits, on each group of counts.  False where the steps end before all have
  // been looked at.
  bool expand_node(const SearchNode& node, PricingResult& answer, std::int64_t last) {
    open_nodes_.pop();
    std::vector<Pick> set = node.set;
    const std::vector<double> own = extension_bound_.slowdown_factors(set);
    extension_bound_.find_candidates(set, node.next_index, node.load_interval);
    extension_bound_.bound_each_candidate(set, own, node.load_interval);
    const std::vector<ExtensionBound::Candidate> beside = extension_bound_.candidates();
    for (const ExtensionBound::Candidate& other : beside) {
      ++steps_;
      if (other.extension_bound <= answer.value_bound) continue;
      const int i = extension_bound_.order()[other.order_index];
      for (int g = 0; g < static_cast<int>(extension_bound_.count_groups(i).size()); ++g) {
        set.push_back({other.order_index, g});
        if (extension_bound_.has_room_for(set)) {
          const std::vector<double> factors = extension_bound_.slowdown_factors(set);
          consider(set, factors, answer);
          extension_bound_.find_candidates(set, other.order_index + 1, node.load_interval);
          if (!extension_bound_.candidates().empty()) {
            const double bound =
                std::min({node.bound, other.extension_bound,
                          extension_bound_.bound_extensions(set, factors, node.load_interval,
                                                            answer.value_bound)});
            if (bound > answer.value_bound)
              open_nodes_.push({bound, other.order_index + 1, set, node.load_interval});
          }
        }
        set.pop_back();
        if (steps() > last) return false;
      }
    }
    return true;
  }

  // From each of the densest the set that grows by what adds most.
  void dive_greedily(PricingResult& answer) {
    const int dives = std::min<int>(kDives, static_cast<int>(extension_bound_.order().size()));
    for (int first = 0; first < dives; ++first) {
      std::vector<Pick> set;
      double value = 0;
      while (add_best_job(set, value, first)) continue;
      consider(set, extension_bound_.slowdown_factors(set), answer);
    }
  }

  // By one; false where none adds anything.
  bool add_best_job(std::vector<Pick>& set, double& value, int first) {
    extension_bound_.find_candidates(set, 0, {});
    std::vector<int> places;
    for (const ExtensionBound::Candidate& other : extension_bound_.candidates())
      places.push_back(other.order_index);
    if (set.empty()) places = {first};
    bool grew = false;
    Pick best{};
    for (const int place : places) {
      if (std::any_of(set.begin(), set.end(),
                      [&](const Pick& p) { return p.order_index == place; }))
        continue;
      const int i = extension_bound_.order()[place];
      for (int g = 0; g < static_cast<int>(extension_bound_.count_groups(i).size()); ++g) {
        set.push_back({place, g});
        if (extension_bound_.has_room_for(set)) {
          const double found =
              extension_bound_.bound_set(set, extension_bound_.slowdown_factors(set));
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

  void consider(const std::vector<Pick>& set, const std::vector<double>& factors,
                PricingResult& answer) {
    if (extension_bound_.bound_set(set, factors) <= value_threshold_) return;
    PricedConfiguration found = choose_counts(set, factors);
    if (found.value > value_threshold_) keep_configuration(std::move(found), answer);
  }

  void keep_configuration(PricedConfiguration found, PricingResult& answer) {
    answer.value_bound = std::max(answer.value_bound, found.value);
    answer.configurations.push_back(std::move(found));
    if (answer.configurations.size() < 2 * kColumnsARound) return;
    std::sort(answer.configurations.begin(), answer.configurations.end(),
              [](const PricedConfiguration& a, const PricedConfiguration& b) {
                return a.value > b.value;
              });
    answer.configurations.resize(kColumnsARound);
    value_threshold_ = answer.configurations.back().value;
  }

  // The best counts of a set, by processors.
  PricedConfiguration choose_counts(const std::vector<Pick>& set,
                                    const std::vector<double>& factors) {
    const int m = instance_.machines();
    std::vector<std::vector<int>> chosen(set.size(), std::vector<int>(m + 1, -1));
    std::vector<double> worth(m + 1, 0), next;
    for (std::size_t k = 0; k < set.size(); ++k) {
      const int i = extension_bound_.order()[set[k].order_index];
      const ExtensionBound::CountGroup& group =
          extension_bound_.count_groups(i)[set[k].group_index];
      next.assign(m + 1, -kInfinity);
      for (int c = group.first_choice; c <= group.last_choice; ++c) {
        const Choice& choice = rows_.choices(i)[c];
        const double value = prices_[i] / (choice.time * factors[k]);
        for (int p = choice.procs; p <= m; ++p)
          if (worth[p - choice.procs] + value > next[p]) {
            next[p] = worth[p - choice.procs] + value;
            chosen[k][p] = c;
          }
      }
      worth = next;
      steps_ += static_cast<std::int64_t>(m) * (group.last_choice - group.first_choice + 1) / 8;
      poll_.count(static_cast<std::int64_t>(m) * (group.last_choice - group.first_choice + 1));
    }
    PricedConfiguration found{worth[m], {}};
    int p = m;
    for (std::size_t k = set.size(); k-- > 0;) {
      const int i = extension_bound_.order()[set[k].order_index], c = chosen[k][p];
      found.members.push_back({i, c});
      p -= rows_.choices(i)[c].procs;
    }
    return found;
  }

  std::int64_t steps() const { return extension_bound_.steps() + steps_; }
  const Choice& choice_of(const ConfigurationMember& member) const {
    return rows_.choices(member.job)[member.choice];
  }

  const Instance& instance_;
  const Sharing& sharing_;
  const bounds::ResourceRows& rows_;
  ExtensionBound extension_bound_;
  std::vector<double> prices_;
  std::priority_queue<SearchNode> open_nodes_;
  double value_threshold_ = 0;
  std::int64_t steps_ = 0;
  Poll poll_;
};

}  // namespace cosched::moldable::shared
