#include "cosched/slurm/limits/policy.hpp"

#include <algorithm>
#include <cmath>

namespace cosched::slurm {
namespace {

using Kind = Limit::Kind;
constexpr double kMinute = 60;

bool of_minutes(Kind kind) {
  return kind == Kind::group_minutes || kind == Kind::group_run_minutes ||
         kind == Kind::group_wall || kind == Kind::account_run_minutes ||
         kind == Kind::user_run_minutes;
}

std::size_t at(int index) { return static_cast<std::size_t>(index); }

}  // namespace

Policy::Policy(const Scenario& scenario, double decay_start)
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
      Count& count = counts_[at(counter)];
      if (limit.kind == Kind::group_wall) count.wall = limit.used * kMinute;
      if (limit.kind == Kind::group_minutes) count.seconds[at(limit.tres)] = limit.used * kMinute;
    }
    if (of_qos && counter >= 0)
      counts_[at(counter)].decays = !scenario.machine().qos[at(which)].no_decay;
  };
  for (std::size_t k = 0; k < scenario.machine().qos.size(); ++k)
    note_used(true, static_cast<int>(k), scenario.machine().qos[k]);
  for (std::size_t k = 0; k < scenario.accounts().size(); ++k)
    note_used(false, static_cast<int>(k), scenario.accounts()[k].limits);
  if (nodes_)
    for (Count& count : counts_) count.jobs_of_node.resize(at(scenario.machine().nodes));
}

double Policy::usage_factor(int job) const {
  const int qos = scenario_.job(job).qos;
  return qos < 0 ? 1 : scenario_.machine().qos[at(qos)].usage_factor;
}

// Of its limit, as limits of time see it.
double Policy::minutes_of(Entry entry) const {
  const Job& job = scenario_.job(entry);
  const double minutes = std::ceil(static_cast<double>(job.limit) / kMinute);
  const bool safe = job.qos >= 0 && scenario_.machine().qos[at(job.qos)].safe_factor;
  return safe ? std::floor(minutes * usage_factor(entry.job)) : minutes;
}

// --- tests ---

Policy::Held Policy::at_submission(int job, int tasks) const {
  if (!any_) return nullptr;
  const Entry entry{job, scenario_.job(job).partition};
  const RuleSet& rules = rules_.of(entry);
  for (const Rule& rule : rules.submission)
    if (count_of(rule).submitted + tasks > rule.limit.value) return &rule;
  const auto denies = [&](int qos) { return qos >= 0 && scenario_.machine().qos[at(qos)].deny; };
  if (rules.first_qos >= 0 && !denies(rules.first_qos) && !denies(rules.second_qos)) return nullptr;
  const double minutes = minutes_of(entry);
  for (const Rule& rule : rules.before)
    if ((rule.limit.kind == Kind::wall || rule.limit.kind == Kind::group_wall) &&
        minutes > rule.limit.value)
      return &rule;
  return test(entry, submitted_of(scenario_, entry), true);
}

Policy::Held Policy::before_nodes(Entry entry) const {
  if (!any_) return nullptr;
  const RuleSet& rules = rules_.of(entry);
  const double minutes = minutes_of(entry);
  const bool safe = scenario_.settings().priority.safe_limits;
  for (const Rule& rule : rules.before) {
    const Count& count = count_of(rule);
    const double most = rule.limit.value;
    const double used = std::floor(count.wall / kMinute);
    const bool held = rule.limit.kind == Kind::wall ? minutes > most
                      : rule.limit.kind == Kind::group_wall
                          ? used >= most || (safe && used + minutes > most)
                          : count.jobs >= most;
    if (held) return &rule;
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

Policy::Held Policy::with_nodes(Entry entry, const Choice* choice) const {
  if (!any_) return nullptr;
  return choice ? test(entry, demand_of(scenario_, entry, *choice), false)
                : with_nodes(entry, scenario_.job(entry).nodes);
}

Policy::Held Policy::with_nodes(Entry entry, int nodes) const {
  return any_ ? test(entry, request_of(scenario_, entry, nodes), false) : nullptr;
}

Policy::Held Policy::test(Entry entry, const Demand& demand, bool alone) const {
  const Test all{minutes_of(entry), usage_factor(entry.job) > 0, alone};
  for (const Rule& rule : rules_.of(entry).with_nodes)
    if (over(rule, demand, all)) return &rule;
  return nullptr;
}

// Nodes of the demand that jobs of the counter have already.
int Policy::shared_nodes(const Count& count, const Demand& demand) const {
  int shared = 0;
  if (demand.nodes)
    demand.nodes->runs([&](int first, int length) {
      for (int node = first; node < first + length; ++node)
        shared += count.jobs_of_node[at(node)] > 0;
    });
  return shared;
}

bool Policy::over(const Rule& rule, const Demand& demand, const Test& all) const {
  const std::size_t tres = at(rule.limit.tres);
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

Policy::Held Policy::used_up(int job) const {
  if (!minutes_ || scenario_.settings().priority.safe_limits) return nullptr;
  const auto found = std::find_if(running_.begin(), running_.end(),
                                  [&](const Running& one) { return one.job == job; });
  if (found == running_.end()) return nullptr;
  for (const Rule& rule : found->rules->before)
    if (rule.limit.kind == Kind::group_wall &&
        std::floor(count_of(rule).wall / kMinute) >= rule.limit.value)
      return &rule;
  for (const Rule& rule : found->rules->with_nodes)
    if (rule.limit.kind == Kind::group_minutes && found->tres[at(rule.limit.tres)] > 0 &&
        std::floor(count_of(rule).seconds[at(rule.limit.tres)] / kMinute) >= rule.limit.value)
      return &rule;
  return nullptr;
}

// --- what runs ---

void Policy::submit(int job) {
  if (!any_) return;
  submitted_[at(job)] = 1;
  for (const int counter : rules_.of({job, scenario_.job(job).partition}).counters)
    ++counts_[at(counter)].submitted;
}

void Policy::start(Entry entry, const Choice& choice, Second now) {
  if (!any_) return;
  const RuleSet& rules = rules_.of(entry);
  Running one{entry.job, &rules, demand_of(scenario_, entry, choice).tres, {}, now};
  if (nodes_) one.nodes = choice.nodes.list();
  const Second left = scenario_.job(entry).limit - (charged(one) - now);
  const double seconds = static_cast<double>(std::max<Second>(left, 0)) * usage_factor(entry.job);
  for (const int counter : rules.counters) {
    Count& count = counts_[at(counter)];
    ++count.jobs;
    for (const int node : one.nodes) count.nodes += count.jobs_of_node[at(node)]++ == 0;
    for (std::size_t k = 0; k < one.tres.size(); ++k) {
      count.tres[k] += one.tres[k];
      count.run_seconds[k] += one.tres[k] * seconds;
    }
  }
  running_.push_back(std::move(one));
}

void Policy::end(int job, Second now, bool over) {
  if (!any_) return;
  const auto found = std::find_if(running_.begin(), running_.end(),
                                  [&](const Running& one) { return one.job == job; });
  if (found == running_.end()) return;
  charge(*found, now, true);
  for (const int counter : found->rules->counters) {
    Count& count = counts_[at(counter)];
    --count.jobs;
    for (const int node : found->nodes) count.nodes -= --count.jobs_of_node[at(node)] == 0;
    for (std::size_t k = 0; k < found->tres.size(); ++k) count.tres[k] -= found->tres[k];
  }
  running_.erase(found);
  if (!over || !submitted_[at(job)]) return;
  submitted_[at(job)] = 0;
  for (const int counter : rules_.of({job, scenario_.job(job).partition}).counters)
    --counts_[at(counter)].submitted;
}

void Policy::advance(double time) {
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

// Until when it has been charged for what it used.
Second Policy::charged(const Running& one) const { return std::max(decay_.last(), one.start); }

// What it used since then, and what it may still use.
void Policy::charge(const Running& one, Second now, bool over) {
  const double factor = usage_factor(one.job);
  const Second since = charged(one), due = one.start + scenario_.job(one.job).limit;
  const Second ran = std::max<Second>(now - since, 0);
  const auto less =
      static_cast<double>(std::max<Second>((over ? due : std::min(now, due)) - since, 0));
  for (const int counter : one.rules->counters) {
    Count& count = counts_[at(counter)];
    const double used =
        factor * static_cast<double>(ran) * (count.decays ? decay_.left_after(ran) : 1);
    count.wall += used;
    for (std::size_t k = 0; k < one.tres.size(); ++k) {
      count.seconds[k] += used * one.tres[k];
      count.run_seconds[k] -= less * factor * one.tres[k];
    }
  }
}

// --- what is said of it ---

std::vector<int> Policy::running_in(const Rule& rule) const {
  std::vector<int> jobs;
  for (const Running& one : running_) {
    const std::vector<int>& counters = one.rules->counters;
    if (std::find(counters.begin(), counters.end(), rule.counter) != counters.end())
      jobs.push_back(one.job);
  }
  return jobs;
}

double Policy::counted(const Rule& rule) const {
  const Count& count = count_of(rule);
  if (rule.limit.kind == Kind::group_wall) return count.wall / kMinute;
  if (rule.limit.tres < 0) return count.jobs;
  const std::size_t tres = at(rule.limit.tres);
  if (rule.limit.kind == Kind::group_minutes) return count.seconds[tres] / kMinute;
  if (of_minutes(rule.limit.kind)) return count.run_seconds[tres] / kMinute;
  return rule.limit.tres == kNode ? count.nodes : count.tres[tres];
}

}  // namespace cosched::slurm
