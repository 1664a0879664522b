#include "cosched/slurm/limits/limit_rules.hpp"

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

// MaxJobs of an association counts only where no QOS has one of its users or accounts; MaxSubmit
// likewise.
bool stands_for(const Limit& of_qos, const Limit& own) {
  if (own.kind == Kind::jobs)
    return of_qos.kind == Kind::user_jobs || of_qos.kind == Kind::account_jobs;
  if (own.kind == Kind::submit)
    return of_qos.kind == Kind::user_submit || of_qos.kind == Kind::account_submit;
  return same(of_qos, own);
}

std::vector<LimitRule>& part_of(RuleSet& set, Kind kind) {
  if (kind <= Kind::wall) return set.before_nodes;
  return kind <= Kind::user_run_minutes ? set.with_nodes : set.submission;
}

template <class Stands>
bool any_rule(const RuleSet& set, Stands stands) {
  return std::any_of(set.before_nodes.begin(), set.before_nodes.end(), stands) ||
         std::any_of(set.with_nodes.begin(), set.with_nodes.end(), stands) ||
         std::any_of(set.submission.begin(), set.submission.end(), stands);
}

std::vector<Limit> in_order(const Limits& limits) {
  std::vector<Limit> own = limits.limits;
  std::stable_sort(own.begin(), own.end(), [](const Limit& a, const Limit& b) {
    return std::pair(a.kind, a.tres) < std::pair(b.kind, b.tres);
  });
  return own;
}

// TRESBillingWeights of the partition, or CPUs.  With MAX_TRES the dearest counts alone.
void bill(const Scenario& scenario, QueueEntry entry, Amounts& tres) {
  const Amounts& weights = scenario.partition(entry).billing;
  const bool dearest = scenario.settings().priority.max_tres;
  double& bill = tres[kBilling] = weights.empty() ? tres[kCpu] : 0;
  for (std::size_t k = 0; k < std::min(weights.size(), tres.size()); ++k)
    if (k != kBilling) {
      const double own = weights[k] * tres[k];
      bill = dearest ? std::max(bill, own) : bill + own;
    }
}

Amounts none(const Scenario& scenario) {
  return Amounts(kGpuTypes + scenario.machine().node_gpus.size());
}

}  // namespace

LimitRules::LimitRules(const Scenario& scenario) : scenario_(scenario) {
  for (std::size_t j = 0; j < scenario.jobs().size(); ++j) {
    const Job& job = scenario.jobs()[j];
    const std::vector<int> one{job.partition};
    for (const int part : job.partitions.empty() ? one : job.partitions) {
      const Key key = key_of({static_cast<int>(j), part});
      if (rule_sets_.count(key) == 0) rule_sets_.emplace(key, make_rule_set(key));
    }
    const QueueEntry first{static_cast<int>(j), job.partition};
    rules_by_job_.emplace_back(first.partition, &rule_sets_.at(key_of(first)));
  }
}

LimitRules::Key LimitRules::key_of(QueueEntry entry) const {
  const Job& job = scenario_.job(entry.job);
  return {job.association, job.qos, job.user, scenario_.partition(entry).qos};
}

int LimitRules::counter_number(Level level, int which, int of) {
  return counter_numbers_.try_emplace({level, which, of}, static_cast<int>(counter_numbers_.size()))
      .first->second;
}

int LimitRules::counter_of(bool of_qos, int which) const {
  const auto found = counter_numbers_.find({of_qos ? kQos : kAssociation, which, -1});
  return found == counter_numbers_.end() ? -1 : found->second;
}

int LimitRules::account_of(int association) const {
  if (association < 0) return -1;
  const Association& own = scenario_.accounts()[association];
  return own.is_user ? own.parent : association;
}

// The partition's QOS comes first, unless the job's has OverPartQOS.
RuleSet LimitRules::make_rule_set(const Key& key) {
  const std::vector<Qos>& all = scenario_.machine().qos;
  const auto [association, own, user, of_part] = key;
  RuleSet set;
  set.first_qos = of_part;
  set.second_qos = own;
  if (of_part < 0 || own == of_part || (own >= 0 && all[own].overrides_partition_qos)) {
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
  const int group = counter_number(kQos, qos), by_user = counter_number(kUser, qos, key[2]),
            by_account = counter_number(kAccount, qos, account);
  set.counters.insert(set.counters.end(), {group, by_user, by_account});
  const RuleSet before = set;  // what another QOS has set
  for (const Limit& limit : in_order(scenario_.machine().qos[qos])) {
    if (any_rule(before, [&](const LimitRule& rule) { return same(rule.limit, limit); })) continue;
    const Kind kind = limit.kind;
    const bool users = kind == Kind::user || kind == Kind::user_jobs || kind == Kind::user_submit ||
                       kind == Kind::user_run_minutes;
    const bool accounts = kind == Kind::account || kind == Kind::account_jobs ||
                          kind == Kind::account_submit || kind == Kind::account_run_minutes;
    const bool newer = kind == Kind::account_run_minutes || kind == Kind::user_run_minutes;
    if (newer && !scenario_.settings().is_24_11) continue;
    part_of(set, kind).push_back({limit, true, users ? by_user : accounts ? by_account : group});
  }
}

// From the user up.  What is of one job or user is inherited where the levels below say nothing.
void LimitRules::add_associations(RuleSet& set, const Key& key) {
  const RuleSet by_qos = set;
  const double factor = factor_of(set);
  std::vector<Limit> inherited;
  for (int k = key[0]; k >= 0; k = scenario_.accounts()[k].parent) {
    set.counters.push_back(counter_number(kAssociation, k));
    for (Limit limit : in_order(scenario_.accounts()[k].limits)) {
      const bool group = of_groups(limit.kind);
      const auto is_same = [&](const Limit& other) { return same(other, limit); };
      if (!group && std::any_of(inherited.begin(), inherited.end(), is_same)) continue;
      if (!group) inherited.push_back(limit);
      if (any_rule(by_qos, [&](const LimitRule& rule) { return stands_for(rule.limit, limit); }))
        continue;
      if (factor >= 0 && (limit.kind == Kind::group || limit.kind == Kind::job))
        limit.value *= factor;
      part_of(set, limit.kind)
          .push_back({limit, false, counter_number(kAssociation, group ? k : key[0])});
    }
  }
}

double LimitRules::factor_of(const RuleSet& set) const {
  for (const int qos : {set.first_qos, set.second_qos})
    if (qos >= 0 && scenario_.machine().qos[qos].limit_factor >= 0)
      return scenario_.machine().qos[qos].limit_factor;
  return -1;
}

Demand request_of(const Scenario& scenario, QueueEntry entry, int nodes) {
  const Machine& machine = scenario.machine();
  const Job& job = scenario.job(entry);
  const ResourceRequest& ask = job.request;
  Demand demand{none(scenario)};
  Amounts& tres = demand.tres;
  tres[kNode] = nodes;
  tres[kCpu] = scenario.shares_nodes() && !ask.is_exclusive
                   ? std::max(job.cpus, ask.tasks * ask.task_cores)
                   : nodes * (machine.cpus / std::max(machine.nodes, 1));
  tres[kMemory] = static_cast<double>(ask.memory) * (ask.is_memory_by_core ? tres[kCpu] : nodes);
  tres[kGpu] = ask.gpus * (ask.are_gpus_by_node ? nodes : 1);
  if (ask.gpu_type >= 0) tres[kGpuTypes + ask.gpu_type] = tres[kGpu];
  bill(scenario, entry, tres);
  return demand;
}

Demand submitted_of(const Scenario& scenario, QueueEntry entry) {
  Demand demand = request_of(scenario, entry, scenario.job(entry).nodes);
  demand.tres[kCpu] = scenario.job(entry).cpus;
  bill(scenario, entry, demand.tres);
  return demand;
}

Demand demand_of(const Scenario& scenario, QueueEntry entry, const NodeChoice& choice) {
  if (!scenario.shares_nodes()) {
    Demand demand = request_of(scenario, entry, choice.nodes.count());
    demand.nodes = &choice.nodes;
    return demand;
  }
  Demand demand{none(scenario), &choice.nodes};
  Amounts& tres = demand.tres;
  tres[kNode] = choice.nodes.count();
  for (const Share& share : choice.shares.nodes) {
    tres[kCpu] += share.cores;
    tres[kMemory] += static_cast<double>(share.memory);
  }
  for (const GpuShare& share : choice.shares.gpus) {
    tres[kGpu] += share.count;
    tres[kGpuTypes + share.type] += share.count;
  }
  bill(scenario, entry, tres);
  return demand;
}

Amounts amounts_of(const Scenario& scenario, const NodeBits& nodes) {
  const Machine& machine = scenario.machine();
  Amounts all = none(scenario);
  all[kNode] = nodes.count();
  if (!scenario.shares_nodes()) {
    const int of_each = machine.cpus / std::max(machine.nodes, 1);
    all[kCpu] = all[kNode] * of_each;
    return all;
  }
  for (const int node : nodes.to_list()) {
    const auto n = static_cast<std::size_t>(node);
    all[kCpu] += machine.node_cores[n];
    if (!machine.node_memory.empty()) all[kMemory] += static_cast<double>(machine.node_memory[n]);
    for (std::size_t type = 0; type < machine.node_gpus.size(); ++type) {
      all[kGpu] += machine.node_gpus[type][n];
      all[kGpuTypes + type] += machine.node_gpus[type][n];
    }
  }
  return all;
}

double price_of(const Scenario& scenario, QueueEntry entry, const NodeChoice& choice) {
  const int qos = scenario.job(entry).qos;
  const double factor = qos < 0 ? 1 : scenario.machine().qos[qos].usage_factor;
  return demand_of(scenario, entry, choice).tres[kBilling] * factor;
}

}  // namespace cosched::slurm
