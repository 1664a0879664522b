#include "cosched/slurm/state/journal.hpp"

#include <algorithm>
#include <limits>

namespace cosched::slurm {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

Outcome::Outcome(std::size_t jobs)
    : start_exact(jobs, kNone),
      end_exact(jobs, kNone),
      start(jobs, kNone),
      end(jobs, kNone),
      cores(jobs),
      nodes(jobs),
      by(jobs),
      part(jobs),
      killed(jobs),
      restarts(jobs),
      units(jobs) {}

Journal::Journal(std::size_t jobs, const Record& record)
    : record_(record), said_(jobs), outcome_(jobs) {}

void Journal::start(Entry entry, double time, Scheduler by, const Allocations& allocations) {
  const int job = entry.job;
  const auto j = static_cast<std::size_t>(job);
  outcome_.start[j] = static_cast<double>(whole(time));
  outcome_.start_exact[j] = time;
  outcome_.nodes[j] = allocations.nodes(job).list();
  outcome_.cores[j].clear();
  for (const Share& share : allocations.shares(job).nodes) outcome_.cores[j].push_back(share.cores);
  outcome_.units[j] = allocations.cores(job).list();
  outcome_.part[j] = entry.part;
  outcome_.by[j] = static_cast<int>(by);
  const Action action = by == Scheduler::main ? Action::start_main : Action::start_backfill;
  if (told()) outcome_.notes.push_back({time, job, action, whole(time), allocations.due(job), {}});
}

void Journal::end(int job, double time, bool killed) {
  const auto j = static_cast<std::size_t>(job);
  outcome_.end[j] = static_cast<double>(whole(time));
  outcome_.end_exact[j] = time;
  outcome_.killed[j] = killed;
  if (told())
    outcome_.notes.push_back({time, job, killed ? Action::timeout : Action::finish, 0, 0, {}});
}

void Journal::preempt(int job, double time) {
  if (told()) outcome_.notes.push_back({time, job, Action::preempt, 0, 0, {}});
}

void Journal::turn(int job, double time, bool suspended) {
  std::vector<Pause>& pauses = outcome_.pauses;
  if (suspended) {
    pauses.push_back({job, time, kNone});
  } else {
    const auto last = std::find_if(pauses.rbegin(), pauses.rend(),
                                   [&](const Pause& one) { return one.job == job; });
    last->until = time;
  }
  const Action action = suspended ? Action::suspend : Action::resume;
  if (told()) outcome_.notes.push_back({time, job, action, 0, 0, {}});
}

void Journal::requeue(int job) {
  const auto j = static_cast<std::size_t>(job);
  ++outcome_.restarts[j];
  outcome_.start[j] = outcome_.start_exact[j] = outcome_.end[j] = outcome_.end_exact[j] = kNone;
  outcome_.nodes[j].clear();
  outcome_.cores[j].clear();
  outcome_.units[j].clear();
  std::vector<Pause>& pauses = outcome_.pauses;
  pauses.erase(std::remove_if(pauses.begin(), pauses.end(),
                              [&](const Pause& one) { return one.job == job; }),
               pauses.end());
}

void Journal::plan(Entry entry, double time, Second begin, Second end, const NodeBits& nodes) {
  say(entry.job, time, Action::plan, begin);
  if (plans())
    outcome_.notes.push_back({time, entry.job, Action::plan, begin, end, nodes.list(), entry.part});
}

void Journal::hold(int job, double time, const Rule& rule) {
  if (!told()) return;
  Said& last = said_[static_cast<std::size_t>(job)];
  std::string reason = reason_of(rule);
  if (last.action == Action::wait_limit && last.limit == reason) return;
  last = {Action::wait_limit, 0, reason};
  outcome_.notes.push_back({time, job, Action::wait_limit, 0, 0, {}, -1, std::move(reason)});
}

void Journal::say(int job, double time, Action action, Second start) {
  Said& last = said_[static_cast<std::size_t>(job)];
  if (!told() || (last.action == action && last.start == start)) return;
  last = {action, start, {}};
  outcome_.notes.push_back({time, job, action, start, 0, {}});
}

}  // namespace cosched::slurm
