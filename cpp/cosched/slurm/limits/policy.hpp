// Limits of associations and QOS: who may be looked at, and who may start (RULES.md 14).
#pragma once

#include "cosched/slurm/accounts/decay.hpp"
#include "cosched/slurm/limits/limit_rules.hpp"

namespace cosched::slurm {

class Policy {
 public:
  /// `decay_start`: of the thread that accounts usage.  Requires that `scenario` outlives it.
  Policy(const Scenario& scenario, double decay_start)
      : scenario_(scenario),
        any_(!scenario.accounts().empty() || !scenario.machine().qos.empty()),
        rules_(scenario),
        decay_(scenario.settings().priority, decay_start),
        counts_(rules_.counters()),
        submitted_(scenario.jobs().size()) {
    const std::size_t tres = kGpuTypes + scenario.machine().node_gpus.size();
    for (Count& count : counts_)
      for (Amounts* amounts : {&count.tres, &count.run_seconds, &count.seconds})
        amounts->resize(tres);
    const auto note_used = [&](bool of_qos, int which, const Limits& limits) {
      const int counter = rules_.counter_of(of_qos, which);
      for (const Limit& limit : limits.all) {
        minutes_ = minutes_ || of_minutes(limit.kind);
        nodes_ = nodes_ || limit.tres == kNode;
        if (counter < 0) continue;
        Count& count = counts_[counter];
        if (limit.kind == Kind::group_wall) count.wall = limit.used * kMinute;
        if (limit.kind == Kind::group_minutes) count.seconds[limit.tres] = limit.used * kMinute;
      }
      if (of_qos && counter >= 0) counts_[counter].decays = !scenario.machine().qos[which].no_decay;
    };
    for (std::size_t k = 0; k < scenario.machine().qos.size(); ++k)
      note_used(true, static_cast<int>(k), scenario.machine().qos[k]);
    for (std::size_t k = 0; k < scenario.accounts().size(); ++k)
      note_used(false, static_cast<int>(k), scenario.accounts()[k].limits);
    if (nodes_)
      for (Count& count : counts_) count.jobs_of_node.resize(scenario.machine().nodes);
  }

  /// The limit in the way, or null.
  using Held = const Rule*;

  /// At submission, with so many tasks: then the job is refused.
  Held at_submission(int job, int tasks) const {
    if (!any_) return nullptr;
    const Entry entry{job, scenario_.job(job).partition};
    const RuleSet& rules = rules_.of(entry);
    for (const Rule& rule : rules.submission)
      if (count_of(rule).submitted + tasks > rule.limit.value) return &rule;
    const auto denies = [&](int qos) { return qos >= 0 && scenario_.machine().qos[qos].deny; };
    if (rules.first_qos >= 0 && !denies(rules.first_qos) && !denies(rules.second_qos))
      return nullptr;
    const double minutes = minutes_of(entry);
    for (const Rule& rule : rules.before)
      if ((rule.limit.kind == Kind::wall || rule.limit.kind == Kind::group_wall) &&
          minutes > rule.limit.value)
        return &rule;
    return test(entry, submitted_of(scenario_, entry), true);
  }

  /// Before nodes are looked for: numbers of jobs, time, and nodes that it could never have.
  Held before_nodes(Entry entry) const {
    if (!any_) return nullptr;
    const RuleSet& rules = rules_.of(entry);
    const bool safe = scenario_.settings().priority.safe_limits;
    for (const Rule& rule : rules.before) {
      const Count& count = count_of(rule);
      const double most = rule.limit.value;
      const auto over = [&] {
        if (rule.limit.kind == Kind::wall) return minutes_of(entry) > most;
        if (rule.limit.kind != Kind::group_wall) return count.jobs >= most;
        const double used = std::floor(count.wall / kMinute);
        return used >= most || (safe && used + minutes_of(entry) > most);
      };
      if (over()) return &rule;
    }
    // The least of the limits on its nodes.
    Held least = nullptr;
    for (const Rule& rule : rules.with_nodes) {
      const Kind kind = rule.limit.kind;
      const bool counts =
          kind == Kind::group || kind == Kind::job || kind == Kind::account || kind == Kind::user;
      if (counts && rule.limit.tres == kNode && (!least || rule.limit.value < least->limit.value))
        least = &rule;
    }
    return least && least->limit.value < scenario_.job(entry).nodes ? least : nullptr;
  }

  /// On what was found (null: nothing), beside what runs.
  Held with_nodes(Entry entry, const Choice* choice) const {
    if (!any_) return nullptr;
    return choice ? test(entry, demand_of(scenario_, entry, *choice), false)
                  : with_nodes(entry, scenario_.job(entry).nodes);
  }

  /// On so many nodes.
  Held with_nodes(Entry entry, int nodes) const {
    return any_ ? test(entry, request_of(scenario_, entry, nodes), false) : nullptr;
  }

  /// Of a running job, at a check: what its group may use is used up.
  Held used_up(int job) const {
    if (!minutes_ || scenario_.settings().priority.safe_limits) return nullptr;
    const auto found = std::find_if(running_.begin(), running_.end(),
                                    [&](const Running& one) { return one.job == job; });
    if (found == running_.end()) return nullptr;
    for (const Rule& rule : found->rules->before)
      if (rule.limit.kind == Kind::group_wall &&
          std::floor(count_of(rule).wall / kMinute) >= rule.limit.value)
        return &rule;
    for (const Rule& rule : found->rules->with_nodes)
      if (rule.limit.kind == Kind::group_minutes && found->tres[rule.limit.tres] > 0 &&
          std::floor(count_of(rule).seconds[rule.limit.tres] / kMinute) >= rule.limit.value)
        return &rule;
    return nullptr;
  }

  void submit(int job) {
    if (!any_) return;
    submitted_[job] = 1;
    for (const int counter : rules_.of({job, scenario_.job(job).partition}).counters)
      ++counts_[counter].submitted;
  }

  void start(Entry entry, const Choice& choice, Second now) {
    if (!any_) return;
    const RuleSet& rules = rules_.of(entry);
    Running one{entry.job, &rules, demand_of(scenario_, entry, choice).tres, {}, now};
    if (nodes_) one.nodes = choice.nodes.list();
    const Second left = scenario_.job(entry).limit - (charged(one) - now);
    const double seconds = static_cast<double>(std::max<Second>(left, 0)) * usage_factor(entry.job);
    for (const int counter : rules.counters) {
      Count& count = counts_[counter];
      ++count.jobs;
      for (const int node : one.nodes) count.nodes += count.jobs_of_node[node]++ == 0;
      for (std::size_t k = 0; k < one.tres.size(); ++k) {
        count.tres[k] += one.tres[k];
        count.run_seconds[k] += one.tres[k] * seconds;
      }
    }
    running_.push_back(std::move(one));
  }

  /// It has ended, and (`over`) is no submitted one any more.
  void end(int job, Second now, bool over) {
    if (!any_) return;
    const auto found = std::find_if(running_.begin(), running_.end(),
                                    [&](const Running& one) { return one.job == job; });
    if (found == running_.end()) return;
    charge(*found, now, true);
    for (const int counter : found->rules->counters) {
      Count& count = counts_[counter];
      --count.jobs;
      for (const int node : found->nodes) count.nodes -= --count.jobs_of_node[node] == 0;
      for (std::size_t k = 0; k < found->tres.size(); ++k) count.tres[k] -= found->tres[k];
    }
    running_.erase(found);
    if (!over || !submitted_[job]) return;
    submitted_[job] = 0;
    for (const int counter : rules_.of({job, scenario_.job(job).partition}).counters)
      --counts_[counter].submitted;
  }

  /// All passes of the thread that accounts usage, up to `time`.
  void advance(double time) {
    if (!minutes_) return;
    decay_.advance(time, [&](Second now, double left) {
      for (Count& count : counts_) {
        if (!count.decays) continue;
        count.wall *= left;
        for (double& used : count.seconds) used *= left;
      }
      for (const Running& one : running_) charge(one, now, false);
    });
  }

  /// What a rule counts now, and whose.
  double counted(const Rule& rule) const {
    const Count& count = count_of(rule);
    if (rule.limit.kind == Kind::group_wall) return count.wall / kMinute;
    if (rule.limit.tres < 0) return count.jobs;
    const std::size_t tres = rule.limit.tres;
    if (rule.limit.kind == Kind::group_minutes) return count.seconds[tres] / kMinute;
    if (of_minutes(rule.limit.kind)) return count.run_seconds[tres] / kMinute;
    return rule.limit.tres == kNode ? count.nodes : count.tres[tres];
  }

  std::vector<int> running_in(const Rule& rule) const {
    std::vector<int> jobs;
    for (const Running& one : running_) {
      const std::vector<int>& counters = one.rules->counters;
      if (std::find(counters.begin(), counters.end(), rule.counter) != counters.end())
        jobs.push_back(one.job);
    }
    return jobs;
  }

 private:
  using Kind = Limit::Kind;
  static constexpr double kMinute = 60;

  struct Count {
    int jobs = 0, submitted = 0, nodes = 0;
    std::vector<int> jobs_of_node;
    Amounts tres, run_seconds, seconds;  // what they have, may still use, and have used
    double wall = 0;                     // s
    bool decays = true;
  };
  struct Running {
    int job;
    const RuleSet* rules;
    Amounts tres;
    std::vector<int> nodes;
    Second start;
  };
  /// The same for all rules of a job: `alone`: whatever runs; `used_counts`: its usage has a price.
  struct Test {
    double minutes;
    bool used_counts, alone;
  };

  static bool of_minutes(Kind kind) {
    return kind == Kind::group_minutes || kind == Kind::group_run_minutes ||
           kind == Kind::group_wall || kind == Kind::account_run_minutes ||
           kind == Kind::user_run_minutes;
  }

  Held test(Entry entry, const Demand& demand, bool alone) const {
    const Test all{minutes_of(entry), usage_factor(entry.job) > 0, alone};
    for (const Rule& rule : rules_.of(entry).with_nodes)
      if (over(rule, demand, all)) return &rule;
    return nullptr;
  }

  bool over(const Rule& rule, const Demand& demand, const Test& all) const {
    const std::size_t tres = rule.limit.tres;
    const double most = rule.limit.value;
    const Count& count = count_of(rule);
    const auto beside = [&](double wanted, double others, double limit) {
      return wanted > limit || (wanted > 0 && !all.alone && others + wanted > limit);
    };
    const double wanted = demand.tres[tres], minutes = all.minutes * wanted;
    const double may_run = all.used_counts ? std::floor(count.run_seconds[tres] / kMinute) : 0;
    switch (rule.limit.kind) {
      case Kind::group:
      case Kind::account:
      case Kind::user:
        if (tres == kNode) return beside(wanted - shared_nodes(count, demand), count.nodes, most);
        return beside(wanted, count.tres[tres], most);
      case Kind::job:
        return wanted > most;
      case Kind::job_node:
        return std::floor(wanted / std::max(demand.tres[kNode], 1.0)) > most;
      case Kind::least:
        return wanted < most;
      case Kind::job_minutes:
        return minutes > most;
      case Kind::group_run_minutes:
      case Kind::account_run_minutes:
      case Kind::user_run_minutes:
        return beside(minutes, may_run, most);
      case Kind::group_minutes: {
        const double used =
            all.used_counts && !all.alone ? std::floor(count.seconds[tres] / kMinute) : 0;
        if (wanted > 0 && used >= most) return true;
        const bool safe = all.alone || scenario_.settings().priority.safe_limits;
        return safe && (minutes > most || beside(minutes, may_run, most - used));
      }
      default:
        return false;
    }
  }

  // Nodes of the demand that jobs of the counter have already.
  int shared_nodes(const Count& count, const Demand& demand) const {
    int shared = 0;
    if (demand.nodes)
      demand.nodes->runs([&](int first, int length) {
        for (int node = first; node < first + length; ++node)
          shared += count.jobs_of_node[node] > 0;
      });
    return shared;
  }

  // Of its limit, as limits of time see it.
  double minutes_of(Entry entry) const {
    const Job& job = scenario_.job(entry);
    const double minutes = std::ceil(static_cast<double>(job.limit) / kMinute);
    const bool safe = job.qos >= 0 && scenario_.machine().qos[job.qos].safe_factor;
    return safe ? std::floor(minutes * usage_factor(entry.job)) : minutes;
  }

  double usage_factor(int job) const {
    const int qos = scenario_.job(job).qos;
    return qos < 0 ? 1 : scenario_.machine().qos[qos].usage_factor;
  }

  // Until when it has been charged for what it used.
  Second charged(const Running& one) const { return std::max(decay_.last(), one.start); }

  // What it used since then, and what it may still use.
  void charge(const Running& one, Second now, bool over) {
    const double factor = usage_factor(one.job);
    const Second since = charged(one), due = one.start + scenario_.job(one.job).limit;
    const Second ran = std::max<Second>(now - since, 0);
    const auto less =
        static_cast<double>(std::max<Second>((over ? due : std::min(now, due)) - since, 0));
    for (const int counter : one.rules->counters) {
      Count& count = counts_[counter];
      const double used =
          factor * static_cast<double>(ran) * (count.decays ? decay_.left_after(ran) : 1);
      count.wall += used;
      for (std::size_t k = 0; k < one.tres.size(); ++k) {
        count.seconds[k] += used * one.tres[k];
        count.run_seconds[k] -= less * factor * one.tres[k];
      }
    }
  }

  const Count& count_of(const Rule& rule) const { return counts_[rule.counter]; }

  const Scenario& scenario_;
  const bool any_;  // there are accounts or QOS
  LimitRules rules_;
  bool minutes_ = false, nodes_ = false;  // some limit is of minutes, of nodes
  Decay decay_;
  std::vector<Count> counts_;
  std::vector<Running> running_;
  std::vector<char> submitted_;
};

}  // namespace cosched::slurm
