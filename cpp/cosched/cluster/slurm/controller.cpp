#include "cosched/cluster/slurm/controller.hpp"

#include <algorithm>
#include <cmath>

namespace cosched::cluster::slurm {
namespace {

constexpr double kTopPriority = 0xffff0000u;

}  // namespace

SlurmController::SlurmController(const SlurmMachine& machine, const SlurmParameters& p,
                                 const std::vector<SlurmJob>& jobs, const SlurmClocks& clocks,
                                 bool told, bool plans)
    : machine_(machine),
      jobs_(jobs),
      clocks_(clocks),
      bf_interval_(whole(p["bf_interval"])),
      bf_resolution_(whole(p["bf_resolution"])),
      bf_window_(whole(p["bf_window"])),
      bf_max_time_(whole(p["bf_max_time"])),
      over_time_(whole(p["OverTimeLimit"])),
      kill_wait_(whole(p["KillWait"])),
      complete_wait_(whole(p["CompleteWait"])),
      bf_min_age_(whole(p["bf_min_age_reserve"])),
      calc_period_(whole(p["PriorityCalcPeriod"])),
      bf_max_job_test_(static_cast<int>(p["bf_max_job_test"])),
      bf_map_size_(static_cast<int>(p["bf_node_space_size"])),
      bf_max_job_start_(static_cast<int>(p["bf_max_job_start"])),
      bf_user_(static_cast<int>(p["bf_max_job_user"])),
      bf_part_(static_cast<int>(p["bf_max_job_part"])),
      bf_user_part_(static_cast<int>(p["bf_max_job_user_part"])),
      window_scale_(static_cast<int>(p["bf_window_linear"])),
      queue_depth_(static_cast<int>(p["default_queue_depth"])),
      part_depth_(static_cast<int>(p["partition_job_depth"])),
      max_job_start_(static_cast<int>(p["sched_max_job_start"])),
      cons_tres_(p["cons_tres"] != 0),
      multifactor_(p["multifactor"] != 0),
      age_counts_(p["age_counts"] != 0),
      favor_small_(p["PriorityFavorSmall"] != 0),
      relative_(p["SMALL_RELATIVE_TO_TIME"] != 0),
      bf_min_prio_(p["bf_min_prio_reserve"]),
      weight_age_(p["PriorityWeightAge"]),
      max_age_(p["PriorityMaxAge"]),
      weight_size_(p["PriorityWeightJobSize"]),
      weight_part_(p["PriorityWeightPartition"]),
      state_(jobs.size()),
      up_(machine.nodes),
      busy_(machine.nodes),
      cleaning_(machine.nodes),
      planned_(machine.nodes),
      avail_(machine.nodes),
      open_(machine.nodes),
      chosen_(machine.nodes),
      some_(machine.nodes),
      by_part_(machine.parts.size()),
      job_update_(whole(clocks.controller_start)),
      node_update_(whole(clocks.controller_start)),
      told_(told),
      plans_(plans) {
  up_.add_range(0, machine.nodes);
  free_cores_ = machine.node_cores;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const SlurmPartition& partition = machine.parts[static_cast<std::size_t>(jobs[j].partition)];
    Second limit = std::min(jobs[j].limit, partition.max_time);
    if (limit >= kNever) limit = kYear;
    state_[j].limit = limit;
    users_ = std::max(users_, jobs[j].user + 1);
  }
  by_user_.resize(static_cast<std::size_t>(users_));
  by_user_part_.resize(static_cast<std::size_t>(users_) * machine.parts.size());
  ended_.resize(jobs.size());
  outcome_.start_exact.resize(jobs.size());
  outcome_.end_exact.resize(jobs.size());
  outcome_.start.resize(jobs.size());
  outcome_.end.resize(jobs.size());
  outcome_.nodes.resize(jobs.size());
  outcome_.cores.resize(jobs.size());
  outcome_.by.resize(jobs.size());
  outcome_.killed.resize(jobs.size());
}

Second SlurmController::rounded(Second time) const {
  const Second unix = clocks_.epoch + time;
  const Second rest = ((unix % bf_resolution_) + bf_resolution_) % bf_resolution_;
  return time - rest;
}

// --- the queue ---

double SlurmController::priority_of(int job, double time) const {
  const SlurmJob& one = given(job);
  if (!multifactor_) return kTopPriority - sequence_;
  const double nodes = machine_.nodes, cpus = machine_.cpus;
  double size = 0;
  if (relative_) {
    // Slurm keeps limits in whole minutes.
    const Second minutes = std::max<Second>(1, state_[static_cast<std::size_t>(job)].limit / 60);
    size = std::max(one.nodes * cpus / nodes, static_cast<double>(one.cpus)) /
           static_cast<double>(minutes) / cpus;
    if (favor_small_) size = 1 - size;
  } else {
    size = (one.nodes / nodes + one.cpus / cpus) / 2;
    if (favor_small_) size = 1 - size;
  }
  double sum = weight_size_ * size + weight_part_ * part(job).job_factor - one.nice;
  if (age_counts_ && weight_age_ > 0)
    sum += weight_age_ * std::min(1.0, std::max(0.0, time - one.submit) / max_age_);
  return std::floor(std::max(1.0, sum));
}

bool SlurmController::before(int a, int b) const {
  const State &x = state_[static_cast<std::size_t>(a)], &y = state_[static_cast<std::size_t>(b)];
  if (part(a).tier != part(b).tier) return part(a).tier > part(b).tier;
  if (x.priority != y.priority) return x.priority > y.priority;
  if (x.submit != y.submit) return x.submit < y.submit;
  return a < b;
}

void SlurmController::enqueue(int job) {
  const auto place = std::lower_bound(queue_.begin(), queue_.end(), job,
                                      [&](int a, int b) { return before(a, b); });
  queue_.insert(place, job);
}

void SlurmController::recalculate(double time) {
  if (!multifactor_ || !age_counts_ || weight_age_ <= 0) return;
  const auto period = static_cast<std::int64_t>(
      std::floor((time - clocks_.controller_start) / static_cast<double>(calc_period_)));
  if (period == calculated_) return;
  calculated_ = period;
  ++changes_;
  const double when =
      clocks_.controller_start + static_cast<double>(period) * static_cast<double>(calc_period_);
  for (const int job : queue_) at(job).priority = priority_of(job, when);
  std::sort(queue_.begin(), queue_.end(), [&](int a, int b) { return before(a, b); });
}

void SlurmController::drop_started() {
  queue_.erase(std::remove(queue_.begin(), queue_.end(), -1), queue_.end());
}

// --- jobs ---

void SlurmController::submit(int job, double time) {
  State& state = at(job);
  state.submit = whole(time);
  state.priority = priority_of(job, time);
  ++sequence_;
  ++changes_;
  enqueue(job);
  job_update_ = whole(time);
}

void SlurmController::start(int job, const NodeBits& nodes, double time, bool backfill) {
  const Second now = whole(time);
  State& state = at(job);
  state.nodes = nodes;
  ++changes_;
  state.due = now + state.limit;
  if (own_cores())
    take_cores(job);
  else
    busy_ |= state.nodes;
  const auto place = std::lower_bound(running_.begin(), running_.end(), job, [&](int a, int b) {
    const Second x = due(a), y = due(b);
    return x != y ? x < y : a < b;
  });
  running_.insert(place, job);
  const auto j = static_cast<std::size_t>(job);
  outcome_.start[j] = static_cast<double>(now);
  outcome_.start_exact[j] = time;
  outcome_.nodes[j] = state.nodes.list();
  outcome_.by[j] = backfill;
  job_update_ = node_update_ = now;
  started_.push_back(job);
  if (told_)
    note(time, job, backfill ? SlurmAction::start_backfill : SlurmAction::start_main, now,
         state.due);
}

// Cores of a job: all that are free on its nodes in order, until it has enough.
void SlurmController::take_cores(int job) {
  int left = given(job).cpus;
  auto& taken = outcome_.cores[static_cast<std::size_t>(job)];
  for (const int node : at(job).nodes.list()) {
    taken.push_back(std::min(left, free_cores_[node]));
    left -= taken.back();
    if ((free_cores_[node] -= taken.back()) == 0) busy_.add(node);
  }
}

void SlurmController::give_cores(int job) {
  std::size_t k = 0;
  for (const int node : at(job).nodes.list()) {
    free_cores_[node] += outcome_.cores[static_cast<std::size_t>(job)][k++];
    busy_.remove(node);
  }
}

void SlurmController::finish(int job, double time, bool killed) {
  State& state = at(job);
  state.end = whole(time);
  ended_[static_cast<std::size_t>(job)] = 1;
  if (own_cores())
    give_cores(job);
  else
    busy_ -= state.nodes;
  ++changes_;
  cleaning_ |= state.nodes;
  running_.erase(std::find(running_.begin(), running_.end(), job));
  completing_.push_back(job);
  const auto j = static_cast<std::size_t>(job);
  outcome_.end[j] = static_cast<double>(state.end);
  outcome_.end_exact[j] = time;
  outcome_.killed[j] = killed;
  job_update_ = node_update_ = state.end;
  if (told_) note(time, job, killed ? SlurmAction::timeout : SlurmAction::finish, 0, 0);
}

void SlurmController::epilog(int job, double time) {
  cleaning_ -= at(job).nodes;
  ++changes_;
  completing_.erase(std::find(completing_.begin(), completing_.end(), job));
  job_update_ = node_update_ = whole(time);
}

bool SlurmController::completing(Second now) const {
  return complete_wait_ > 0 && std::any_of(completing_.begin(), completing_.end(), [&](int job) {
           return state_[static_cast<std::size_t>(job)].end >= now - complete_wait_;
         });
}

void SlurmController::check_limits(double time) {
  if (over_time_ >= kNever) return;
  const Second now = whole(time);
  while (!running_.empty() && due(running_.front()) + over_time_ <= now) {
    const int job = running_.front();
    finish(job, time, true);
    timed_out_.push_back(job);
  }
}

std::vector<int> SlurmController::take_started() { return std::exchange(started_, {}); }
std::vector<int> SlurmController::take_timed_out() { return std::exchange(timed_out_, {}); }

// --- what is told ---

void SlurmController::note(double time, int job, SlurmAction action, Second start, Second end,
                           const NodeBits* nodes) {
  outcome_.notes.push_back(
      {time, job, action, start, end, nodes ? nodes->list() : std::vector<int>{}});
}

void SlurmController::tell(double time, int job, SlurmAction action, Second start) {
  State& state = at(job);
  if (!told_ || (state.told == action && state.told_start == start)) return;
  state.told = action;
  state.told_start = start;
  note(time, job, action, start, 0);
}

}  // namespace cosched::cluster::slurm
