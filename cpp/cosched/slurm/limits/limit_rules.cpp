#include "cosched/slurm/limits/limit_rules.hpp"

namespace cosched::slurm {
namespace {

using Kind = Limit::Kind;

// True for limits of all jobs of an association or QOS together (Grp*).
bool is_of_group(Kind kind) {
  switch (kind) {
    case Kind::group_jobs:
    case Kind::group_wall:
    case Kind::group_minutes:
    case Kind::group:
    case Kind::group_run_minutes:
    case Kind::group_submit:
      return true;
    default:
      return false;
  }
}

bool is_of_user(Kind kind) {
  return kind == Kind::user || kind == Kind::user_jobs || kind == Kind::user_submit ||
         kind == Kind::user_run_minutes;
}

bool is_of_account(Kind kind) {
  return kind == Kind::account || kind == Kind::account_jobs || kind == Kind::account_submit ||
         kind == Kind::account_run_minutes;
}

bool is_since_24_11(Kind kind) {
  return kind == Kind::account_run_minutes || kind == Kind::user_run_minutes;
}

bool are_same_limit(const Limit& a, const Limit& b) { return a.kind == b.kind && a.tres == b.tres; }

// True where the limit of a QOS holds instead of that of the association.  MaxJobs of an
// association counts only where no QOS has one of its users or accounts; MaxSubmit likewise.
bool replaces(const Limit& qos_limit, const Limit& association_limit) {
  const Kind kind = qos_limit.kind;
  if (association_limit.kind == Kind::jobs)
    return kind == Kind::user_jobs || kind == Kind::account_jobs;
  if (association_limit.kind == Kind::submit)
    return kind == Kind::user_submit || kind == Kind::account_submit;
  return are_same_limit(qos_limit, association_limit);
}

// The part of the rules to which a limit of that kind belongs.
std::vector<LimitRule>& rules_of_kind(RuleSet& rule_set, Kind kind) {
  if (kind <= Kind::wall) return rule_set.before_nodes;
  return kind <= Kind::user_run_minutes ? rule_set.with_nodes : rule_set.submission;
}

std::vector<Limit> limits_in_order(const Limits& limits) {
  std::vector<Limit> sorted_limits = limits.limits;
  std::stable_sort(sorted_limits.begin(), sorted_limits.end(), [](const Limit& a, const Limit& b) {
    return std::pair(a.kind, a.tres) < std::pair(b.kind, b.tres);
  });
  return sorted_limits;
}

}  // namespace

LimitRules::LimitRules(const Scenario& scenario) : scenario_(scenario) {
  for (std::size_t j = 0; j < scenario.jobs().size(); ++j) {
    const Job& job = scenario.jobs()[j];
    const std::vector<int> first_partition{job.partition};
    for (const int partition : job.partitions.empty() ? first_partition : job.partitions) {
      const RuleKey key = key_of({static_cast<int>(j), partition});
      if (rule_sets_.count(key) == 0) rule_sets_.emplace(key, make_rule_set(key));
    }
    const QueueEntry first_entry{static_cast<int>(j), job.partition};
    rules_by_job_.emplace_back(first_entry.partition, &rule_sets_.at(key_of(first_entry)));
  }
}

LimitRules::RuleKey LimitRules::key_of(QueueEntry entry) const {
  const Job& job = scenario_.job(entry.job);
  return {job.association, job.qos, job.user, scenario_.partition(entry).qos};
}

int LimitRules::make_counter(const CounterKey& key) {
  const int next_number = static_cast<int>(counter_numbers_.size());
  return counter_numbers_.try_emplace(key, next_number).first->second;
}

int LimitRules::find_counter(const CounterKey& key) const {
  const auto counter = counter_numbers_.find(key);
  return counter == counter_numbers_.end() ? -1 : counter->second;
}

int LimitRules::account_of(int association) const {
  if (association < 0) return -1;
  const Association& member = scenario_.accounts()[association];
  return member.is_user ? member.parent : association;
}

// The partition's QOS comes first, unless the job's has OverPartQOS.
RuleSet LimitRules::make_rule_set(const RuleKey& key) {
  const std::vector<Qos>& qos = scenario_.machine().qos;
  const bool has_same_qos = key.qos == key.partition_qos;
  const bool is_job_qos_first = key.partition_qos < 0 || has_same_qos ||
                                (key.qos >= 0 && qos[key.qos].overrides_partition_qos);
  RuleSet rule_set;
  rule_set.first_qos = key.partition_qos;
  rule_set.second_qos = key.qos;
  if (is_job_qos_first) {
    rule_set.first_qos = key.qos;
    rule_set.second_qos = has_same_qos ? -1 : key.partition_qos;
  }
  for (const int number : {rule_set.first_qos, rule_set.second_qos})
    if (number >= 0) add_qos(rule_set, number, key);
  add_associations(rule_set, key);
  return rule_set;
}

void LimitRules::add_qos(RuleSet& rule_set, int qos, const RuleKey& key) {
  const int qos_counter = make_counter({kQos, qos, -1});
  const int user_counter = make_counter({kUser, qos, key.user});
  const int account_counter = make_counter({kAccount, qos, account_of(key.association)});
  rule_set.counters.insert(rule_set.counters.end(), {qos_counter, user_counter, account_counter});
  const RuleSet rules_of_first_qos = rule_set;  // which hold instead of those of a second one
  for (const Limit& limit : limits_in_order(scenario_.machine().qos[qos])) {
    const bool is_set_by_first_qos = rules_of_first_qos.has_rule(
        [&](const LimitRule& rule) { return are_same_limit(rule.limit, limit); });
    if (is_set_by_first_qos) continue;
    if (is_since_24_11(limit.kind) && !scenario_.settings().is_24_11) continue;
    const int counter = is_of_user(limit.kind)      ? user_counter
                        : is_of_account(limit.kind) ? account_counter
                                                    : qos_counter;
    rules_of_kind(rule_set, limit.kind).push_back({limit, true, counter});
  }
}

// Adds the limits of the association and those above it.  A limit of one job or user is inherited
// where the associations below have none.
void LimitRules::add_associations(RuleSet& rule_set, const RuleKey& key) {
  const RuleSet qos_rules = rule_set;
  const double limit_factor = limit_factor_of(rule_set);
  std::vector<Limit> inherited_limits;
  for (int k = key.association; k >= 0; k = scenario_.accounts()[k].parent) {
    rule_set.counters.push_back(make_counter({kAssociation, k, -1}));
    for (Limit limit : limits_in_order(scenario_.accounts()[k].limits)) {
      const bool is_group_limit = is_of_group(limit.kind);
      if (!is_group_limit) {
        const bool is_set_below =
            std::any_of(inherited_limits.begin(), inherited_limits.end(),
                        [&](const Limit& lower) { return are_same_limit(lower, limit); });
        if (is_set_below) continue;
        inherited_limits.push_back(limit);
      }
      const bool is_replaced =
          qos_rules.has_rule([&](const LimitRule& rule) { return replaces(rule.limit, limit); });
      if (is_replaced) continue;
      if (limit_factor >= 0 && (limit.kind == Kind::group || limit.kind == Kind::job))
        limit.value *= limit_factor;
      const int counter = make_counter({kAssociation, is_group_limit ? k : key.association, -1});
      rules_of_kind(rule_set, limit.kind).push_back({limit, false, counter});
    }
  }
}

// LimitFactor of the first QOS that has one; below 0: none.
double LimitRules::limit_factor_of(const RuleSet& rule_set) const {
  for (const int qos : {rule_set.first_qos, rule_set.second_qos})
    if (qos >= 0 && scenario_.machine().qos[qos].limit_factor >= 0)
      return scenario_.machine().qos[qos].limit_factor;
  return -1;
}

}  // namespace cosched::slurm
