#include "cosched/cluster/batch/backfilling.hpp"

#include <type_traits>

#include "cosched/cluster/batch/cells.hpp"
#include "cosched/cluster/batch/node_plan.hpp"
#include "cosched/cluster/batch/profile.hpp"
#include "cosched/core/found.hpp"

namespace cosched::cluster::batch {
namespace {

template <class Cells>
class FcfsEasy : public BatchEvents<FcfsEasy<Cells>> {
  using Events = BatchEvents<FcfsEasy<Cells>>;
  using Events::jobs_;
  using Events::now;
  using Events::poll_;
  using Reservation = typename Cells::Reservation;

 public:
  // `place`: what Cells are made of.
  template <class Place>
  FcfsEasy(const Instance& instance, Rule rule, std::vector<BatchJob> jobs, const Order& order,
           const Place& place, DecisionLog* log)
      : Events(instance, std::move(jobs), log), rule_(rule), order_(order), cells_(place(jobs_)) {}

  Outcome run() { return this->simulate(); }
  const Cells& cells() const { return cells_; }

  void submitted(int rank) { queue_.push_back(rank); }
  void completed(int rank) { cells_.give(rank, rule_ == Rule::easy ? this->start_of(rank) : 0); }
  double wake() const { return kInfinity; }

  void pass(bool freed, int known) {
    const std::size_t first_new = queue_.size() - this->submitted_since(known);
    const bool ordered = !kPlain && put_in_order(queue_, head_, first_new, order_, jobs_, now());
    // Without freed nodes and before the shadow time, what could not start still cannot.
    const bool same =
        kPlain && !ordered && !freed && !reserved_.empty() && now() <= reserved_.front().shadow;
    if (!same) {
      reserved_.clear();
      blocked_ = 0;
      start_head();
    }
    if (head_ == queue_.size()) {
      queue_.clear();
      head_ = 0;
      return;
    }
    start_others(same ? first_new : head_ + 1);
    if (this->logs()) note_waits(known);
  }

 private:
  // A queue in order of submission on nodes that are all alike.
  static constexpr bool kPlain = std::is_same_v<Cells, OneCell>;

  void begin(int rank, Reason reason, int other, double value) {
    this->start(rank, reason, other, value);
    cells_.take(rank, now());
  }

  // The jobs that nobody waits before; the first that does not fit waits.
  void start_head() {
    for (; head_ < queue_.size(); ++head_) {
      const int rank = queue_[head_];
      if (!cells_.choose(rank, cells_.allowed(rank), 0)) return wait(rank);
      begin(rank, Reason::head_of_queue, -1, cells_.free(rank));
    }
  }

  void wait(int rank) {
    const std::uint64_t allowed = cells_.allowed(rank);
    if (rule_ == Rule::easy && (allowed & ~blocked_) != 0)
      reserved_.push_back(cells_.reserve(rank, now()));
    blocked_ |= allowed;
  }

  // Jobs from this place of the queue on, behind one that waits.
  void start_others(std::size_t from) {
    std::size_t kept = from, at = from;
    const bool passing = rule_ == Rule::easy;
    while (at < queue_.size() && (passing ? cells_.any_free() : !cells_.all_blocked(blocked_))) {
      const int rank = queue_[at++];
      const std::uint64_t allowed = cells_.allowed(rank);
      if (cells_.choose(rank, passing ? allowed : allowed & ~blocked_, blocked_) && spares(rank)) {
        start_other(rank);
      } else {
        queue_[kept++] = rank;
        if (!kPlain) wait(rank);  // on nodes that are all alike only the first reserves
      }
    }
    poll_.count(4 * static_cast<std::int64_t>(at - from));
    if (kept < at)
      queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(kept),
                   queue_.begin() + static_cast<std::ptrdiff_t>(at));
    if (head_ > 4096 && head_ > queue_.size() / 2) {
      queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(head_));
      head_ = 0;
    }
  }

  // A job without a limit is never in time, also where the holder waits for another one without.
  bool in_time(int rank, const Reservation& other) const {
    const double expected = jobs_[rank].expected;
    return expected < kInfinity && now() + expected <= other.shadow;
  }

  // Whether starting the job now delays nobody who has a reservation.
  bool spares(int rank) {
    const auto spared = [&](Reservation& other) {
      return in_time(rank, other) || cells_.spared(rank, other);
    };
    if (kPlain) return spared(reserved_.front());  // there is one
    return std::all_of(reserved_.begin(), reserved_.end(), spared);
  }

  void start_other(int rank) {
    if (reserved_.empty()) return begin(rank, Reason::head_of_queue, -1, cells_.free(rank));
    const Reservation& last = reserved_.back();
    const bool early = in_time(rank, last);
    const int extra = last.extra;
    for (Reservation& other : reserved_)
      if (!in_time(rank, other)) cells_.use_up(rank, other);
    if (early)
      begin(rank, Reason::backfill_in_time, last.rank, last.shadow);
    else  // the plain log tells what there was, the other what is left
      begin(rank, Reason::backfill_extra, last.rank, kPlain ? extra : last.extra);
  }

  // Why jobs that came now are still in the queue.
  void note_waits(int known) {
    for (std::size_t at = head_; at < queue_.size(); ++at) {
      const int rank = queue_[at];
      if (kPlain ? rank < known : jobs_[rank].submit < now()) continue;
      const int free = cells_.free(rank);
      if (jobs_[rank].tasks > free)
        this->note(rank, Action::wait, Reason::too_few_nodes, -1, free);
      else if (kPlain && rule_ == Rule::easy)
        this->note(rank, Action::wait, Reason::reservation, queue_[head_], reserved_[0].shadow);
      else if (std::is_same_v<Cells, NodeCells> && at == head_)
        this->note(rank, Action::wait, Reason::no_nodes, -1, free);
      else
        this->note(rank, Action::wait, Reason::behind_queue, queue_[head_], 0);
    }
  }

  const Rule rule_;
  const Order& order_;
  Cells cells_;
  std::vector<int> queue_;  // ranks in order, from head_ on
  std::size_t head_ = 0;
  std::vector<Reservation> reserved_;  // of jobs that the last pass found waiting
  std::uint64_t blocked_ = 0;          // cells that they may use
};

Outcome run_plain(const Instance& instance, Rule rule, Estimates estimates, DecisionLog* log) {
  require_batch_fits(instance);
  const auto place = [&](const std::vector<BatchJob>& jobs) {
    return OneCell(instance.nodes(), rule == Rule::easy, jobs);
  };
  const Order by_submission;
  return FcfsEasy<OneCell>(instance, rule, batch_jobs(instance, estimates), by_submission, place,
                           log)
      .run();
}

// Jobs with the run times that are planned.
std::vector<BatchJob> planned_jobs(const Instance& instance, Estimates estimates) {
  std::vector<BatchJob> jobs = batch_jobs(instance, estimates);
  for (BatchJob& job : jobs) {
    if (job.expected == 0) job.expected = 1;
    job.expected = std::min(job.expected, kNoEnd);
  }
  return jobs;
}

// A plan and what is free now, in nodes of cells: the counterpart of NodeBook.
class CellBook {
 public:
  using Plan = Profile;
  using Share = NodesPerCell;

  CellBook(const Layout& layout, const std::vector<BatchJob>& jobs)
      : plan(layout.nodes), layout_(layout), jobs_(jobs), free_(layout.nodes) {}

  Share nothing() const { return Share(free_.size()); }
  Plan::Slot earliest(int rank, double now) {
    const BatchJob& job = jobs_[rank];
    if (layout_.holds(job.job)) return {now, layout_.held_of_cells(job.job)};
    return plan.earliest(now, job.tasks, job.expected, layout_.allowed[job.job]);
  }
  // The same if it is before that start, else any that is not.
  Plan::Slot sooner(int rank, double now, double) { return earliest(rank, now); }
  // Whether it is sure that no start before its own is there.
  bool stuck(int rank, double now, const Plan::Slot& own) {
    const BatchJob& job = jobs_[rank];
    return free_.size() == 1 ? plan.sooner(now, job.tasks, job.expected, own.start) == own.start
                             : !plan.room(job.tasks, own.start);
  }
  void given(const Share&) {}
  void restarted() {}
  bool fits(const Share& share) const {
    for (std::size_t c = 0; c < free_.size(); ++c)
      if (share[c] > free_[c]) return false;
    return true;
  }
  void give(const Share& share, int sign) {
    for (std::size_t c = 0; c < free_.size(); ++c) free_[c] += sign * share[c];
  }

  Plan plan;

 private:
  const Layout& layout_;
  const std::vector<BatchJob>& jobs_;
  NodesPerCell free_;
};

template <class Book>
class Conservative : public BatchEvents<Conservative<Book>> {
  using Events = BatchEvents<Conservative<Book>>;
  using Events::jobs_;
  using Events::now;
  using Events::poll_;
  using Plan = typename Book::Plan;

 public:
  template <class Place>
  Conservative(const Instance& instance, const Place& place, const Order& order,
               Estimates estimates, DecisionLog* log)
      : Events(instance, planned_jobs(instance, estimates), log),
        order_(order),
        book_(place, jobs_),
        slots_(jobs_.size(), {kInfinity, book_.nothing()}) {}

  Outcome run() { return this->simulate(); }
  /// What each job had, by rank.
  const std::vector<typename Plan::Slot>& slots() const { return slots_; }
  int job_at(std::size_t rank) const { return jobs_[rank].job; }

  void submitted(int rank) { queue_.push_back(rank); }

  void completed(int rank) {
    const typename Plan::Slot& slot = slots_[rank];
    book_.give(slot.share, +1);
    erase_found(running_, rank, "a running job");
    if (expected_end(rank) > now()) {
      book_.plan.change(now(), expected_end(rank), slot.share, +1);
      book_.given(slot.share);
      early_ = true;
    }
  }

  double wake() const { return wake_; }

  void pass(bool, int known) {
    put_in_order(queue_, 0, queue_.size() - this->submitted_since(known), order_, jobs_, now());
    plan();
    early_ = false;
    start_planned();
    poll_.count(5 * static_cast<std::int64_t>(queue_.size()));
    if (!this->logs()) return;
    for (const int rank : queue_)
      if (jobs_[rank].submit >= now())
        this->note(rank, Action::wait, Reason::promised, -1, told_start(rank));
  }

 private:
  // Of a job that runs, or by its promise.
  double expected_end(int rank) const { return slots_[rank].start + jobs_[rank].expected; }
  bool promised(int rank) const { return slots_[rank].start < kInfinity; }
  // Infinite behind a job without a limit.
  double told_start(int rank) const {
    const double start = slots_[rank].start;
    return start < kNoEnd ? start : kInfinity;
  }

  void plan() {
    const bool late = std::any_of(running_.begin(), running_.end(), [&](int rank) {
      return expected_end(rank) <= now() && this->end_of(rank) > now();
    });
    if (late || overdue_) {
      std::vector<typename Plan::Busy> busy;
      for (const int rank : running_) busy.push_back({expected_end(rank), &slots_[rank].share});
      book_.plan.reset(now(), std::move(busy));
      book_.restarted();
      for (const int rank : queue_) promise(rank);
    } else {
      book_.plan.advance(now());
      for (const int rank : queue_) {
        if (!promised(rank))
          promise(rank);
        else if (early_)
          move_forward(rank);
      }
    }
    overdue_ = late;
  }

  void promise(int rank) {
    if (jobs_[rank].expected >= kNoEnd) jobs_[rank].expected = kNoEnd + ++unlimited_promises_;
    slots_[rank] = book_.earliest(rank, now());
    book_.plan.change(slots_[rank].start, expected_end(rank), slots_[rank].share, -1);
    poll_.count(300);
  }

  // The job gives its slot back and takes the earliest one; if that is no earlier, it keeps its
  // own.
  void move_forward(int rank) {
    typename Plan::Slot& own = slots_[rank];
    if (book_.stuck(rank, now(), own)) return;
    book_.plan.change(own.start, expected_end(rank), own.share, +1);
    typename Plan::Slot slot = book_.sooner(rank, now(), own.start);
    if (slot.start < own.start) {
      book_.given(own.share);
      own = std::move(slot);
    }
    book_.plan.change(own.start, expected_end(rank), own.share, -1);
    poll_.count(300);
  }

  void start_planned() {
    wake_ = kInfinity;
    const auto starts = [&](int rank) {
      if (slots_[rank].start > now()) {
        wake_ = std::min(wake_, slots_[rank].start);
        return false;
      }
      if (!book_.fits(slots_[rank].share)) return false;
      this->start(rank, Reason::promised, -1, slots_[rank].start);
      slots_[rank].start = now();
      book_.give(slots_[rank].share, -1);
      running_.push_back(rank);
      return true;
    };
    queue_.erase(std::remove_if(queue_.begin(), queue_.end(), starts), queue_.end());
    for (const int rank : running_)  // it may outlive its estimate: then plans are made anew
      if (expected_end(rank) > now()) wake_ = std::min(wake_, expected_end(rank));
  }

  const Order& order_;
  Book book_;
  std::vector<typename Plan::Slot> slots_;  // by rank: promised, then held
  std::vector<int> running_, queue_;        // ranks
  double wake_ = kInfinity;
  double unlimited_promises_ = 0;  // made so far to jobs without a limit
  bool early_ = false, overdue_ = false;
};

PlacedOutcome conservative(const Instance& instance, const Layout& layout, const Order& order,
                           Estimates estimates, DecisionLog* log) {
  Conservative<CellBook> policy(instance, layout, order, estimates, log);
  Outcome outcome = policy.run();
  const std::size_t cells = layout.nodes.size();
  std::vector<int> shares(policy.slots().size() * cells);
  for (std::size_t rank = 0; rank < policy.slots().size(); ++rank) {
    const NodesPerCell& share = policy.slots()[rank].share;
    std::copy(share.begin(), share.end(),
              shares.begin() + static_cast<std::ptrdiff_t>(cells) * policy.job_at(rank));
  }
  return {std::move(outcome), std::move(shares)};
}

SiteOutcome conservative(const Instance& instance, const Site& site, const Order& order,
                         Estimates estimates, DecisionLog* log) {
  Conservative<NodeBook> policy(instance, site, order, estimates, log);
  Outcome outcome = policy.run();
  std::vector<Placement> placements(policy.slots().size());
  for (std::size_t rank = 0; rank < placements.size(); ++rank)
    placements[policy.job_at(rank)] = policy.slots()[rank].share;
  return {std::move(outcome), std::move(placements)};
}

}  // namespace

Outcome fcfs(const Instance& instance, DecisionLog* log) {
  return run_plain(instance, Rule::fcfs, Estimates::perfect, log);
}

Outcome easy(const Instance& instance, Estimates estimates, DecisionLog* log) {
  return run_plain(instance, Rule::easy, estimates, log);
}

PlacedOutcome backfill(const Instance& instance, const Layout& layout, Rule rule,
                       const Order& order, Estimates estimates, DecisionLog* log) {
  require_layout_fits(instance, layout);
  if (rule == Rule::conservative) return conservative(instance, layout, order, estimates, log);
  const auto place = [&](const std::vector<BatchJob>& jobs) { return ManyCells(layout, jobs); };
  FcfsEasy<ManyCells> policy(instance, rule, batch_jobs(instance, estimates), order, place, log);
  Outcome outcome = policy.run();
  return {std::move(outcome), policy.cells().shares()};
}

SiteOutcome backfill(const Instance& instance, const Site& site, Rule rule, const Order& order,
                     Estimates estimates, DecisionLog* log) {
  require_site_fits(instance, site);
  if (rule == Rule::conservative) return conservative(instance, site, order, estimates, log);
  const auto place = [&](const std::vector<BatchJob>& jobs) {
    return NodeCells(site, rule == Rule::easy, jobs);
  };
  FcfsEasy<NodeCells> policy(instance, rule, batch_jobs(instance, estimates), order, place, log);
  Outcome outcome = policy.run();
  return {std::move(outcome), policy.cells().placements()};
}

}  // namespace cosched::cluster::batch
