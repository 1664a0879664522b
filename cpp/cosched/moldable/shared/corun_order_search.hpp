// Annealing over orders of jobs that share the machine.
#pragma once

#include <array>

#include "cosched/core/rng.hpp"
#include "cosched/moldable/shared/corun_simulator.hpp"

namespace cosched::moldable::shared {

struct CorunOrderSearchParams {
  /// The part of the mean end that counts beside the makespan, so that moves on a plateau of the
  /// makespan lead somewhere.
  double plateau = 1e-3;
  /// Moves at one temperature.
  int moves_per_temperature = 64;
  /// Weights of the kinds of moves, of which one is drawn.
  int count_moves = 5, count_trades = 4, swaps = 9, insertions = 3, reversals = 3,
      concurrency_moves = 12;
  /// One swap or insertion in `near_draws` is to a place at most `near_places` away, as are all
  /// trades of counts.
  int near_draws = 3, near_places = 2;
  /// A move of a count draws any count once in so many times, and else the next larger or smaller.
  int any_count_draws = 5;
  /// Operations of a move besides those of the simulation.
  std::int64_t move_operations = 4;
  /// Jobs that every other reversal takes at most; the others may take all.
  int short_reversal = 8;
};

/// A schedule as an order of jobs, each with a decision: a count, and how many other jobs may run
/// when it starts (`max_concurrent`).  A job starts after the job before it in the order, at time 0
/// or at the end of a job, as soon as it fits and no more than max_concurrent others run.
///
/// So every schedule whose jobs start at 0 or at ends of jobs has such an order, also where a job
/// waits beside idle processors; and a job that moves in the order keeps its decision to wait.
///
/// Example: jobs A, B, C with max_concurrent 0, 1, 0 on enough processors.  A starts at 0, B beside
/// it, and C when both have ended.
///
/// A move is evaluated by simulation from the first place that it touches on, and only until the
/// state of the machine is that of the schedule before the move.  States before each place are kept
/// for accepted moves only.
///
/// Requires an instance without releases, and counts on which each job fits.
class CorunOrderSearch {
 public:
  /// All references must outlive it.  Requires an instance whose jobs share something.
  CorunOrderSearch(const Instance& instance, const list::Decoder& decoder, Rng& rng,
                   const CorunOrderSearchParams& params = {});

  /// Anneals from the schedule `start`; the temperature falls from `first_temperature` to
  /// `last_temperature`, which are parts of the makespan, in about `operations`.  O(k^2) for each
  /// simulated start, k being the jobs that run.  May throw as check_interrupt(): best() stays
  /// valid.
  void anneal(const Placement& start, double first_temperature, double last_temperature,
              std::int64_t operations);

  /// The shortest schedule of the last annealing, decoded anew; without jobs before the first.
  Placement best() const;

 private:
  // Jobs of a reversed segment that keep the first of its max_concurrent.
  static constexpr int kWaitingJobs = 3;

  struct StartDecision {
    int count_index;     // in the counts of the job
    int max_concurrent;  // other jobs that may run when it starts
  };

  void load_schedule(const Placement& schedule);
  bool propose_move(double temperature);
  void accept_move(int first, double value);
  void undo_move();

  // Each makes a move and returns the first place that it changes; job_count_ if it changes
  // nothing.
  int apply_random_move();
  int change_count(int place);
  int trade_counts(int place);
  int swap_jobs(int place);
  int move_job(int place);
  int reverse_segment(int place);
  int change_max_concurrent(int place);

  int draw_place(int place);
  int draw_near_place(int place);
  int draw_sign() { return rng_.below(2) == 0 ? 1 : -1; }
  int last_count(int job) const { return static_cast<int>(simulator_.counts(job).size()) - 1; }
  int neighbour_count(int job, int step) const;
  int nearest_count(int job, int procs) const;

  void change_decision(int job, StartDecision decision);
  void set_decision(int job, StartDecision decision);
  void save_segment(int first, int last);
  double evaluate_from(int first, double cutoff);
  bool can_start(const CorunSimulator::MachineState& state, int place) const;

  const Instance& instance_;
  Rng& rng_;
  CorunOrderSearchParams params_;
  int job_count_;
  CorunSimulator simulator_;

  std::vector<int> order_, best_order_;
  std::vector<StartDecision> decisions_, best_decisions_;  // of each job
  double value_ = 0, best_value_ = 0;
  // The state in which the job at each place starts, and at last that after the last start.
  std::vector<CorunSimulator::MachineState> state_before_;
  CorunSimulator::MachineState state_;  // of the simulation
  std::vector<double> job_starts_, job_ends_;

  // Of the move that is proposed.
  std::vector<CorunSimulator::JobEnd> proposal_ends_;
  int last_changed_ = 0;  // the last place that it changes
  int resync_at_ = 0;     // the place from which on states are those before the move
  std::vector<std::pair<int, StartDecision>> saved_decisions_;  // jobs with what they had before
  std::vector<int> saved_order_;                                // the order from saved_from_ on
  int saved_from_ = 0;
  std::int64_t operations_ = 0;
};

}  // namespace cosched::moldable::shared
