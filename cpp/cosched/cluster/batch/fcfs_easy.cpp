#include "cosched/cluster/batch/fcfs_easy.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "cosched/cluster/batch/batch_events.hpp"
#include "cosched/cluster/batch/many_cells.hpp"
#include "cosched/cluster/batch/node_cells.hpp"
#include "cosched/cluster/batch/one_cell.hpp"
#include "cosched/cluster/batch/queue_order.hpp"
#include "cosched/core/assert.hpp"

namespace cosched::cluster::batch {
namespace {

// The queue loses the places of jobs that have started when they are more than this many and more
// than half of the queue: removing them costs O(1) a job.
constexpr std::size_t kMaxStartedPlaces = 4096;

// For Poll: about a nanosecond each.
constexpr int kStepsPerQueuedJob = 4;

// Cells is OneCell, ManyCells or NodeCells.
template <class Cells>
class FcfsEasy : public BatchEvents<FcfsEasy<Cells>> {
  using Events = BatchEvents<FcfsEasy<Cells>>;
  using Events::jobs_;
  using Events::now;
  using Events::poll_;
  using JobReservation = typename Cells::JobReservation;

 public:
  // make_cells(jobs) returns the Cells.
  template <class MakeCells>
  FcfsEasy(const Instance& instance, BatchRule rule, Estimates estimates, const QueueOrder& order,
           const MakeCells& make_cells, DecisionLog* log)
      : Events(instance, make_batch_jobs(instance, estimates), log),
        rule_(rule),
        order_(order),
        cells_(make_cells(jobs_)) {
    COSCHED_ASSERT(rule != BatchRule::conservative);
  }

  SimulationOutcome run() { return this->simulate(); }
  const Cells& cells() const { return cells_; }

  void on_submit(int rank) { queue_.push_back(rank); }
  void on_completion(int rank) { cells_.release(rank, this->start_of(rank)); }
  double next_pass_time() const { return kInfinity; }

  void run_pass(bool has_completions, int first_new_rank) {
    const std::size_t first_new = queue_.size() - this->submitted_since(first_new_rank);
    const bool is_resorted =
        !kHasOneCell && sort_queue(queue_, head_, first_new, order_, jobs_, now());
    // Without released nodes and before the shadow time, what could not start still cannot.
    const bool can_only_start_new_jobs = kHasOneCell && !is_resorted && !has_completions &&
                                         !reservations_.empty() &&
                                         now() <= reservations_.front().shadow_time;
    if (!can_only_start_new_jobs) {
      reservations_.clear();
      blocked_cells_ = 0;
      start_head();
    }
    if (head_ == queue_.size()) {
      queue_.clear();
      head_ = 0;
      return;
    }
    start_behind_head(can_only_start_new_jobs ? first_new : head_ + 1);
    if (this->has_log()) log_waits(first_new_rank);
  }

 private:
  // The nodes are all alike and the queue is in order of submission.
  static constexpr bool kHasOneCell = std::is_same_v<Cells, OneCell>;

  // On the nodes chosen last.
  void start_on_chosen_nodes(int rank, Reason reason, int other_rank, double value) {
    this->start_job(rank, reason, other_rank, value);
    cells_.allocate(rank, now());
  }

  // Starts jobs in order of the queue; the first that does not fit waits.
  void start_head() {
    for (; head_ < queue_.size(); ++head_) {
      const int rank = queue_[head_];
      const bool fits = cells_.choose_nodes(rank, cells_.open_cells(rank), 0);
      if (!fits) {
        block_cells_for(rank);
        return;
      }
      start_on_chosen_nodes(rank, Reason::head_of_queue, -1, cells_.free_nodes_for(rank));
    }
  }

  // The job waits.  Under EASY it gets a reservation if it may use nodes which no waiting job ahead
  // of it may use.
  void block_cells_for(int rank) {
    const BitSet64 open_cells = cells_.open_cells(rank);
    if (rule_ == BatchRule::easy && (open_cells & ~blocked_cells_) != 0)
      reservations_.push_back(cells_.make_reservation(rank, now()));
    blocked_cells_ |= open_cells;
  }

  // Under FCFS no job may pass another that waits for the same cell.
  bool has_usable_nodes() const {
    return rule_ == BatchRule::easy ? cells_.has_free_nodes()
                                    : cells_.has_free_nodes_outside(blocked_cells_);
  }

  // Starts jobs from this place of the queue on, behind one that waits.
  void start_behind_head(std::size_t first_place) {
    std::size_t waiting_end = first_place;  // jobs that go on waiting are moved up to here
    std::size_t place = first_place;
    while (place < queue_.size() && has_usable_nodes()) {
      const int rank = queue_[place];
      ++place;
      const BitSet64 open_cells = cells_.open_cells(rank);
      const BitSet64 usable_cells =
          rule_ == BatchRule::easy ? open_cells : open_cells & ~blocked_cells_;
      const bool fits = cells_.choose_nodes(rank, usable_cells, blocked_cells_);
      if (fits && delays_no_reservation(rank)) {
        start_backfilled(rank);
      } else {
        queue_[waiting_end] = rank;
        ++waiting_end;
        if (!kHasOneCell) block_cells_for(rank);  // of one cell the head has reserved everything
      }
    }
    poll_.count(kStepsPerQueuedJob * static_cast<std::int64_t>(place - first_place));
    if (waiting_end < place)
      queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(waiting_end),
                   queue_.begin() + static_cast<std::ptrdiff_t>(place));
    if (head_ > kMaxStartedPlaces && head_ > queue_.size() / 2) {
      queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(head_));
      head_ = 0;
    }
  }

  // Whether the job ends by the shadow time.  A job without a limit never does, also where the
  // reservation is behind another job without a limit.
  bool is_in_time(int rank, const JobReservation& reservation) const {
    const double expected_runtime = jobs_[rank].expected_runtime;
    return expected_runtime < kInfinity && now() + expected_runtime <= reservation.shadow_time;
  }

  // Whether starting the job now on the nodes chosen last delays no job that has a reservation.
  bool delays_no_reservation(int rank) {
    const auto is_not_delayed = [&](JobReservation& reservation) {
      return is_in_time(rank, reservation) || cells_.can_spare_nodes(rank, reservation);
    };
    if (kHasOneCell) return is_not_delayed(reservations_.front());  // there is exactly one
    return std::all_of(reservations_.begin(), reservations_.end(), is_not_delayed);
  }

  void start_backfilled(int rank) {
    if (reservations_.empty()) {
      start_on_chosen_nodes(rank, Reason::head_of_queue, -1, cells_.free_nodes_for(rank));
      return;
    }
    const JobReservation& last_reservation = reservations_.back();
    const bool is_in_time_for_last = is_in_time(rank, last_reservation);
    const int extra_nodes_before = last_reservation.extra_nodes;
    for (JobReservation& reservation : reservations_)
      if (!is_in_time(rank, reservation)) cells_.use_extra_nodes(rank, reservation);
    if (is_in_time_for_last) {
      start_on_chosen_nodes(rank, Reason::backfill_in_time, last_reservation.rank,
                            last_reservation.shadow_time);
    } else {
      // With one cell the log tells the extra nodes before this start, else those after it.
      start_on_chosen_nodes(rank, Reason::backfill_extra, last_reservation.rank,
                            kHasOneCell ? extra_nodes_before : last_reservation.extra_nodes);
    }
  }

  // Logs why jobs that were submitted now are still in the queue.
  void log_waits(int first_new_rank) {
    for (std::size_t place = head_; place < queue_.size(); ++place) {
      const int rank = queue_[place];
      const bool is_old = kHasOneCell ? rank < first_new_rank : jobs_[rank].submit < now();
      if (is_old) continue;
      const int free_nodes = cells_.free_nodes_for(rank);
      if (jobs_[rank].tasks > free_nodes)
        this->log_decision(rank, JobAction::wait, Reason::too_few_nodes, -1, free_nodes);
      else if (kHasOneCell && rule_ == BatchRule::easy)
        this->log_decision(rank, JobAction::wait, Reason::reservation, queue_[head_],
                           reservations_[0].shadow_time);
      else if (std::is_same_v<Cells, NodeCells> && place == head_)
        this->log_decision(rank, JobAction::wait, Reason::no_nodes, -1, free_nodes);
      else
        this->log_decision(rank, JobAction::wait, Reason::behind_queue, queue_[head_], 0);
    }
  }

  const BatchRule rule_;
  const QueueOrder& order_;
  Cells cells_;
  std::vector<int> queue_;  // ranks in order, from head_ on
  std::size_t head_ = 0;
  std::vector<JobReservation> reservations_;  // of jobs that the last pass found waiting
  BitSet64 blocked_cells_ = 0;                // cells that waiting jobs may use
};

}  // namespace

SimulationOutcome run_fcfs_easy(const Instance& instance, BatchRule rule, Estimates estimates,
                                DecisionLog* log) {
  const QueueOrder by_submission;
  const auto make_cells = [&](const std::vector<BatchJob>& jobs) {
    return OneCell(instance.nodes(), rule == BatchRule::easy, jobs);
  };
  FcfsEasy<OneCell> policy(instance, rule, estimates, by_submission, make_cells, log);
  return policy.run();
}

PlacedOutcome run_fcfs_easy(const Instance& instance, const Layout& layout, BatchRule rule,
                            const QueueOrder& order, Estimates estimates, DecisionLog* log) {
  const auto make_cells = [&](const std::vector<BatchJob>& jobs) {
    return ManyCells(layout, jobs);
  };
  FcfsEasy<ManyCells> policy(instance, rule, estimates, order, make_cells, log);
  SimulationOutcome outcome = policy.run();
  return {std::move(outcome), policy.cells().shares_by_job()};
}

SiteOutcome run_fcfs_easy(const Instance& instance, const Site& site, BatchRule rule,
                          const QueueOrder& order, Estimates estimates, DecisionLog* log) {
  const auto make_cells = [&](const std::vector<BatchJob>& jobs) {
    return NodeCells(site, rule == BatchRule::easy, jobs);
  };
  FcfsEasy<NodeCells> policy(instance, rule, estimates, order, make_cells, log);
  SimulationOutcome outcome = policy.run();
  return {std::move(outcome), policy.cells().placements_by_job()};
}

}  // namespace cosched::cluster::batch
