// Records the outcome of a simulation while it runs.
#pragma once

#include <optional>

#include "cosched/slurm/select/allocations.hpp"
#include "cosched/slurm/state/outcome.hpp"

namespace cosched::slurm {

class Journal {
 public:
  Journal(std::size_t jobs, const RecordOptions& record)
      : record_(record), last_notes_(jobs), last_violations_(jobs), outcome_(jobs) {}

  bool notes_reasons() const { return record_.with_reasons; }
  bool notes_plans() const { return record_.with_plans; }

  void note_start(QueueEntry entry, double time, Scheduler scheduler,
                  const Allocations& allocations);
  /// The job is pending again.
  void note_requeue(int job);
  void note_end(int job, double time, bool is_killed);
  void note_preemption(int job, double time);
  void note_switch(int job, double time, bool is_suspended);
  void note_cycle(double time) { outcome_.cycle_times.push_back(time); }
  /// Why the job does not start.  Equal notes that follow each other are noted once.
  void note_wait(int job, double time, Action reason);
  void note_limit(int job, double time, const LimitRule& rule);
  void note_plan(QueueEntry entry, double time, Second begin, Second end, const NodeBits& nodes);

  Outcome outcome() &&;

 private:
  struct LastNote {
    Action action = Action::finish;
    Second start = 0;
    std::string limit = {};
  };

  void note_action(int job, double time, Action action);
  void note_if_changed(int job, double time, Action action, Second start);

  const RecordOptions record_;
  std::vector<LastNote> last_notes_;                       // by job
  std::vector<std::optional<LimitRule>> last_violations_;  // by job
  Outcome outcome_;
};

}  // namespace cosched::slurm
