// Which limits hold for a job: of its QOS, of its partition's QOS, and of its association (RULES.md
// 14.1 to 14.3).
#pragma once

#include <array>
#include <map>

#include "cosched/slurm/model/scenario.hpp"

namespace cosched::slurm {

/// Rules of jobs of one association, QOS, user and partition, in the order in which slurmctld tests
/// them.
struct RuleSet {
  std::vector<LimitRule> before_nodes;  // acct_policy_job_runnable_pre_select
  std::vector<LimitRule> with_nodes;    // acct_policy_job_runnable_post_select
  std::vector<LimitRule> submission;    // acct_policy_validate
  std::vector<int> counters;            // in which the jobs count
  int first_qos = -1;
  int second_qos = -1;

  /// True where is_match(rule) for one of the rules.
  template <class IsMatch>
  bool has_rule(IsMatch is_match) const {
    return std::any_of(before_nodes.begin(), before_nodes.end(), is_match) ||
           std::any_of(with_nodes.begin(), with_nodes.end(), is_match) ||
           std::any_of(submission.begin(), submission.end(), is_match);
  }
};

class LimitRules {
 public:
  /// Requires that `scenario` outlives it.
  explicit LimitRules(const Scenario& scenario);

  const RuleSet& rules_of(QueueEntry entry) const {
    const auto& [first_partition, rule_set] = rules_by_job_[entry.job];
    return entry.partition == first_partition ? *rule_set : rule_sets_.at(key_of(entry));
  }
  /// A counter is of an association (and those below), of a QOS, or of a user or account in a QOS.
  std::size_t counter_count() const { return counter_numbers_.size(); }
  /// The counters of a QOS and of an association; -1: no job counts in it.
  int counter_of_qos(int qos) const { return find_counter({kQos, qos, -1}); }
  int counter_of_association(int association) const {
    return find_counter({kAssociation, association, -1});
  }

 private:
  struct RuleKey {
    int association;
    int qos;
    int user;
    int partition_qos;
    auto operator<=>(const RuleKey& other) const = default;
  };
  enum Level : int { kAssociation, kQos, kUser, kAccount };
  // Level, number of the association or QOS, and user or account in the QOS (-1: all).
  using CounterKey = std::array<int, 3>;

  RuleKey key_of(QueueEntry entry) const;
  RuleSet make_rule_set(const RuleKey& key);
  void add_qos(RuleSet& rule_set, int qos, const RuleKey& key);
  void add_associations(RuleSet& rule_set, const RuleKey& key);
  double limit_factor_of(const RuleSet& rule_set) const;
  int make_counter(const CounterKey& key);
  int find_counter(const CounterKey& key) const;
  int account_of(int association) const;

  const Scenario& scenario_;
  std::map<RuleKey, RuleSet> rule_sets_;
  // By job: its first partition, and the rules there.
  std::vector<std::pair<int, const RuleSet*>> rules_by_job_;
  std::map<CounterKey, int> counter_numbers_;
};

}  // namespace cosched::slurm
