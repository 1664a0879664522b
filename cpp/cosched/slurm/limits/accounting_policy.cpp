#include "cosched/slurm/limits/accounting_policy.hpp"

namespace cosched::slurm {
namespace {

constexpr double kSecondsPerMinute = 60;

double whole_minutes(double seconds) { return std::floor(seconds / kSecondsPerMinute); }

bool is_of_minutes(Limit::Kind kind) {
  using Kind = Limit::Kind;
  return kind == Kind::group_minutes || kind == Kind::group_run_minutes ||
         kind == Kind::group_wall || kind == Kind::account_run_minutes ||
         kind == Kind::user_run_minutes;
}

// True where a job that asks for `wanted` more than the others have exceeds the limit.
bool exceeds(double wanted, double used_by_others, double limit, bool ignores_running_jobs) {
  if (wanted > limit) return true;
  return wanted > 0 && !ignores_running_jobs && used_by_others + wanted > limit;
}

}  // namespace

AccountingPolicy::AccountingPolicy(const Scenario& scenario, double decay_start)
    : scenario_(scenario),
      has_limits_(!scenario.accounts().empty() || !scenario.machine().qos.empty()),
      rules_(scenario),
      decay_(scenario.settings().priority, decay_start),
      counters_(rules_.counter_count()),
      is_submitted_(scenario.jobs().size()) {
  const Machine& machine = scenario.machine();
  const std::size_t tres_count = kGpuTypes + machine.node_gpus.size();
  for (UsageCounter& counter : counters_) {
    counter.tres.resize(tres_count);
    counter.tres_run_seconds.resize(tres_count);
    counter.tres_seconds.resize(tres_count);
  }
  for (std::size_t qos = 0; qos < machine.qos.size(); ++qos) {
    const int counter = rules_.counter_of_qos(static_cast<int>(qos));
    set_initial_usage(counter, machine.qos[qos]);
    if (counter >= 0) counters_[counter].decays = !machine.qos[qos].no_decay;
  }
  for (std::size_t k = 0; k < scenario.accounts().size(); ++k)
    set_initial_usage(rules_.counter_of_association(static_cast<int>(k)),
                      scenario.accounts()[k].limits);
  if (has_node_limits_)
    for (UsageCounter& counter : counters_) counter.jobs_of_node.resize(machine.nodes);
}

// Sets the usage before the simulation.  A counter below 0 is none: no job counts in it.
void AccountingPolicy::set_initial_usage(int counter, const Limits& limits) {
  for (const Limit& limit : limits.limits) {
    has_minute_limits_ = has_minute_limits_ || is_of_minutes(limit.kind);
    has_node_limits_ = has_node_limits_ || limit.tres == kNode;
    if (counter < 0) continue;
    const double used_seconds = limit.used_before * kSecondsPerMinute;
    if (limit.kind == Kind::group_wall) counters_[counter].wall_seconds = used_seconds;
    if (limit.kind == Kind::group_minutes)
      counters_[counter].tres_seconds[limit.tres] = used_seconds;
  }
}

// --- tests ---

AccountingPolicy::Violation AccountingPolicy::violation_at_submission(int job, int tasks) const {
  if (!has_limits_) return nullptr;
  const QueueEntry entry{job, scenario_.job(job).partition};
  const RuleSet& rules = rules_.rules_of(entry);
  for (const LimitRule& rule : rules.submission)
    if (counter_of(rule).submitted_count + tasks > rule.limit.value) return &rule;
  const auto denies_on_limit = [&](int qos) {
    return qos >= 0 && scenario_.machine().qos[qos].denies_on_limit;
  };
  if (rules.first_qos >= 0 && !denies_on_limit(rules.first_qos) &&
      !denies_on_limit(rules.second_qos))
    return nullptr;
  const double minutes = limit_minutes(entry);
  for (const LimitRule& rule : rules.before_nodes)
    if ((rule.limit.kind == Kind::wall || rule.limit.kind == Kind::group_wall) &&
        minutes > rule.limit.value)
      return &rule;
  return first_violation(entry, submitted_demand(scenario_, entry), true);
}

AccountingPolicy::Violation AccountingPolicy::violation_before_nodes(QueueEntry entry) const {
  if (!has_limits_) return nullptr;
  const RuleSet& rules = rules_.rules_of(entry);
  for (const LimitRule& rule : rules.before_nodes)
    if (is_violated_before_nodes(rule, entry)) return &rule;
  const Violation node_limit = least_node_limit(rules);
  const bool is_violated = node_limit && node_limit->limit.value < scenario_.job(entry).nodes;
  return is_violated ? node_limit : nullptr;
}

bool AccountingPolicy::is_violated_before_nodes(const LimitRule& rule, QueueEntry entry) const {
  const double limit = rule.limit.value;
  if (rule.limit.kind == Kind::wall) return limit_minutes(entry) > limit;
  if (rule.limit.kind != Kind::group_wall) return counter_of(rule).job_count >= limit;
  const double used_minutes = whole_minutes(counter_of(rule).wall_seconds);
  if (used_minutes >= limit) return true;
  return scenario_.settings().priority.safe_limits && used_minutes + limit_minutes(entry) > limit;
}

// The least of the limits on the nodes of a job or of its group, account or user; null: none.
AccountingPolicy::Violation AccountingPolicy::least_node_limit(const RuleSet& rules) const {
  Violation least = nullptr;
  for (const LimitRule& rule : rules.with_nodes) {
    const Kind kind = rule.limit.kind;
    const bool limits_nodes_of_job =
        kind == Kind::group || kind == Kind::job || kind == Kind::account || kind == Kind::user;
    if (!limits_nodes_of_job || rule.limit.tres != kNode) continue;
    if (!least || rule.limit.value < least->limit.value) least = &rule;
  }
  return least;
}

AccountingPolicy::Violation AccountingPolicy::violation_with_nodes(QueueEntry entry,
                                                                   const NodeChoice* choice) const {
  if (!choice) return violation_with_nodes(entry, scenario_.job(entry).nodes);
  if (!has_limits_) return nullptr;
  return first_violation(entry, allocated_demand(scenario_, entry, *choice), false);
}

AccountingPolicy::Violation AccountingPolicy::violation_with_nodes(QueueEntry entry,
                                                                   int node_count) const {
  if (!has_limits_) return nullptr;
  return first_violation(entry, requested_demand(scenario_, entry, node_count), false);
}

AccountingPolicy::Violation AccountingPolicy::first_violation(QueueEntry entry,
                                                              const Demand& demand,
                                                              bool ignores_running_jobs) const {
  const RuleContext context{limit_minutes(entry), usage_factor(entry.job) > 0,
                            ignores_running_jobs};
  for (const LimitRule& rule : rules_.rules_of(entry).with_nodes)
    if (is_violated(rule, demand, context)) return &rule;
  return nullptr;
}

bool AccountingPolicy::is_violated(const LimitRule& rule, const Demand& demand,
                                   const RuleContext& context) const {
  const std::size_t tres = rule.limit.tres;
  const double limit = rule.limit.value;
  const UsageCounter& counter = counter_of(rule);
  const double wanted = demand.tres[tres];
  const bool ignores_running_jobs = context.ignores_running_jobs;
  switch (rule.limit.kind) {
    case Kind::group:
    case Kind::account:
    case Kind::user:
      if (tres == kNode)
        return exceeds(wanted - shared_node_count(counter, demand), counter.node_count, limit,
                       ignores_running_jobs);
      return exceeds(wanted, counter.tres[tres], limit, ignores_running_jobs);
    case Kind::job:
      return wanted > limit;
    case Kind::node:
      return std::floor(wanted / std::max(demand.tres[kNode], 1.0)) > limit;
    case Kind::min:
      return wanted < limit;
    case Kind::job_minutes:
      return context.minutes * wanted > limit;
    case Kind::group_run_minutes:
    case Kind::account_run_minutes:
    case Kind::user_run_minutes:
      return exceeds(context.minutes * wanted, run_minutes(rule, context), limit,
                     ignores_running_jobs);
    case Kind::group_minutes:
      return is_group_minutes_violated(rule, wanted, context);
    default:
      return false;
  }
}

// GrpTRESMins: the group has used it up; with safe limits the job, with those that run, would.
bool AccountingPolicy::is_group_minutes_violated(const LimitRule& rule, double wanted,
                                                 const RuleContext& context) const {
  const double limit = rule.limit.value;
  const bool counts_usage = context.has_usage_price && !context.ignores_running_jobs;
  const double used_minutes =
      counts_usage ? whole_minutes(counter_of(rule).tres_seconds[rule.limit.tres]) : 0;
  if (wanted > 0 && used_minutes >= limit) return true;
  const bool is_safe = context.ignores_running_jobs || scenario_.settings().priority.safe_limits;
  if (!is_safe) return false;
  const double job_minutes = context.minutes * wanted;
  return job_minutes > limit || exceeds(job_minutes, run_minutes(rule, context),
                                        limit - used_minutes, context.ignores_running_jobs);
}

// TRES minutes that running jobs may still use.
double AccountingPolicy::run_minutes(const LimitRule& rule, const RuleContext& context) const {
  if (!context.has_usage_price) return 0;
  return whole_minutes(counter_of(rule).tres_run_seconds[rule.limit.tres]);
}

// Nodes of the demand that jobs of the counter have already.
int AccountingPolicy::shared_node_count(const UsageCounter& counter, const Demand& demand) const {
  if (!demand.nodes) return 0;
  int count = 0;
  demand.nodes->for_each_run([&](int first, int length) {
    for (int node = first; node < first + length; ++node)
      if (counter.jobs_of_node[node] > 0) ++count;
  });
  return count;
}

// The limit of the job as limits of time count it (min).
double AccountingPolicy::limit_minutes(QueueEntry entry) const {
  const Job& job = scenario_.job(entry);
  const double minutes = std::ceil(static_cast<double>(job.limit) / kSecondsPerMinute);
  const bool is_usage_factor_safe =
      job.qos >= 0 && scenario_.machine().qos[job.qos].is_usage_factor_safe;
  return is_usage_factor_safe ? std::floor(minutes * usage_factor(entry.job)) : minutes;
}

double AccountingPolicy::usage_factor(int job) const {
  const int qos = scenario_.job(job).qos;
  return qos < 0 ? 1 : scenario_.machine().qos[qos].usage_factor;
}

AccountingPolicy::Violation AccountingPolicy::exceeded_group_limit(int job) const {
  if (!has_minute_limits_ || scenario_.settings().priority.safe_limits) return nullptr;
  const auto counted = find_running(job);
  if (counted == running_jobs_.end()) return nullptr;
  for (const LimitRule& rule : counted->rules->before_nodes)
    if (rule.limit.kind == Kind::group_wall &&
        whole_minutes(counter_of(rule).wall_seconds) >= rule.limit.value)
      return &rule;
  for (const LimitRule& rule : counted->rules->with_nodes) {
    const std::size_t tres = rule.limit.tres;
    if (rule.limit.kind == Kind::group_minutes && counted->tres[tres] > 0 &&
        whole_minutes(counter_of(rule).tres_seconds[tres]) >= rule.limit.value)
      return &rule;
  }
  return nullptr;
}

// --- what happens to jobs ---

std::vector<AccountingPolicy::CountedJob>::const_iterator AccountingPolicy::find_running(
    int job) const {
  return std::find_if(running_jobs_.begin(), running_jobs_.end(),
                      [&](const CountedJob& counted) { return counted.job == job; });
}

std::vector<AccountingPolicy::CountedJob>::iterator AccountingPolicy::find_running(int job) {
  return std::find_if(running_jobs_.begin(), running_jobs_.end(),
                      [&](const CountedJob& counted) { return counted.job == job; });
}

void AccountingPolicy::submit(int job) {
  if (!has_limits_) return;
  is_submitted_[job] = 1;
  for (const int counter : rules_.rules_of({job, scenario_.job(job).partition}).counters)
    ++counters_[counter].submitted_count;
}

void AccountingPolicy::start(QueueEntry entry, const NodeChoice& choice, Second now) {
  if (!has_limits_) return;
  const RuleSet& rules = rules_.rules_of(entry);
  CountedJob counted{entry.job, &rules, allocated_demand(scenario_, entry, choice).tres, {}, now};
  if (has_node_limits_) counted.nodes = choice.nodes.to_list();
  const Second remaining_time = scenario_.job(entry).limit - (charged_until(counted) - now);
  const double run_seconds =
      static_cast<double>(std::max<Second>(remaining_time, 0)) * usage_factor(entry.job);
  for (const int number : rules.counters) {
    UsageCounter& counter = counters_[number];
    ++counter.job_count;
    for (const int node : counted.nodes) {
      if (counter.jobs_of_node[node] == 0) ++counter.node_count;
      ++counter.jobs_of_node[node];
    }
    for (std::size_t tres = 0; tres < counted.tres.size(); ++tres) {
      counter.tres[tres] += counted.tres[tres];
      counter.tres_run_seconds[tres] += counted.tres[tres] * run_seconds;
    }
  }
  running_jobs_.push_back(std::move(counted));
}

void AccountingPolicy::end(int job, Second now, bool is_over) {
  if (!has_limits_) return;
  const auto counted = find_running(job);
  if (counted == running_jobs_.end()) return;
  charge(*counted, now, true);
  for (const int number : counted->rules->counters) {
    UsageCounter& counter = counters_[number];
    --counter.job_count;
    for (const int node : counted->nodes) {
      --counter.jobs_of_node[node];
      if (counter.jobs_of_node[node] == 0) --counter.node_count;
    }
    for (std::size_t tres = 0; tres < counted->tres.size(); ++tres)
      counter.tres[tres] -= counted->tres[tres];
  }
  running_jobs_.erase(counted);
  if (!is_over || !is_submitted_[job]) return;
  is_submitted_[job] = 0;
  for (const int number : rules_.rules_of({job, scenario_.job(job).partition}).counters)
    --counters_[number].submitted_count;
}

void AccountingPolicy::advance(double time) {
  if (!has_minute_limits_) return;
  decay_.advance(time, [&](Second now, double remaining_fraction) {
    for (UsageCounter& counter : counters_) {
      if (!counter.decays) continue;
      counter.wall_seconds *= remaining_fraction;
      for (double& seconds : counter.tres_seconds) seconds *= remaining_fraction;
    }
    for (const CountedJob& counted : running_jobs_) charge(counted, now, false);
  });
}

// Until when the usage of the job has been charged.
Second AccountingPolicy::charged_until(const CountedJob& counted) const {
  return std::max(decay_.last_pass_time(), counted.start);
}

// Charges what the job has used since the last charge, and takes it from what the job may still
// use.
void AccountingPolicy::charge(const CountedJob& counted, Second now, bool has_ended) {
  const double factor = usage_factor(counted.job);
  const Second since = charged_until(counted);
  const Second limit_end = counted.start + scenario_.job(counted.job).limit;
  const Second run_time = std::max<Second>(now - since, 0);
  const Second released_until = has_ended ? limit_end : std::min(now, limit_end);
  const auto released_time = static_cast<double>(std::max<Second>(released_until - since, 0));
  for (const int number : counted.rules->counters) {
    UsageCounter& counter = counters_[number];
    const double remaining_fraction = counter.decays ? decay_.remaining_fraction(run_time) : 1;
    const double used_seconds = factor * static_cast<double>(run_time) * remaining_fraction;
    counter.wall_seconds += used_seconds;
    for (std::size_t tres = 0; tres < counted.tres.size(); ++tres) {
      counter.tres_seconds[tres] += used_seconds * counted.tres[tres];
      counter.tres_run_seconds[tres] -= released_time * factor * counted.tres[tres];
    }
  }
}

// --- why a job is blocked ---

double AccountingPolicy::counted_usage(const LimitRule& rule) const {
  const UsageCounter& counter = counter_of(rule);
  if (rule.limit.kind == Kind::group_wall) return counter.wall_seconds / kSecondsPerMinute;
  if (rule.limit.tres < 0) return counter.job_count;
  const std::size_t tres = rule.limit.tres;
  if (rule.limit.kind == Kind::group_minutes) return counter.tres_seconds[tres] / kSecondsPerMinute;
  if (is_of_minutes(rule.limit.kind)) return counter.tres_run_seconds[tres] / kSecondsPerMinute;
  return rule.limit.tres == kNode ? counter.node_count : counter.tres[tres];
}

std::vector<int> AccountingPolicy::running_jobs_of(const LimitRule& rule) const {
  std::vector<int> jobs;
  for (const CountedJob& counted : running_jobs_) {
    const std::vector<int>& counters = counted.rules->counters;
    if (std::find(counters.begin(), counters.end(), rule.counter) != counters.end())
      jobs.push_back(counted.job);
  }
  return jobs;
}

}  // namespace cosched::slurm
