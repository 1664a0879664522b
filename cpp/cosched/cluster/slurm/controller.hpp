// The tables of slurmctld and what changes them: the queue, running jobs, nodes; the main
// scheduler's pass, the backfill cycle, the limit check.  Time is given: slurm_simulator has clocks.
#pragma once

#include <utility>
#include <vector>

#include "cosched/cluster/slurm/plan_map.hpp"
#include "cosched/cluster/slurm/setup.hpp"

namespace cosched::cluster::slurm {

enum class SlurmAction : char {
  start_main,
  start_backfill,
  wait_resources,
  wait_priority,
  plan,
  finish,
  timeout
};

/// What is told about a job: a plan has its start and end and its nodes.
struct SlurmNote {
  double time;
  int job;
  SlurmAction action;
  Second start, end;
  std::vector<int> nodes;
};

struct SlurmOutcome {
  std::vector<double> start_exact, end_exact;  // the instants
  std::vector<double> start, end;              // whole seconds of the controller, by job
  std::vector<std::vector<int>> cores;         // of each of these nodes, where jobs share nodes
  std::vector<std::vector<int>> nodes;         // increasing
  std::vector<int> by;                         // 0 main, 1 backfill
  std::vector<int> killed;                     // ended by the limit check
  std::vector<double> cycles;                  // when backfill cycles began
  std::vector<SlurmNote> notes;
};

class SlurmController {
 public:
  /// `told`: keep notes of starts, ends and reasons; `plans`: of every cycle's plan.
  SlurmController(const SlurmMachine& machine, const SlurmParameters& parameters,
                  const std::vector<SlurmJob>& jobs, const SlurmClocks& clocks, bool told,
                  bool plans);

  // --- what happens to jobs ---
  void submit(int job, double time);
  void finish(int job, double time, bool killed);
  void epilog(int job, double time);  // its nodes are idle again

  // --- what slurmctld does by itself ---
  void main_pass(double time, bool full);
  void backfill(double time);
  /// Ends jobs past their limit.
  void check_limits(double time);

  /// After each of these: what was started or ended since the last call.
  std::vector<int> take_started();
  std::vector<int> take_timed_out();

  /// "More work" for a backfill cycle (SLURM.md 3).
  bool more_work(Second since) const { return job_update_ >= since || node_update_ >= since; }
  bool completing(Second now) const;
  bool runs(int job) const { return !ended_[static_cast<std::size_t>(job)]; }
  Second due(int job) const { return state_[static_cast<std::size_t>(job)].due; }
  SlurmOutcome outcome() && { return std::move(outcome_); }

 private:
  struct State {
    NodeBits nodes;
    Second due = 0;  // start + limit
    Second limit = 0;
    double priority = 0;
    Second submit = 0, end = 0;
    SlurmAction told = SlurmAction::finish;
    Second told_start = 0;
  };
  class Groups;

  State& at(int job) { return state_[static_cast<std::size_t>(job)]; }
  const SlurmJob& given(int job) const { return jobs_[static_cast<std::size_t>(job)]; }
  const SlurmPartition& part(int job) const {
    return machine_.parts[static_cast<std::size_t>(given(job).partition)];
  }
  Second rounded(Second time) const;  // down to bf_resolution of the Unix clock

  // queue
  double priority_of(int job, double time) const;
  bool before(int a, int b) const;
  void enqueue(int job);
  void recalculate(double time);  // PriorityCalcPeriod
  void drop_started();            // a pass has put -1 in their places

  // nodes
  bool choose_now(int job, const NodeBits& allowed, NodeBits& chosen);
  // The earliest slot on avail_ given running jobs alone: its start, and its nodes in chosen_.
  bool will_run(int job, Second now, bool now_only, Second& begin);
  void release_in_order();
  bool will_run_linear(int job, Second now, Second& begin);
  bool will_run_groups(int job, int count, Second now, Second& begin);
  bool will_run_cores(int job, Second now, bool now_only, Second& begin);
  bool own_cores() const { return !machine_.node_cores.empty(); }
  void take_cores(int job);
  void give_cores(int job);
  Second expected_end(int job, Second now) const;
  void start(int job, const NodeBits& nodes, double time, bool backfill);

  // passes
  bool holds_back(int job, Second now) const;  // too young, or of too low priority, to block others
  bool skipped_by_count(int job);
  Second window(int job, Second from, Second limit, Second now, int& at);
  enum class Test { started, next, stop };
  Second begin_on_available(int job, Second now, bool now_only, bool& counted);
  bool start_on_available(int job, double time);
  Test test(int job, Second now, double time, Second cycle);
  Test reserve(int job, double time, Second begin, Second first, Second last);
  bool same_as_last(double time, Second cycle);
  Second first_due_after(Second now) const;
  void clear_planned(Second now);
  void keep_planned(Second now);

  void note(double time, int job, SlurmAction action, Second start, Second end,
            const NodeBits* nodes = nullptr);
  void tell(double time, int job, SlurmAction action, Second start = 0);

  const SlurmMachine& machine_;
  const std::vector<SlurmJob>& jobs_;
  const SlurmClocks& clocks_;

  // parameters, read once
  Second bf_interval_, bf_resolution_, bf_window_, bf_max_time_, over_time_, kill_wait_,
      complete_wait_, bf_min_age_, calc_period_;
  int bf_max_job_test_, bf_map_size_, bf_max_job_start_, bf_user_, bf_part_, bf_user_part_,
      window_scale_, queue_depth_, part_depth_, max_job_start_;
  bool cons_tres_, multifactor_, age_counts_, favor_small_, relative_;
  double bf_min_prio_, weight_age_, max_age_, weight_size_, weight_part_;

  std::vector<State> state_;
  std::vector<char> ended_;
  std::vector<int> queue_;    // pending, in order
  std::vector<int> running_;  // by (due, job)
  std::vector<int> completing_;
  std::vector<NodeBits> released_;
  std::int64_t released_changes_ = -1;
  NodeBits up_, busy_, cleaning_;  // all; of running jobs; of completing jobs
  NodeBits planned_;
  std::vector<int> free_cores_, later_cores_;  // where jobs share nodes
  NodeBits avail_, open_, chosen_, some_;      // scratch, kept so that nothing is allocated
  SlurmMap map_;
  Second map_end_ = 0, next_slot_ = 0;
  // The last cycle's plan holds until then, as long as nothing changes.
  Second valid_until_ = 0;
  std::int64_t changes_ = 0, planned_changes_ = -1;
  bool moved_ = false;  // it had to move a start behind what running jobs require
  std::vector<int> by_user_, by_part_, by_user_part_;  // tests in this cycle
  Second job_update_ = 0, node_update_ = 0;
  std::int64_t calculated_ = -1;  // period of the last calculation of priorities
  int sequence_ = 0;              // of submissions
  int users_ = 0, tests_ = 0, starts_ = 0;
  bool told_, plans_;
  std::vector<int> started_, timed_out_;
  SlurmOutcome outcome_;
};

}  // namespace cosched::cluster::slurm
