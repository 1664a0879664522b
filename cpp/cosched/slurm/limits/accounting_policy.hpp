// Limits of associations and QOS: who may be looked at, and who may start (RULES.md 14).
#pragma once

#include "cosched/slurm/accounts/decay.hpp"
#include "cosched/slurm/limits/limit_rules.hpp"

namespace cosched::slurm {

class AccountingPolicy {
 public:
  /// `decay_start`: of the thread that accounts usage.  Requires that `scenario` outlives it.
  AccountingPolicy(const Scenario& scenario, double decay_start)
      : scenario_(scenario),
        has_limits_(!scenario.accounts().empty() || !scenario.machine().qos.empty()),
        rules_(scenario),
        decay_(scenario.settings().priority, decay_start),
        counters_(rules_.counter_count()),
        is_submitted_(scenario.jobs().size()) {
    const std::size_t tres = kGpuTypes + scenario.machine().node_gpus.size();
    for (UsageCounter& count : counters_)
      for (Amounts* amounts : {&count.tres, &count.tres_run_seconds, &count.tres_seconds})
        amounts->resize(tres);
    const auto note_used = [&](bool of_qos, int which, const Limits& limits) {
      const int counter = rules_.counter_of(of_qos, which);
      for (const Limit& limit : limits.limits) {
        has_minute_limits_ = has_minute_limits_ || is_of_minutes(limit.kind);
        has_node_limits_ = has_node_limits_ || limit.tres == kNode;
        if (counter < 0) continue;
        UsageCounter& count = counters_[counter];
        if (limit.kind == Kind::group_wall) count.wall_seconds = limit.used_before * kMinute;
        if (limit.kind == Kind::group_minutes)
          count.tres_seconds[limit.tres] = limit.used_before * kMinute;
      }
      if (of_qos && counter >= 0)
        counters_[counter].decays = !scenario.machine().qos[which].no_decay;
    };
    for (std::size_t k = 0; k < scenario.machine().qos.size(); ++k)
      note_used(true, static_cast<int>(k), scenario.machine().qos[k]);
    for (std::size_t k = 0; k < scenario.accounts().size(); ++k)
      note_used(false, static_cast<int>(k), scenario.accounts()[k].limits);
    if (has_node_limits_)
      for (UsageCounter& count : counters_) count.jobs_of_node.resize(scenario.machine().nodes);
  }

  /// The limit in the way, or null.
  using Violation = const LimitRule*;

  /// At submission, with so many tasks: then the job is refused.
  Violation violation_at_submission(int job, int tasks) const {
    if (!has_limits_) return nullptr;
    const QueueEntry entry{job, scenario_.job(job).partition};
    const RuleSet& rules = rules_.rules_of(entry);
    for (const LimitRule& rule : rules.submission)
      if (count_of(rule).submitted_count + tasks > rule.limit.value) return &rule;
    const auto denies = [&](int qos) {
      return qos >= 0 && scenario_.machine().qos[qos].denies_on_limit;
    };
    if (rules.first_qos >= 0 && !denies(rules.first_qos) && !denies(rules.second_qos))
      return nullptr;
    const double minutes = minutes_of(entry);
    for (const LimitRule& rule : rules.before_nodes)
      if ((rule.limit.kind == Kind::wall || rule.limit.kind == Kind::group_wall) &&
          minutes > rule.limit.value)
        return &rule;
    return first_violation(entry, submitted_of(scenario_, entry), true);
  }

  /// Before nodes are looked for: numbers of jobs, time, and nodes that it could never have.
  Violation violation_before_nodes(QueueEntry entry) const {
    if (!has_limits_) return nullptr;
    const RuleSet& rules = rules_.rules_of(entry);
    const bool safe = scenario_.settings().priority.safe_limits;
    for (const LimitRule& rule : rules.before_nodes) {
      const UsageCounter& count = count_of(rule);
      const double most = rule.limit.value;
      const auto over = [&] {
        if (rule.limit.kind == Kind::wall) return minutes_of(entry) > most;
        if (rule.limit.kind != Kind::group_wall) return count.job_count >= most;
        const double used = std::floor(count.wall_seconds / kMinute);
        return used >= most || (safe && used + minutes_of(entry) > most);
      };
      if (over()) return &rule;
    }
    // The least of the limits on its nodes.
    Violation least = nullptr;
    for (const LimitRule& rule : rules.with_nodes) {
      const Kind kind = rule.limit.kind;
      const bool counts =
          kind == Kind::group || kind == Kind::job || kind == Kind::account || kind == Kind::user;
      if (counts && rule.limit.tres == kNode && (!least || rule.limit.value < least->limit.value))
        least = &rule;
    }
    return least && least->limit.value < scenario_.job(entry).nodes ? least : nullptr;
  }

  /// With the nodes that were chosen (null: none) and the jobs that run.
  Violation violation_with_nodes(QueueEntry entry, const NodeChoice* choice) const {
    if (!has_limits_) return nullptr;
    return choice ? first_violation(entry, demand_of(scenario_, entry, *choice), false)
                  : violation_with_nodes(entry, scenario_.job(entry).nodes);
  }

  /// On so many nodes.
  Violation violation_with_nodes(QueueEntry entry, int nodes) const {
    return has_limits_ ? first_violation(entry, request_of(scenario_, entry, nodes), false)
                       : nullptr;
  }

  /// Of a running job, at a check: what its group may use is used up.
  Violation exceeded_group_limit(int job) const {
    if (!has_minute_limits_ || scenario_.settings().priority.safe_limits) return nullptr;
    const auto found = std::find_if(running_.begin(), running_.end(),
                                    [&](const RunningJob& one) { return one.job == job; });
    if (found == running_.end()) return nullptr;
    for (const LimitRule& rule : found->rules->before_nodes)
      if (rule.limit.kind == Kind::group_wall &&
          std::floor(count_of(rule).wall_seconds / kMinute) >= rule.limit.value)
        return &rule;
    for (const LimitRule& rule : found->rules->with_nodes)
      if (rule.limit.kind == Kind::group_minutes && found->tres[rule.limit.tres] > 0 &&
          std::floor(count_of(rule).tres_seconds[rule.limit.tres] / kMinute) >= rule.limit.value)
        return &rule;
    return nullptr;
  }

  void submit(int job) {
    if (!has_limits_) return;
    is_submitted_[job] = 1;
    for (const int counter : rules_.rules_of({job, scenario_.job(job).partition}).counters)
      ++counters_[counter].submitted_count;
  }

  void start(QueueEntry entry, const NodeChoice& choice, Second now) {
    if (!has_limits_) return;
    const RuleSet& rules = rules_.rules_of(entry);
    RunningJob one{entry.job, &rules, demand_of(scenario_, entry, choice).tres, {}, now};
    if (has_node_limits_) one.nodes = choice.nodes.to_list();
    const Second left = scenario_.job(entry).limit - (charged_until(one) - now);
    const double seconds = static_cast<double>(std::max<Second>(left, 0)) * usage_factor(entry.job);
    for (const int counter : rules.counters) {
      UsageCounter& count = counters_[counter];
      ++count.job_count;
      for (const int node : one.nodes) count.node_count += count.jobs_of_node[node]++ == 0;
      for (std::size_t k = 0; k < one.tres.size(); ++k) {
        count.tres[k] += one.tres[k];
        count.tres_run_seconds[k] += one.tres[k] * seconds;
      }
    }
    running_.push_back(std::move(one));
  }

  /// It has ended, and (`over`) is no submitted one any more.
  void end(int job, Second now, bool over) {
    if (!has_limits_) return;
    const auto found = std::find_if(running_.begin(), running_.end(),
                                    [&](const RunningJob& one) { return one.job == job; });
    if (found == running_.end()) return;
    charge(*found, now, true);
    for (const int counter : found->rules->counters) {
      UsageCounter& count = counters_[counter];
      --count.job_count;
      for (const int node : found->nodes) count.node_count -= --count.jobs_of_node[node] == 0;
      for (std::size_t k = 0; k < found->tres.size(); ++k) count.tres[k] -= found->tres[k];
    }
    running_.erase(found);
    if (!over || !is_submitted_[job]) return;
    is_submitted_[job] = 0;
    for (const int counter : rules_.rules_of({job, scenario_.job(job).partition}).counters)
      --counters_[counter].submitted_count;
  }

  /// All passes of the thread that accounts usage, up to `time`.
  void advance(double time) {
    if (!has_minute_limits_) return;
    decay_.advance(time, [&](Second now, double left) {
      for (UsageCounter& count : counters_) {
        if (!count.decays) continue;
        count.wall_seconds *= left;
        for (double& used : count.tres_seconds) used *= left;
      }
      for (const RunningJob& one : running_) charge(one, now, false);
    });
  }

  /// What a rule counts now, and whose.
  double counted_usage(const LimitRule& rule) const {
    const UsageCounter& count = count_of(rule);
    if (rule.limit.kind == Kind::group_wall) return count.wall_seconds / kMinute;
    if (rule.limit.tres < 0) return count.job_count;
    const std::size_t tres = rule.limit.tres;
    if (rule.limit.kind == Kind::group_minutes) return count.tres_seconds[tres] / kMinute;
    if (is_of_minutes(rule.limit.kind)) return count.tres_run_seconds[tres] / kMinute;
    return rule.limit.tres == kNode ? count.node_count : count.tres[tres];
  }

  std::vector<int> running_jobs_of(const LimitRule& rule) const {
    std::vector<int> jobs;
    for (const RunningJob& one : running_) {
      const std::vector<int>& counters = one.rules->counters;
      if (std::find(counters.begin(), counters.end(), rule.counter) != counters.end())
        jobs.push_back(one.job);
    }
    return jobs;
  }

 private:
  using Kind = Limit::Kind;
  static constexpr double kMinute = 60;

  struct UsageCounter {
    int job_count = 0, submitted_count = 0, node_count = 0;
    std::vector<int> jobs_of_node;
    Amounts tres, tres_run_seconds, tres_seconds;  // what they have, may still use, and have used
    double wall_seconds = 0;                       // s
    bool decays = true;
  };
  struct RunningJob {
    int job;
    const RuleSet* rules;
    Amounts tres;
    std::vector<int> nodes;
    Second start;
  };
  /// The same for all rules of a job: `alone`: whatever runs; `used_counts`: its usage has a price.
  struct RuleContext {
    double minutes;
    bool has_usage_price, ignores_running_jobs;
  };

  static bool is_of_minutes(Kind kind) {
    return kind == Kind::group_minutes || kind == Kind::group_run_minutes ||
           kind == Kind::group_wall || kind == Kind::account_run_minutes ||
           kind == Kind::user_run_minutes;
  }

  Violation first_violation(QueueEntry entry, const Demand& demand, bool alone) const {
    const RuleContext all{minutes_of(entry), usage_factor(entry.job) > 0, alone};
    for (const LimitRule& rule : rules_.rules_of(entry).with_nodes)
      if (is_violated(rule, demand, all)) return &rule;
    return nullptr;
  }

  bool is_violated(const LimitRule& rule, const Demand& demand, const RuleContext& all) const {
    const std::size_t tres = rule.limit.tres;
    const double most = rule.limit.value;
    const UsageCounter& count = count_of(rule);
    const auto exceeds_limit = [&](double wanted, double others, double limit) {
      return wanted > limit || (wanted > 0 && !all.ignores_running_jobs && others + wanted > limit);
    };
    const double wanted = demand.tres[tres], minutes = all.minutes * wanted;
    const double may_run =
        all.has_usage_price ? std::floor(count.tres_run_seconds[tres] / kMinute) : 0;
    switch (rule.limit.kind) {
      case Kind::group:
      case Kind::account:
      case Kind::user:
        if (tres == kNode)
          return exceeds_limit(wanted - shared_nodes(count, demand), count.node_count, most);
        return exceeds_limit(wanted, count.tres[tres], most);
      case Kind::job:
        return wanted > most;
      case Kind::node:
        return std::floor(wanted / std::max(demand.tres[kNode], 1.0)) > most;
      case Kind::min:
        return wanted < most;
      case Kind::job_minutes:
        return minutes > most;
      case Kind::group_run_minutes:
      case Kind::account_run_minutes:
      case Kind::user_run_minutes:
        return exceeds_limit(minutes, may_run, most);
      case Kind::group_minutes: {
        const double used = all.has_usage_price && !all.ignores_running_jobs
                                ? std::floor(count.tres_seconds[tres] / kMinute)
                                : 0;
        if (wanted > 0 && used >= most) return true;
        const bool safe = all.ignores_running_jobs || scenario_.settings().priority.safe_limits;
        return safe && (minutes > most || exceeds_limit(minutes, may_run, most - used));
      }
      default:
        return false;
    }
  }

  // Nodes of the demand that jobs of the counter have already.
  int shared_nodes(const UsageCounter& count, const Demand& demand) const {
    int shared = 0;
    if (demand.nodes)
      demand.nodes->for_each_run([&](int first, int length) {
        for (int node = first; node < first + length; ++node)
          shared += count.jobs_of_node[node] > 0;
      });
    return shared;
  }

  // Of its limit, as limits of time see it.
  double minutes_of(QueueEntry entry) const {
    const Job& job = scenario_.job(entry);
    const double minutes = std::ceil(static_cast<double>(job.limit) / kMinute);
    const bool safe = job.qos >= 0 && scenario_.machine().qos[job.qos].is_usage_factor_safe;
    return safe ? std::floor(minutes * usage_factor(entry.job)) : minutes;
  }

  double usage_factor(int job) const {
    const int qos = scenario_.job(job).qos;
    return qos < 0 ? 1 : scenario_.machine().qos[qos].usage_factor;
  }

  // Until when it has been charged for what it used.
  Second charged_until(const RunningJob& one) const {
    return std::max(decay_.last_pass_time(), one.start);
  }

  // What it used since then, and what it may still use.
  void charge(const RunningJob& one, Second now, bool over) {
    const double factor = usage_factor(one.job);
    const Second since = charged_until(one), due = one.start + scenario_.job(one.job).limit;
    const Second ran = std::max<Second>(now - since, 0);
    const auto less =
        static_cast<double>(std::max<Second>((over ? due : std::min(now, due)) - since, 0));
    for (const int counter : one.rules->counters) {
      UsageCounter& count = counters_[counter];
      const double used =
          factor * static_cast<double>(ran) * (count.decays ? decay_.remaining_fraction(ran) : 1);
      count.wall_seconds += used;
      for (std::size_t k = 0; k < one.tres.size(); ++k) {
        count.tres_seconds[k] += used * one.tres[k];
        count.tres_run_seconds[k] -= less * factor * one.tres[k];
      }
    }
  }

  const UsageCounter& count_of(const LimitRule& rule) const { return counters_[rule.counter]; }

  const Scenario& scenario_;
  const bool has_limits_;  // there are accounts or QOS
  LimitRules rules_;
  bool has_minute_limits_ = false, has_node_limits_ = false;  // some limit is of minutes, of nodes
  Decay decay_;
  std::vector<UsageCounter> counters_;
  std::vector<RunningJob> running_;
  std::vector<char> is_submitted_;
};

}  // namespace cosched::slurm
