#include "cosched/cluster/batch/conservative.hpp"

#include <algorithm>
#include <utility>

#include "cosched/cluster/batch/events.hpp"
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

class Conservative : public BatchEvents<Conservative> {
 public:
  Conservative(const Instance& instance, const Layout& layout, const Order& order,
               Estimates estimates, DecisionLog* log)
      : BatchEvents(instance, planned_jobs(instance, estimates), log),
        layout_(layout),
        order_(order),
        slots_(jobs_.size(), Profile::Slot{kInfinity, NodesPerCell(layout.nodes.size())}),
        free_(layout.nodes),
        plan_(layout.nodes) {}

  PlacedOutcome run() {
    Outcome outcome = simulate();
    return {std::move(outcome), shares()};
  }

  void submitted(int rank) { queue_.push_back(rank); }

  void completed(int rank) {
    const Profile::Slot& slot = slots_[rank];
    give(slot, +1);
    running_.erase(std::find(running_.begin(), running_.end(), rank));
    if (expected_end(rank) > now()) {
      plan_.change(now(), expected_end(rank), slot.share, +1);
      early_ = true;
    }
  }

  double wake() const { return wake_; }

  void pass(bool, int known) {
    put_in_order(queue_, 0, queue_.size() - submitted_since(known), order_, jobs_, now());
    plan();
    early_ = false;
    start_planned();
    poll_.count(5 * static_cast<std::int64_t>(queue_.size()));
    if (!logs()) return;
    for (const int rank : queue_)
      if (jobs_[rank].submit >= now())
        note(rank, Action::wait, Reason::promised, -1, slots_[rank].start);
  }

 private:
  // Of a job that runs, or by its promise.
  double expected_end(int rank) const { return slots_[rank].start + jobs_[rank].expected; }
  bool promised(int rank) const { return slots_[rank].start < kInfinity; }

  void plan() {
    const bool late = std::any_of(running_.begin(), running_.end(), [&](int rank) {
      return expected_end(rank) <= now() && end_of(rank) > now();
    });
    if (late || overdue_) {
      std::vector<Profile::Busy> busy;
      for (const int rank : running_) busy.push_back({expected_end(rank), &slots_[rank].share});
      plan_.reset(now(), std::move(busy));
      for (const int rank : queue_) promise(rank);
    } else {
      plan_.advance(now());
      for (const int rank : queue_) {
        if (!promised(rank))
          promise(rank);
        else if (early_)
          move_forward(rank);
      }
    }
    overdue_ = late;
  }

  Profile::Slot earliest(int rank) {
    const BatchJob& job = jobs_[rank];
    return plan_.earliest(now(), job.tasks, job.expected, layout_.allowed[job.job]);
  }

  void promise(int rank) {
    slots_[rank] = earliest(rank);
    plan_.change(slots_[rank].start, expected_end(rank), slots_[rank].share, -1);
    poll_.count(300);
  }

  // The job gives its slot back and takes the earliest one; if that is no earlier, it keeps its
  // own.
  void move_forward(int rank) {
    const BatchJob& job = jobs_[rank];
    const double start = slots_[rank].start;
    const bool one_cell = free_.size() == 1;
    if (one_cell ? plan_.sooner(now(), job.tasks, job.expected, start) == start
                 : !plan_.room(job.tasks, start))
      return;
    plan_.change(start, expected_end(rank), slots_[rank].share, +1);
    Profile::Slot slot = earliest(rank);
    if (slot.start < start) slots_[rank] = std::move(slot);
    plan_.change(slots_[rank].start, expected_end(rank), slots_[rank].share, -1);
    poll_.count(300);
  }

  void start_planned() {
    wake_ = kInfinity;
    const auto starts = [&](int rank) {
      if (slots_[rank].start > now()) {
        wake_ = std::min(wake_, slots_[rank].start);
        return false;
      }
      if (!fits(slots_[rank])) return false;
      start(rank, Reason::promised, -1, slots_[rank].start);
      slots_[rank].start = now();
      give(slots_[rank], -1);
      running_.push_back(rank);
      return true;
    };
    queue_.erase(std::remove_if(queue_.begin(), queue_.end(), starts), queue_.end());
    for (const int rank : running_)  // it may outlive its estimate: then plans are made anew
      if (expected_end(rank) > now()) wake_ = std::min(wake_, expected_end(rank));
  }

  bool fits(const Profile::Slot& slot) const {
    for (std::size_t c = 0; c < free_.size(); ++c)
      if (slot.share[c] > free_[c]) return false;
    return true;
  }

  void give(const Profile::Slot& slot, int sign) {
    for (std::size_t c = 0; c < free_.size(); ++c) free_[c] += sign * slot.share[c];
  }

  std::vector<int> shares() const {
    const std::size_t cells = free_.size();
    std::vector<int> all(jobs_.size() * cells);
    for (std::size_t rank = 0; rank < jobs_.size(); ++rank)
      std::copy(slots_[rank].share.begin(), slots_[rank].share.end(),
                all.begin() + static_cast<std::ptrdiff_t>(cells) * jobs_[rank].job);
    return all;
  }

  const Layout& layout_;
  const Order& order_;
  std::vector<Profile::Slot> slots_;  // by rank: promised, then held
  NodesPerCell free_;
  Profile plan_;
  std::vector<int> running_, queue_;  // ranks
  double wake_ = kInfinity;
  bool early_ = false, overdue_ = false;
};

}  // namespace

PlacedOutcome conservative(const Instance& instance, const Layout& layout, const Order& order,
                           Estimates estimates, DecisionLog* log) {
  require_layout_fits(instance, layout);
  return Conservative(instance, layout, order, estimates, log).run();
}

}  // namespace cosched::cluster::batch
