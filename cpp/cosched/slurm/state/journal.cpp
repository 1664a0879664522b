#include "cosched/slurm/state/journal.hpp"

#include "cosched/core/found.hpp"

namespace cosched::slurm {

void Journal::note_start(QueueEntry entry, double time, Scheduler scheduler,
                         const Allocations& allocations) {
  const int job = entry.job;
  const auto j = static_cast<std::size_t>(job);
  outcome_.start[j] = static_cast<double>(to_second(time));
  outcome_.start_exact[j] = time;
  outcome_.nodes[j] = allocations.nodes(job).to_list();
  outcome_.cores[j].clear();
  for (const Share& share : allocations.shares(job).nodes) outcome_.cores[j].push_back(share.cores);
  outcome_.core_ids[j] = allocations.cores(job).to_list();
  outcome_.partition[j] = entry.partition;
  outcome_.scheduler[j] = static_cast<int>(scheduler);
  if (!notes_reasons()) return;
  const Action action = scheduler == Scheduler::main ? Action::start_main : Action::start_backfill;
  outcome_.notes.push_back({time, job, action, to_second(time), allocations.expected_end(job), {}});
}

void Journal::note_requeue(int job) {
  const auto j = static_cast<std::size_t>(job);
  ++outcome_.restarts[j];
  outcome_.start[j] = Outcome::kNone;
  outcome_.start_exact[j] = Outcome::kNone;
  outcome_.end[j] = Outcome::kNone;
  outcome_.end_exact[j] = Outcome::kNone;
  outcome_.nodes[j].clear();
  outcome_.cores[j].clear();
  outcome_.core_ids[j].clear();
  std::vector<Pause>& pauses = outcome_.pauses;
  pauses.erase(std::remove_if(pauses.begin(), pauses.end(),
                              [&](const Pause& pause) { return pause.job == job; }),
               pauses.end());
}

void Journal::note_end(int job, double time, bool is_killed) {
  const auto j = static_cast<std::size_t>(job);
  outcome_.end[j] = static_cast<double>(to_second(time));
  outcome_.end_exact[j] = time;
  outcome_.is_killed[j] = is_killed;
  note_action(job, time, is_killed ? Action::timeout : Action::finish);
}

void Journal::note_preemption(int job, double time) { note_action(job, time, Action::preempt); }

void Journal::note_switch(int job, double time, bool is_suspended) {
  std::vector<Pause>& pauses = outcome_.pauses;
  if (is_suspended) {
    pauses.push_back({job, time, Outcome::kNone});
  } else {
    const auto last_pause = std::find_if(pauses.rbegin(), pauses.rend(),
                                         [&](const Pause& pause) { return pause.job == job; });
    require_found(last_pause, pauses.rend(), "the pause of a job that resumes")->end = time;
  }
  note_action(job, time, is_suspended ? Action::suspend : Action::resume);
}

void Journal::note_wait(int job, double time, Action reason) {
  if (notes_reasons()) note_if_changed(job, time, reason, 0);
}

void Journal::note_limit(int job, double time, const LimitRule& rule) {
  last_violations_[job] = rule;
  if (!notes_reasons()) return;
  LastNote& last_note = last_notes_[job];
  std::string limit = reason_of(rule);
  if (last_note.action == Action::wait_limit && last_note.limit == limit) return;
  last_note = {Action::wait_limit, 0, limit};
  outcome_.notes.push_back({time, job, Action::wait_limit, 0, 0, {}, -1, std::move(limit)});
}

void Journal::note_plan(QueueEntry entry, double time, Second begin, Second end,
                        const NodeBits& nodes) {
  if (notes_reasons()) note_if_changed(entry.job, time, Action::plan, begin);
  if (notes_plans())
    outcome_.notes.push_back(
        {time, entry.job, Action::plan, begin, end, nodes.to_list(), entry.partition});
}

void Journal::note_action(int job, double time, Action action) {
  if (notes_reasons()) outcome_.notes.push_back({time, job, action, 0, 0, {}});
}

void Journal::note_if_changed(int job, double time, Action action, Second start) {
  LastNote& last_note = last_notes_[job];
  if (last_note.action == action && last_note.start == start) return;
  last_note = {action, start, {}};
  outcome_.notes.push_back({time, job, action, start, 0, {}});
}

Outcome Journal::outcome() && {
  for (std::size_t j = 0; j < last_violations_.size(); ++j)
    if (last_violations_[j] && std::isnan(outcome_.start[j]))
      outcome_.blocked_by_limit.emplace_back(static_cast<int>(j), reason_of(*last_violations_[j]));
  return std::move(outcome_);
}

}  // namespace cosched::slurm
