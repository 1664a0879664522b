#include "cosched/slurm/select/preemption.hpp"

namespace cosched::slurm {

const Qos* qos_of(const Scenario& scenario, int job) {
  const int qos = scenario.job(job).qos;
  return qos < 0 ? nullptr : &scenario.machine().qos[qos];
}

const std::vector<int>& preempted_by(const Scenario& scenario, QueueEntry preemptor) {
  static const std::vector<int> no_groups;
  const Settings::Preempt& settings = scenario.settings().preempt;
  if (!settings.is_enabled()) return no_groups;
  if (settings.type == Settings::Preempt::Type::partition)
    return scenario.lower_partitions(preemptor.partition);
  const Qos* qos = qos_of(scenario, preemptor.job);
  return qos ? qos->preempts : no_groups;
}

bool may_preempt(const Scenario& scenario, QueueEntry preemptor, QueueEntry other) {
  const std::vector<int>& preempted_groups = preempted_by(scenario, preemptor);
  if (preempted_groups.empty()) return false;
  const bool is_by_partition =
      scenario.settings().preempt.type == Settings::Preempt::Type::partition;
  const int group = is_by_partition ? other.partition : scenario.job(other.job).qos;
  return std::find(preempted_groups.begin(), preempted_groups.end(), group) !=
         preempted_groups.end();
}

Preemption::Preemption(const Scenario& scenario, Allocations& allocations)
    : scenario_(scenario), allocations_(allocations) {
  if (!is_enabled()) return;
  partition_by_job_.resize(scenario.jobs().size());
  last_preemption_by_job_.assign(scenario.jobs().size(), -kNever);
}

void Preemption::start(QueueEntry entry) {
  if (is_enabled()) partition_by_job_[entry.job] = entry.partition;
}

bool Preemption::is_in_progress(int job) const {
  return std::find(preemptors_in_progress_.begin(), preemptors_in_progress_.end(), job) !=
         preemptors_in_progress_.end();
}

std::vector<int> Preemption::candidates(QueueEntry entry, Second now) const {
  std::vector<int> jobs;
  if (preempted_by(scenario_, entry).empty()) return jobs;
  const NodeBits& nodes = scenario_.partition(entry).nodes;
  for (const int job : allocations_.running_jobs()) {
    if (!may_preempt(scenario_, entry, running_entry(job)) || mode(job) == Mode::off) continue;
    if (!is_exempt(job, now) && allocations_.nodes(job).intersects(nodes)) jobs.push_back(job);
  }
  std::sort(jobs.begin(), jobs.end(), [&](int a, int b) {  // as on slurmctld's list of jobs
    return std::pair(scenario_.job(a).submit, a) < std::pair(scenario_.job(b).submit, b);
  });
  const bool is_youngest_first = scenario_.settings().preempt.youngest_first;
  std::stable_sort(jobs.begin(), jobs.end(), [&](int a, int b) {
    return is_youngest_first ? allocations_.start_second(a) > allocations_.start_second(b)
                             : preemption_rank(a) < preemption_rank(b);
  });
  return jobs;
}

Preemption::Victims Preemption::choose_victims(QueueEntry entry, const NodeBits& allowed_nodes,
                                               Second now, Select& select) {
  std::vector<int> candidate_jobs = candidates(entry, now);
  candidate_jobs.erase(std::remove_if(candidate_jobs.begin(), candidate_jobs.end(),
                                      [&](int job) { return mode(job) == Mode::suspend; }),
                       candidate_jobs.end());
  const int candidate_count = static_cast<int>(candidate_jobs.size());
  const int reorder_count = scenario_.settings().preempt.reorder_count;
  for (int pass = 1; !candidate_jobs.empty(); ++pass) {
    Victims victims;
    std::size_t hidden_count = 0;
    std::vector<int> hidden_jobs;
    while (hidden_count < candidate_jobs.size() && !victims.choice) {
      hidden_jobs.push_back(candidate_jobs[hidden_count]);
      ++hidden_count;
      const ScopedHidden hidden(*this, hidden_jobs);
      victims.choice = select.select_now(entry, allowed_nodes);
    }
    if (!victims.choice) return {};
    if (pass <= reorder_count + 1 && candidate_count > pass) {
      reorder(candidate_jobs, hidden_count - 1, victims.choice->nodes);
      continue;
    }
    for (const int job : hidden_jobs)
      if (allocations_.nodes(job).intersects(victims.choice->nodes)) victims.jobs.push_back(job);
    return victims;
  }
  return {};
}

// Puts the last victim first, as it is the one that made the start possible, and behind it those
// that gave most nodes.
void Preemption::reorder(std::vector<int>& candidate_jobs, std::size_t last_victim,
                         const NodeBits& nodes) const {
  const auto last = candidate_jobs.begin() + static_cast<std::ptrdiff_t>(last_victim);
  if (!scenario_.settings().preempt.strict_order)
    std::stable_sort(candidate_jobs.begin(), last, [&](int a, int b) {
      return allocations_.nodes(a).count_common(nodes) > allocations_.nodes(b).count_common(nodes);
    });
  std::rotate(candidate_jobs.begin(), last, last + 1);
}

bool Preemption::try_begin_preemption(int job, Second now) {
  constexpr Second kMessageTimeout = 10;
  preemptors_in_progress_.push_back(job);
  const Second kill_wait = scenario_.settings().select.kill_wait;
  if (last_preemption_by_job_[job] > now - kill_wait - kMessageTimeout) return false;
  last_preemption_by_job_[job] = now;
  return true;
}

Preemption::Mode Preemption::mode(int job) const {
  const Settings::Preempt& settings = scenario_.settings().preempt;
  int group_mode = -1;
  if (settings.type == Settings::Preempt::Type::partition)
    group_mode = scenario_.partition(running_entry(job)).preempt_mode;
  else if (const Qos* qos = qos_of(scenario_, job))
    group_mode = qos->preempt_mode;
  return static_cast<Mode>(group_mode >= 0 ? group_mode : settings.mode);
}

Second Preemption::grace_time(int job) const {
  if (scenario_.settings().preempt.type == Settings::Preempt::Type::partition)
    return scenario_.partition(running_entry(job)).grace_time;
  const Qos* qos = qos_of(scenario_, job);
  return qos ? qos->grace_time : 0;
}

// PreemptExemptTime of the QOS that count for the job, else of the cluster.
bool Preemption::is_exempt(int job, Second now) const {
  Second exempt_time = scenario_.settings().preempt.exempt_time;
  for (const int qos : {scenario_.job(job).qos, scenario_.partition(running_entry(job)).qos}) {
    if (qos < 0) continue;
    const Second qos_exempt_time = scenario_.machine().qos[qos].preempt_exempt_time;
    if (qos_exempt_time >= 0) exempt_time = qos_exempt_time;
  }
  return now < allocations_.start_second(job) + exempt_time;
}

// Jobs of low tier (or QOS priority) are preempted first, of these small ones before large ones.
double Preemption::preemption_rank(int job) const {
  constexpr double kMaxRank = 65535;
  double group_rank = scenario_.partition(running_entry(job)).tier;
  if (scenario_.settings().preempt.type == Settings::Preempt::Type::qos) {
    const Qos* qos = qos_of(scenario_, job);
    group_rank = qos ? std::min(qos->priority, kMaxRank) : 0;
  }
  return group_rank * (kMaxRank + 1) + std::min<double>(allocations_.nodes(job).count(), kMaxRank);
}

Preemption::ScopedHidden::ScopedHidden(Preemption& preemption, std::vector<int> jobs)
    : allocations_(preemption.allocations_), jobs_(std::move(jobs)) {
  for (const int job : jobs_) allocations_.hide(job);
}

Preemption::ScopedHidden::~ScopedHidden() {
  for (const int job : jobs_) allocations_.unhide(job);
}

}  // namespace cosched::slurm
