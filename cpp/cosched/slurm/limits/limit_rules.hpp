// Which limits hold for a job, of its QOS, its partition's and its association (RULES.md 14.1 to
// 14.3).
#pragma once

#include <array>

#include "cosched/slurm/select/allocations.hpp"

namespace cosched::slurm {

/// Rules of jobs of one association, QOS, user and partition, in the order in which slurmctld tests
/// them.
struct RuleSet {
  std::vector<LimitRule> before_nodes, with_nodes, submission;
  std::vector<int> counters;  // what the jobs count in
  int first_qos = -1, second_qos = -1;
};

class LimitRules {
 public:
  /// Requires that `scenario` outlives it.
  explicit LimitRules(const Scenario& scenario);

  const RuleSet& rules_of(QueueEntry entry) const {
    const auto& [part, first] = rules_by_job_[entry.job];
    return entry.partition == part ? *first : rule_sets_.at(key_of(entry));
  }
  /// Counters are of an association (and those below), of a QOS, or of a user or account in a QOS.
  std::size_t counter_count() const { return counter_numbers_.size(); }
  /// Of an association or a QOS: -1 where nobody counts in it.
  int counter_of(bool of_qos, int which) const;

 private:
  using Key = std::array<int, 4>;  // association, QOS, user, QOS of the partition
  enum Level : int { kAssociation, kQos, kUser, kAccount };

  Key key_of(QueueEntry entry) const;
  RuleSet make_rule_set(const Key& key);
  void add_qos(RuleSet& set, int qos, const Key& key);
  void add_associations(RuleSet& set, const Key& key);
  double factor_of(const RuleSet& set) const;
  int counter_number(Level level, int which, int of = -1);
  int account_of(int association) const;

  const Scenario& scenario_;
  std::map<Key, RuleSet> rule_sets_;
  std::vector<std::pair<int, const RuleSet*>>
      rules_by_job_;  // its first partition, and those there
  std::map<std::array<int, 3>, int> counter_numbers_;
};

// What a job has, or would have, of what limits count (RULES.md 14.4).

struct Demand {
  Amounts tres;
  const NodeBits* nodes = nullptr;  // which, where that is known
};

/// Of a job on so many nodes that nobody knows yet.
Demand request_of(const Scenario& scenario, QueueEntry entry, int nodes);
/// As it was submitted: the CPUs that it names.
Demand submitted_of(const Scenario& scenario, QueueEntry entry);
/// On these, which must outlive what is returned.
Demand demand_of(const Scenario& scenario, QueueEntry entry, const NodeChoice& choice);

/// All that these nodes have; billing is none.
Amounts amounts_of(const Scenario& scenario, const NodeBits& nodes);
/// What a second of the job costs: billing times UsageFactor of its QOS.
double price_of(const Scenario& scenario, QueueEntry entry, const NodeChoice& choice);

}  // namespace cosched::slurm
