#include "cosched/cluster/check/schedule_checker.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "cosched/core/errors.hpp"

namespace cosched::cluster::check {
namespace {

constexpr double kNodeTolerance = kValidateTolerance;  // of a node's cores or memory

[[noreturn]] void throw_breach(const std::string& breach) { throw InvalidSchedule(breach); }

std::string name_job_at(const Jobs& jobs, int job, double time) {
  return jobs.name_of(job) + " at " + to_text(time) + " s";
}

bool is_same_time(double a, double b) {
  return std::abs(a - b) <= kValidateTolerance * std::max({std::abs(a), std::abs(b), 1.0});
}

}  // namespace

ScheduleChecker::ScheduleChecker(const Jobs& jobs, int nodes, const TraceRules& rules,
                                 NodeLists node_lists)
    : jobs_(jobs), rules_(rules), accounts_(jobs.size()), first_starts_(jobs.size()), uses_(nodes) {
  for (int job = 0; job < jobs.size(); ++job) {
    JobAccount& account = accounts_[job];
    account.memory = jobs.memory[job];
    account.cpu = jobs.cpu[job];
    account.tasks = jobs.tasks[job];
  }
  if (node_lists == NodeLists::stay) return;
  std::size_t tasks = 0;
  copy_begin_.reserve(accounts_.size());
  for (const JobAccount& account : accounts_) {
    copy_begin_.push_back(tasks);
    tasks += static_cast<std::size_t>(account.tasks);
  }
  node_copies_.resize(tasks);
}

void ScheduleChecker::begin_row(int job, double time, const int* nodes, std::size_t count,
                                double yield, RowCause cause) {
  check_row(job, time, nodes, count, yield);
  JobAccount& account = accounts_[job];
  bool has_moved = account.nodes == nullptr;
  for (std::size_t k = 0; k < count && !has_moved; ++k) has_moved = account.nodes[k] != nodes[k];
  check_transition(job, time, has_moved, cause);
  if (!account.has_run()) {
    first_starts_[job] = time;
    account.last_end = time;
  }
  if (cause == RowCause::resume) ++account.pauses;
  if (cause == RowCause::move) ++account.moves;
  if (cause == RowCause::resume || cause == RowCause::move)
    account.penalty_end = time + rules_.penalty;
  if (has_moved) keep_nodes(job, nodes);
  open_row(account, {time, yield});
  use_nodes(account, yield, +1);
  now_ = time;
}

void ScheduleChecker::end_row(int job, double time) {
  if (job < 0 || job >= jobs_.size() || !accounts_[job].is_running())
    throw_breach(name_job_at(jobs_, job, time) + " ends, but does not run");
  JobAccount& account = accounts_[job];
  const RowBegin begin = open_rows_[account.open_row];
  if (!(time >= begin.time) || !std::isfinite(time))
    throw_breach(name_job_at(jobs_, job, begin.time) + " ends at " + to_text(time) + " s");
  const double progress_begin = std::max(begin.time, account.penalty_end);
  if (time > progress_begin) account.work += begin.yield * (time - progress_begin);
  use_nodes(account, begin.yield, -1);
  free_rows_.push_back(account.open_row);
  account.open_row = -1;
  account.last_end = time;
  now_ = time;
}

void ScheduleChecker::finish_event() {
  for (const int node : changed_nodes_) {
    check_node(node);
    uses_[node].is_changed = false;
  }
  changed_nodes_.clear();
}

void ScheduleChecker::finish(const SimulationOutcome& outcome) const {
  for (int job = 0; job < jobs_.size(); ++job) check_job(job, outcome);
}

void ScheduleChecker::check_row(int job, double time, const int* nodes, std::size_t count,
                                double yield) const {
  if (job < 0 || job >= jobs_.size())
    throw_breach("job " + std::to_string(job) + ": there are " + std::to_string(jobs_.size()));
  if (!std::isfinite(time)) throw_breach(name_job_at(jobs_, job, time) + ": not a finite time");
  const JobAccount& account = accounts_[job];
  if (count != static_cast<std::size_t>(account.tasks))
    throw_breach(name_job_at(jobs_, job, time) + " has " + std::to_string(count) + " nodes for " +
                 std::to_string(account.tasks) + " tasks");
  for (std::size_t k = 0; k < count; ++k) {
    if (nodes[k] < 0 || nodes[k] >= static_cast<int>(uses_.size()))
      throw_breach(name_job_at(jobs_, job, time) + " uses node " + std::to_string(nodes[k]) +
                   " of " + std::to_string(uses_.size()));
    if (k > 0 && nodes[k] < nodes[k - 1])
      throw_breach(name_job_at(jobs_, job, time) + ": nodes are not in order");
  }
  if (!(yield >= 0 && yield <= 1 + kNodeTolerance))
    throw_breach(name_job_at(jobs_, job, time) + " has yield " + to_text(yield));
  if (account.is_running())
    throw_breach(name_job_at(jobs_, job, time) + " begins while it runs already");
  const double submit = jobs_.submit[job];
  if (time < submit && !is_same_time(time, submit))
    throw_breach(name_job_at(jobs_, job, time) + " runs before its submission at " +
                 to_text(submit) + " s");
}

void ScheduleChecker::check_transition(int job, double time, bool has_moved, RowCause cause) const {
  const JobAccount& account = accounts_[job];
  if (!account.has_run()) {
    if (cause != RowCause::start)
      throw_breach(name_job_at(jobs_, job, time) + " begins, but is not a start");
    return;
  }
  if (cause == RowCause::start) throw_breach(name_job_at(jobs_, job, time) + " is a second start");
  const bool is_contiguous = is_same_time(time, account.last_end);
  if (time < account.last_end && !is_contiguous)
    throw_breach(name_job_at(jobs_, job, time) + " begins before it ended at " +
                 to_text(account.last_end) + " s");
  if (!is_contiguous && cause != RowCause::resume)
    throw_breach(name_job_at(jobs_, job, time) + " follows a gap, but is not a resumption");
  if (has_moved && cause == RowCause::go_on)
    throw_breach(name_job_at(jobs_, job, time) + " is on other nodes, but is not a move");
  if (!has_moved && cause == RowCause::move)
    throw_breach(name_job_at(jobs_, job, time) + " is a move to the same nodes");
}

void ScheduleChecker::keep_nodes(int job, const int* nodes) {
  JobAccount& account = accounts_[job];
  account.nodes = nodes;
  if (copy_begin_.empty()) return;
  int* const copy = node_copies_.data() + copy_begin_[job];
  for (int k = 0; k < account.tasks; ++k) copy[k] = nodes[k];  // few: no call of memcpy
  account.nodes = copy;
}

void ScheduleChecker::open_row(JobAccount& account, const RowBegin& begin) {
  if (free_rows_.empty()) {
    free_rows_.push_back(static_cast<int>(open_rows_.size()));
    open_rows_.emplace_back();
  }
  account.open_row = free_rows_.back();
  free_rows_.pop_back();
  open_rows_[account.open_row] = begin;
}

void ScheduleChecker::use_nodes(const JobAccount& account, double yield, int sign) {
  const double memory = sign * account.memory;
  const double cpu = sign * account.cpu * yield;
  for (int k = 0; k < account.tasks; ++k) {
    const int node = account.nodes[k];
    NodeUse& use = uses_[node];
    use.tasks += sign;
    use.memory = use.tasks == 0 ? 0 : use.memory + memory;  // exact again when the node is empty
    use.cpu = use.tasks == 0 ? 0 : use.cpu + cpu;
    if (!use.is_changed) changed_nodes_.push_back(node);
    use.is_changed = true;
  }
}

void ScheduleChecker::check_node(int node) const {
  const NodeUse& use = uses_[node];
  const bool has_too_much_memory = use.memory > 1 + 2 * kNodeTolerance;
  const bool has_too_much_cpu = use.cpu > 1 + 2 * kNodeTolerance;
  const bool is_wrongly_shared = rules_.is_exclusive && use.tasks > 1;
  if (!has_too_much_memory && !has_too_much_cpu && !is_wrongly_shared) return;
  const std::string place = "node " + std::to_string(node) + " at " + to_text(now_) + " s";
  if (has_too_much_memory) throw_breach(place + " has memory " + to_text(use.memory) + " in use");
  if (has_too_much_cpu) throw_breach(place + " has CPU shares of " + to_text(use.cpu));
  throw_breach(place + " has " + std::to_string(use.tasks) + " tasks");
}

void ScheduleChecker::check_job(int job, const SimulationOutcome& outcome) const {
  const JobAccount& account = accounts_[job];
  const std::string name = jobs_.name_of(job);
  if (!account.has_run()) throw_breach(name + " never runs");
  if (account.is_running()) throw_breach(name + " never ends");
  const double runtime = jobs_.runtime[job];
  const double magnitude = std::max({runtime, account.last_end, 1.0});
  if (std::abs(account.work - runtime) > kValidateTolerance * magnitude)
    throw_breach(name + " gets " + to_text(account.work) + " s of its " + to_text(runtime) +
                 " s run time");
  if (!is_same_time(account.last_end, outcome.end[job]))
    throw_breach(name + " ends at " + to_text(account.last_end) + " s, not at " +
                 to_text(outcome.end[job]) + " s");
  if (!is_same_time(first_starts_[job], outcome.start[job]))
    throw_breach(name + " starts at " + to_text(first_starts_[job]) + " s, not at " +
                 to_text(outcome.start[job]) + " s");
  if (account.pauses != outcome.preemptions[job] || account.moves != outcome.migrations[job])
    throw_breach(name + " has " + std::to_string(account.pauses) + " pauses and " +
                 std::to_string(account.moves) + " moves, reported are " +
                 std::to_string(outcome.preemptions[job]) + " and " +
                 std::to_string(outcome.migrations[job]));
}

}  // namespace cosched::cluster::check
