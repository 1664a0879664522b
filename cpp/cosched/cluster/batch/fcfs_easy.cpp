#include "cosched/cluster/batch/fcfs_easy.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "cosched/cluster/batch/cells.hpp"
#include "cosched/cluster/batch/conservative.hpp"
#include "cosched/cluster/batch/events.hpp"

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

  bool in_time(int rank, const Reservation& other) const {
    return now() + jobs_[rank].expected <= other.shadow;
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

}  // namespace

Outcome fcfs(const Instance& instance, DecisionLog* log) {
  return run_plain(instance, Rule::fcfs, Estimates::perfect, log);
}

Outcome easy(const Instance& instance, Estimates estimates, DecisionLog* log) {
  return run_plain(instance, Rule::easy, estimates, log);
}

PlacedOutcome backfill(const Instance& instance, const Layout& layout, Rule rule,
                       const Order& order, Estimates estimates, DecisionLog* log) {
  if (rule == Rule::conservative) return conservative(instance, layout, order, estimates, log);
  require_layout_fits(instance, layout);
  const auto place = [&](const std::vector<BatchJob>& jobs) { return ManyCells(layout, jobs); };
  FcfsEasy<ManyCells> policy(instance, rule, batch_jobs(instance, estimates), order, place, log);
  Outcome outcome = policy.run();
  return {std::move(outcome), policy.cells().shares()};
}

SiteOutcome backfill(const Instance& instance, const Site& site, Rule rule, const Order& order,
                     Estimates estimates, DecisionLog* log) {
  if (rule == Rule::conservative) return conservative(instance, site, order, estimates, log);
  require_site_fits(instance, site);
  const auto place = [&](const std::vector<BatchJob>& jobs) {
    return NodeCells(site, rule == Rule::easy, jobs);
  };
  FcfsEasy<NodeCells> policy(instance, rule, batch_jobs(instance, estimates), order, place, log);
  Outcome outcome = policy.run();
  return {std::move(outcome), policy.cells().placements()};
}

}  // namespace cosched::cluster::batch
