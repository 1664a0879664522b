#include "cosched/cluster/batch/conservative.hpp"

#include <algorithm>
#include <utility>

#include "cosched/cluster/batch/events.hpp"
#include "cosched/cluster/batch/node_plan.hpp"
#include "cosched/cluster/batch/profile.hpp"

namespace cosched::cluster::batch {
namespace {

// Jobs with the run times that are planned.
std::vector<BatchJob> planned_jobs(const Instance& instance, Estimates estimates) {
  std::vector<BatchJob> jobs = batch_jobs(instance, estimates);
  for (BatchJob& job : jobs)
    if (job.expected == 0) job.expected = 1;
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
    running_.erase(std::find(running_.begin(), running_.end(), rank));
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
        this->note(rank, Action::wait, Reason::promised, -1, slots_[rank].start);
  }

 private:
  // Of a job that runs, or by its promise.
  double expected_end(int rank) const { return slots_[rank].start + jobs_[rank].expected; }
  bool promised(int rank) const { return slots_[rank].start < kInfinity; }

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
  bool early_ = false, overdue_ = false;
};

}  // namespace

PlacedOutcome conservative(const Instance& instance, const Layout& layout, const Order& order,
                           Estimates estimates, DecisionLog* log) {
  require_layout_fits(instance, layout);
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
  require_site_fits(instance, site);
  Conservative<NodeBook> policy(instance, site, order, estimates, log);
  Outcome outcome = policy.run();
  std::vector<Placement> placements(policy.slots().size());
  for (std::size_t rank = 0; rank < placements.size(); ++rank)
    placements[policy.job_at(rank)] = policy.slots()[rank].share;
  return {std::move(outcome), std::move(placements)};
}

}  // namespace cosched::cluster::batch
