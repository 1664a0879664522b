// The pricing problem of configuration_bound: which configuration is worth most.
#pragma once

#include <queue>

#include "cosched/moldable/shared/extension_bound.hpp"

namespace cosched::moldable::shared {

/// The relative gap between bound and objective at which column generation ends.
inline constexpr double kPricingGap = 5e-4;

struct PricingParams {
  /// Sets that greedy dives build before the search, each from another job.
  int greedy_dives = 8;
  /// Configurations that a pricing returns at most.
  std::size_t max_configurations = 30;
  /// Intervals of the total load: from 1 on by this ratio, up to the last, and one above.
  double load_ratio = 1.08, max_load = 6;
};

/// Best-first branch and bound over sets of jobs, bounded by ExtensionBound.  Counts are chosen
/// last, because the needs and the load of a job are the same on all of them, or on groups of them.
/// Under a bandwidth there is one tree for each of some intervals of the total load, which together
/// hold every set.
class ConfigurationPricing {
 public:
  /// `instance` and `rows` must outlive it.
  ConfigurationPricing(const Instance& instance, const bounds::ResourceRows& rows,
                       const std::vector<double>& surrogate, const PricingParams& params = {})
      : instance_(instance),
        sharing_(*instance.sharing()),
        rows_(rows),
        params_(params),
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
    std::vector<PricedConfiguration> configurations;  // of high value
    bool is_complete = true;  // false: the steps ended before the bound was reached
  };

  /// Looks for configurations worth more than `threshold`, in about `max_steps`; the bound is at
  /// least the threshold.  Adds the steps that it took to `steps_used`.
  PricingResult find_best(const std::vector<double>& prices, double threshold,
                          std::int64_t max_steps, std::int64_t& steps_used);

  std::vector<double> slowdown_factors(const std::vector<ConfigurationMember>& set) const {
    std::vector<RunningTask> runs;
    for (const ConfigurationMember& member : set)
      runs.push_back({member.job, choice_of(member).procs, choice_of(member).time});
    return sharing_.factors(runs);
  }

 private:
  using SetMember = ExtensionBound::SetMember;
  struct SearchNode {
    double bound;  // on its set and all extensions by jobs of the order from next_index on
    int next_index;
    std::vector<SetMember> set;
    ExtensionBound::LoadInterval load_interval;
    bool operator<(const SearchNode& other) const { return bound < other.bound; }
  };

  void open_roots();

  // A job alone has a factor of 1 whatever its load, so the load intervals hold sets of two and
  // more.
  void consider_singles(PricingResult& result);

  // Opens a child for each job that fits, on each group of counts.  Returns false where the steps
  // end before all of them.
  bool expand_node(const SearchNode& node, PricingResult& result, std::int64_t last_step);

  // From each of the first jobs of the order the set that grows by the job that adds most.
  void dive_greedily(PricingResult& result);

  // Adds the job and group of counts that raise the value most; returns false where none does.
  bool add_best_job(std::vector<SetMember>& set, double& value, int first);

  void consider(const std::vector<SetMember>& set, const std::vector<double>& factors,
                PricingResult& result) {
    if (extension_bound_.bound_set(set, factors) <= value_threshold_) return;
    PricedConfiguration configuration = choose_counts(set, factors);
    if (configuration.value > value_threshold_)
      keep_configuration(std::move(configuration), result);
  }

  void keep_configuration(PricedConfiguration configuration, PricingResult& result);

  // The best counts of a set: a knapsack over processors.
  PricedConfiguration choose_counts(const std::vector<SetMember>& set,
                                    const std::vector<double>& factors);

  std::int64_t steps() const { return extension_bound_.steps() + steps_; }
  const Choice& choice_of(const ConfigurationMember& member) const {
    return rows_.choices(member.job)[member.choice];
  }

  const Instance& instance_;
  const Sharing& sharing_;
  const bounds::ResourceRows& rows_;
  PricingParams params_;
  ExtensionBound extension_bound_;
  std::vector<double> prices_;
  std::priority_queue<SearchNode> open_nodes_;
  double value_threshold_ = 0;
  std::int64_t steps_ = 0;
  Poll poll_;
};

}  // namespace cosched::moldable::shared
