// Which nodes a job gets, and from when: select/linear and select/cons_tres on whole nodes or
// shared ones (RULES.md 5).
#pragma once

#include "cosched/core/loan.hpp"
#include "cosched/slurm/select/best_fit.hpp"
#include "cosched/slurm/select/end_batches.hpp"
#include "cosched/slurm/select/overlapping_cores.hpp"
#include "cosched/slurm/select/will_run_cache.hpp"

namespace cosched::slurm {

class Select {
 public:
  /// `epoch`: Unix time of second 0.  `memoises`: answers of will-run tests are remembered, which
  /// changes nothing but the time that tests take.  Requires that scenario and allocations outlive
  /// it.
  Select(const Scenario& scenario, const Allocations& allocations, Second epoch,
         bool memoises = true);

  /// SELECT_MODE_RUN_NOW: nodes of `allowed_nodes` and of the entry's partition on which the job
  /// can start at once; none where there are too few.  Lent until the next call.
  Loan<NodeChoice> select_now(QueueEntry entry, const NodeBits& allowed_nodes);

  struct Slot {
    Second begin;
    Loan<NodeBits> nodes;  // until the next call of will_run()
  };
  /// When a job may begin.
  struct StartWindow {
    Second now;
    bool starts_now_or_never = false;
    Second from = 0;              // the earliest begin
    Second later_start = kNever;  // a later begin is tested another time (RULES.md 12.2)
  };
  /// SELECT_MODE_WILL_RUN: the earliest slot on `avail_nodes`, given the running jobs and their
  /// limits alone.
  std::optional<Slot> will_run(QueueEntry entry, const NodeBits& avail_nodes,
                               const StartWindow& window);

  /// SELECT_MODE_TEST_ONLY: whether the job could run on `allowed_nodes` of the partition if no
  /// other job did.
  bool could_run(QueueEntry entry, const NodeBits& allowed_nodes);

  bool remembers_answers() const { return memoises_; }
  /// Node weights that tests leave for later ones.  An answer depends on them, and on what runs.
  const Weights& weights() const { return is_24_11_ ? no_weights_ : weights_; }
  void restore_weights(const Weights& weights);
  /// Grows at every test that may leave other weights for later ones.
  std::int64_t weights_version() const { return weights_version_; }

 private:
  bool gather_and_choose(QueueEntry entry, const NodeBits& nodes,
                         const FreeResources& free_resources, const CoreMap& core_map,
                         NodeChoice& choice);
  bool choose_from_gathered(const FreeResources& free_resources, NodeChoice& choice);
  bool choose_candidates(QueueEntry entry, NodeChoice& choice);
  bool could_run_on(QueueEntry entry, const NodeBits& nodes);

  std::optional<Slot> will_run_on(QueueEntry entry, const NodeBits& avail_nodes,
                                  const StartWindow& window);
  int compute_will_run(QueueEntry entry, const NodeBits& avail_nodes, const StartWindow& window);
  int will_run_linear(int wanted_count, const NodeBits& avail_nodes);
  int will_run_batches(int wanted_count, const NodeBits& avail_nodes, const StartWindow& window);
  int will_run_shared(QueueEntry entry, const NodeBits& avail_nodes, const StartWindow& window);
  EndBatches end_batches(const NodeBits& avail_nodes, const StartWindow& window);
  Second expected_end(int job, Second now) const;

  void update_released_nodes();
  void reset_projection();
  void project_end(const RunningByEnd::RunningJob& ending, const NodeBits& avail_nodes,
                   bool updates_candidates);
  void project_release(const Share& share, bool updates_candidates);
  void reset_weights(const NodeBits& nodes, bool completing_last);

  const Scenario& scenario_;
  const Allocations& allocations_;
  const Second epoch_;
  const bool is_24_11_;
  const bool memoises_;
  WillRunCache cache_;

  Weights weights_;  // as the last tests left them
  const Weights no_weights_;
  std::int64_t weights_version_ = 0;

  // What will-run tests derive from the allocations of a version.
  RunningByEnd running_by_end_;
  std::vector<NodeBits> released_nodes_;  // idle once the first k running jobs have ended
  std::int64_t released_version_ = -1;
  // What is free after the expected ends of running jobs: as in the allocations, but for the
  // projected nodes.
  FreeResources projected_resources_;
  CoreMap projected_cores_;
  std::vector<int> projected_nodes_;
  std::int64_t projection_version_ = -1;

  const FreeResources empty_machine_;
  const CoreMap no_cores_taken_;
  OverlappingCores overlapping_cores_;
  Candidates candidates_;  // of the last test
  BestFit best_fit_;

  // Scratch, kept so that nothing is allocated.
  NodeBits candidate_nodes_;
  NodeBits line_nodes_;  // of NodeName lines, or of one alternative set
  NodeBits set_nodes_;   // of alternative sets
  NodeBits best_nodes_;  // of the best alternative set
  NodeChoice run_now_choice_;
  NodeChoice will_run_choice_;
  NodeChoice test_only_choice_;
  Lender select_now_lender_;  // of run_now_choice_
  Lender will_run_lender_;    // of will_run_choice_ and best_nodes_
};

}  // namespace cosched::slurm
