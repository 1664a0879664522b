#include "cosched/slurm/limits/limit_rules.hpp"

#include <algorithm>
#include <utility>

namespace cosched::slurm {
namespace {

using Kind = Limit::Kind;

bool of_groups(Kind kind) {
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

bool same(const Limit& a, const Limit& b) { return a.kind == b.kind && a.tres == b.tres; }

// MaxJobs of an association counts only where no QOS has one of its users or accounts; MaxSubmit likewise.
bool stands_for(const Limit& of_qos, const Limit& own) {
  if (own.kind == Kind::jobs)
    return of_qos.kind == Kind::user_jobs || of_qos.kind == Kind::account_jobs;
  if (own.kind == Kind::submit)
    return of_qos.kind == Kind::user_submit || of_qos.kind == Kind::account_submit;
  return same(of_qos, own);
}

std::vector<Rule>& part_of(RuleSet& set, Kind kind) {
  if (kind <= Kind::wall) return set.before;
  return kind <= Kind::user_run_minutes ? set.with_nodes : set.submission;
}

template <class Stands>
bool any_rule(const RuleSet& set, Stands stands) {
  return std::any_of(set.before.begin(), set.before.end(), stands) ||
         std::any_of(set.with_nodes.begin(), set.with_nodes.end(), stands) ||
         std::any_of(set.submission.begin(), set.submission.end(), stands);
}

std::vector<Limit> in_order(const Limits& limits) {
  std::vector<Limit> own = limits.all;
  std::stable_sort(own.begin(), own.end(), [](const Limit& a, const Limit& b) {
    return std::pair(a.kind, a.tres) < std::pair(b.kind, b.tres);
  });
  return own;
}

}  // namespace

LimitRules::LimitRules(const Scenario& scenario) : scenario_(scenario) {
  for (std::size_t j = 0; j < scenario.jobs().size(); ++j) {
    const Job& job = scenario.jobs()[j];
    const std::vector<int> one{job.partition};
    for (const int part : job.partitions.empty() ? one : job.partitions) {
      const Key key = key_of({static_cast<int>(j), part});
      if (sets_.count(key) == 0) sets_.emplace(key, make(key));
    }
  }
}

LimitRules::Key LimitRules::key_of(Entry entry) const {
  const Job& job = scenario_.job(entry.job);
  return {job.association, job.qos, job.user, scenario_.part(entry).qos};
}

int LimitRules::counter(Level level, int which, int of) {
  return numbers_.try_emplace({level, which, of}, static_cast<int>(numbers_.size())).first->second;
}

int LimitRules::counter_of(bool of_qos, int which) const {
  const auto found = numbers_.find({of_qos ? kQos : kAssociation, which, -1});
  return found == numbers_.end() ? -1 : found->second;
}

int LimitRules::account_of(int association) const {
  if (association < 0) return -1;
  const Association& own = scenario_.accounts()[static_cast<std::size_t>(association)];
  return own.user ? own.parent : association;
}

// The partition's QOS comes first, unless the job's has OverPartQOS.
RuleSet LimitRules::make(const Key& key) {
  const std::vector<Qos>& all = scenario_.machine().qos;
  const auto [association, own, user, of_part] = key;
  RuleSet set;
  set.first_qos = of_part;
  set.second_qos = own;
  if (of_part < 0 || own == of_part ||
      (own >= 0 && all[static_cast<std::size_t>(own)].over_partition)) {
    set.first_qos = own;
    set.second_qos = own == of_part ? -1 : of_part;
  }
  for (const int qos : {set.first_qos, set.second_qos})
    if (qos >= 0) add_qos(set, qos, key);
  add_associations(set, key);
  return set;
}

void LimitRules::add_qos(RuleSet& set, int qos, const Key& key) {
  const int account = account_of(key[0]);
  const int group = counter(kQos, qos), by_user = counter(kUser, qos, key[2]),
            by_account = counter(kAccount, qos, account);
  set.counters.insert(set.counters.end(), {group, by_user, by_account});
  const RuleSet before = set;  // what another QOS has set
  for (const Limit& limit : in_order(scenario_.machine().qos[static_cast<std::size_t>(qos)])) {
    if (any_rule(before, [&](const Rule& rule) { return same(rule.limit, limit); })) continue;
    const Kind kind = limit.kind;
    const bool users = kind == Kind::user || kind == Kind::user_jobs || kind == Kind::user_submit ||
                       kind == Kind::user_run_minutes;
    const bool accounts = kind == Kind::account || kind == Kind::account_jobs ||
                          kind == Kind::account_submit || kind == Kind::account_run_minutes;
    const bool newer = kind == Kind::account_run_minutes || kind == Kind::user_run_minutes;
    if (newer && !scenario_.settings().since_24) continue;
    part_of(set, kind).push_back({limit, true, users ? by_user : accounts ? by_account : group});
  }
}

// From the user up.  What is of one job or user is inherited where the levels below say nothing.
void LimitRules::add_associations(RuleSet& set, const Key& key) {
  const RuleSet by_qos = set;
  const double factor = factor_of(set);
  std::vector<Limit> inherited;
  for (int k = key[0]; k >= 0; k = scenario_.accounts()[static_cast<std::size_t>(k)].parent) {
    set.counters.push_back(counter(kAssociation, k));
    for (Limit limit : in_order(scenario_.accounts()[static_cast<std::size_t>(k)].limits)) {
      const bool group = of_groups(limit.kind);
      const auto is_same = [&](const Limit& other) { return same(other, limit); };
      if (!group && std::any_of(inherited.begin(), inherited.end(), is_same)) continue;
      if (!group) inherited.push_back(limit);
      if (any_rule(by_qos, [&](const Rule& rule) { return stands_for(rule.limit, limit); }))
        continue;
      if (factor >= 0 && (limit.kind == Kind::group || limit.kind == Kind::job))
        limit.value *= factor;
      part_of(set, limit.kind).push_back({limit, false, counter(kAssociation, group ? k : key[0])});
    }
  }
}

double LimitRules::factor_of(const RuleSet& set) const {
  for (const int qos : {set.first_qos, set.second_qos})
    if (qos >= 0 && scenario_.machine().qos[static_cast<std::size_t>(qos)].limit_factor >= 0)
      return scenario_.machine().qos[static_cast<std::size_t>(qos)].limit_factor;
  return -1;
}

}  // namespace cosched::slurm
