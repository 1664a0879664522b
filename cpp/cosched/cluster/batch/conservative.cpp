#include "cosched/cluster/batch/conservative.hpp"

#include <algorithm>
#include <utility>

#include "cosched/cluster/batch/batch_events.hpp"
#include "cosched/cluster/batch/cell_plan_state.hpp"
#include "cosched/cluster/batch/node_plan_state.hpp"
#include "cosched/cluster/batch/queue_order.hpp"
#include "cosched/core/found.hpp"

namespace cosched::cluster::batch {
namespace {

// For Poll: about a nanosecond each.
constexpr int kStepsPerWaitingJob = 5;
constexpr int kStepsPerPromise = 300;

// Jobs with the run times that are planned: at least 1 s, and finite.
std::vector<BatchJob> make_planned_jobs(const Instance& instance, Estimates estimates) {
  std::vector<BatchJob> jobs = make_batch_jobs(instance, estimates);
  for (BatchJob& job : jobs) {
    if (job.expected_runtime == 0) job.expected_runtime = 1;
    job.expected_runtime = std::min(job.expected_runtime, kUnlimitedRuntime);
  }
  return jobs;
}

// PlanState is CellPlanState or NodePlanState, made of a `machine`: a Layout or a Site.
template <class PlanState>
class Conservative : public BatchEvents<Conservative<PlanState>> {
  using Events = BatchEvents<Conservative<PlanState>>;
  using Events::jobs_;
  using Events::now;
  using Events::poll_;
  using JobSlot = typename PlanState::JobSlot;
  using RunningJobShare = RunningShare<typename PlanState::JobShare>;

 public:
  template <class Machine>
  Conservative(const Instance& instance, const Machine& machine, const QueueOrder& order,
               Estimates estimates, DecisionLog* log)
      : Events(instance, make_planned_jobs(instance, estimates), log),
        order_(order),
        plan_state_(machine, jobs_),
        slots_(jobs_.size(), {kInfinity, plan_state_.empty_share()}) {}

  SimulationOutcome run() { return this->simulate(); }
  // After the run: what each job had, by rank.
  const std::vector<JobSlot>& slots() const { return slots_; }
  int job_at(std::size_t rank) const { return jobs_[rank].job; }

  void on_submit(int rank) { queue_.push_back(rank); }

  void on_completion(int rank) {
    const JobSlot& slot = slots_[rank];
    plan_state_.release_now(slot.share);
    erase_found(running_, rank, "a running job");
    if (expected_end(rank) <= now()) return;
    plan_state_.plan().release(now(), expected_end(rank), slot.share);
    plan_state_.on_release(slot.share);
    has_early_completion_ = true;
  }

  double next_pass_time() const { return next_pass_time_; }

  void run_pass(bool /*has_completions*/, int first_new_rank) {
    sort_queue(queue_, 0, queue_.size() - this->submitted_since(first_new_rank), order_, jobs_,
               now());
    update_promises();
    has_early_completion_ = false;
    start_promised_jobs();
    set_next_pass_time();
    if (this->has_log()) log_promises();
  }

 private:
  // Of a running job, or by its promise.
  double expected_end(int rank) const { return slots_[rank].start + jobs_[rank].expected_runtime; }
  bool has_promise(int rank) const { return slots_[rank].start < kInfinity; }

  // Whether a running job has outlived its estimate.
  bool has_overdue_job() const {
    return std::any_of(running_.begin(), running_.end(), [&](int rank) {
      return expected_end(rank) <= now() && this->end_of(rank) > now();
    });
  }

  // Gives promises to new jobs and moves others forward.  As long as a job is overdue, and once
  // more after it has ended, all promises are made anew.
  void update_promises() {
    const bool is_overdue = has_overdue_job();
    if (is_overdue || was_overdue_) {
      make_all_promises_anew();
    } else {
      plan_state_.plan().advance(now());
      for (const int rank : queue_) {
        if (!has_promise(rank))
          make_promise(rank);
        else if (has_early_completion_)
          move_promise_forward(rank);
      }
    }
    was_overdue_ = is_overdue;
  }

  void make_all_promises_anew() {
    std::vector<RunningJobShare> running_shares;
    for (const int rank : running_)
      running_shares.push_back({expected_end(rank), &slots_[rank].share});
    plan_state_.plan().reset(now(), std::move(running_shares));
    plan_state_.on_plan_reset();
    for (const int rank : queue_) make_promise(rank);
  }

  void make_promise(int rank) {
    if (jobs_[rank].expected_runtime >= kUnlimitedRuntime) {
      ++unlimited_promises_;
      jobs_[rank].expected_runtime = kUnlimitedRuntime + unlimited_promises_;
    }
    slots_[rank] = plan_state_.find_earliest_slot(rank, now());
    plan_state_.plan().reserve(slots_[rank].start, expected_end(rank), slots_[rank].share);
    poll_.count(kStepsPerPromise);
  }

  // The job gives its slot back and takes the earliest one.  If that is no earlier, it keeps its
  // own slot, and so its nodes.
  void move_promise_forward(int rank) {
    JobSlot& slot = slots_[rank];
    const bool is_proven_earliest = plan_state_.prove_no_earlier_start(rank, now(), slot);
    if (is_proven_earliest) return;
    plan_state_.plan().release(slot.start, expected_end(rank), slot.share);
    JobSlot earlier_slot = plan_state_.find_slot_before(rank, now(), slot.start);
    if (earlier_slot.start < slot.start) {
      plan_state_.on_release(slot.share);
      slot = std::move(earlier_slot);
    }
    plan_state_.plan().reserve(slot.start, expected_end(rank), slot.share);
    poll_.count(kStepsPerPromise);
  }

  // Starts the jobs whose promised time has come and whose nodes are free.  The nodes of a promise
  // are not free yet where a job has outlived its estimate.
  void start_promised_jobs() {
    std::size_t waiting_jobs = 0;
    for (const int rank : queue_) {
      if (slots_[rank].start <= now() && plan_state_.is_free_now(slots_[rank].share)) {
        start_promised_job(rank);
      } else {
        queue_[waiting_jobs] = rank;
        ++waiting_jobs;
      }
    }
    queue_.resize(waiting_jobs);
    poll_.count(kStepsPerWaitingJob * static_cast<std::int64_t>(queue_.size()));
  }

  void start_promised_job(int rank) {
    this->start_job(rank, Reason::promised, -1, slots_[rank].start);
    slots_[rank].start = now();
    plan_state_.allocate_now(slots_[rank].share);
    running_.push_back(rank);
  }

  // The next promised start.  Also the next expected end: if the job outlives it, all promises are
  // made anew.
  void set_next_pass_time() {
    next_pass_time_ = kInfinity;
    for (const int rank : queue_)
      if (slots_[rank].start > now())
        next_pass_time_ = std::min(next_pass_time_, slots_[rank].start);
    for (const int rank : running_)
      if (expected_end(rank) > now())
        next_pass_time_ = std::min(next_pass_time_, expected_end(rank));
  }

  // Logs the promises to jobs that were submitted now: infinity behind a job without a limit.
  void log_promises() {
    for (const int rank : queue_) {
      if (jobs_[rank].submit < now()) continue;
      const double start = slots_[rank].start;
      this->log_decision(rank, JobAction::wait, Reason::promised, -1,
                         start < kUnlimitedRuntime ? start : kInfinity);
    }
  }

  const QueueOrder& order_;
  PlanState plan_state_;
  std::vector<JobSlot> slots_;  // by rank: promised, and when the job runs, its actual one
  std::vector<int> running_;    // ranks
  std::vector<int> queue_;      // ranks
  double next_pass_time_ = kInfinity;
  double unlimited_promises_ = 0;      // made so far to jobs without a limit
  bool has_early_completion_ = false;  // since the last pass a job ended before its expected end
  bool was_overdue_ = false;           // at the last pass a running job had outlived its estimate
};

}  // namespace

PlacedOutcome run_conservative(const Instance& instance, const Layout& layout,
                               const QueueOrder& order, Estimates estimates, DecisionLog* log) {
  Conservative<CellPlanState> policy(instance, layout, order, estimates, log);
  SimulationOutcome outcome = policy.run();
  const std::size_t cell_count = layout.nodes.size();
  std::vector<int> shares(policy.slots().size() * cell_count);
  for (std::size_t rank = 0; rank < policy.slots().size(); ++rank) {
    const NodesPerCell& share = policy.slots()[rank].share;
    std::copy(share.begin(), share.end(),
              shares.begin() + static_cast<std::ptrdiff_t>(cell_count) * policy.job_at(rank));
  }
  return {std::move(outcome), std::move(shares)};
}

SiteOutcome run_conservative(const Instance& instance, const Site& site, const QueueOrder& order,
                             Estimates estimates, DecisionLog* log) {
  Conservative<NodePlanState> policy(instance, site, order, estimates, log);
  SimulationOutcome outcome = policy.run();
  std::vector<NodePlacement> placements(policy.slots().size());
  for (std::size_t rank = 0; rank < placements.size(); ++rank)
    placements[policy.job_at(rank)] = policy.slots()[rank].share;
  return {std::move(outcome), std::move(placements)};
}

}  // namespace cosched::cluster::batch
