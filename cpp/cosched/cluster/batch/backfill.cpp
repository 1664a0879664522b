#include "cosched/cluster/batch/backfill.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <utility>

#include "cosched/cluster/batch/profile.hpp"
#include "cosched/core/errors.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::cluster::batch {
namespace {

struct Item {
  double submit, runtime, expected, key;
  int tasks, job;
  std::uint64_t allowed;
  double start;        // of the plan, then of the run
  NodesPerCell share;  // of the plan, then of the run
  bool running;
};

std::vector<Item> items_of(const Instance& instance, const Layout& layout,
                           const BackfillOptions& options) {
  const Jobs& jobs = instance.jobs();
  const auto& expected = options.requested ? jobs.estimate : jobs.runtime;
  const bool planned = options.rule == Rule::conservative;
  std::vector<Item> items;
  for (const int j : instance.order())
    items.push_back({jobs.submit[j], jobs.runtime[j], planned && expected[j] == 0 ? 1 : expected[j],
                     options.key.empty() ? 0 : options.key[j], jobs.tasks[j], j, layout.allowed[j],
                     0, NodesPerCell(layout.cells()), false});
  return items;
}

class Backfill {
 public:
  Backfill(const Instance& instance, const Layout& layout, const BackfillOptions& options,
           DecisionLog* log)
      : instance_(instance),
        options_(options),
        items_(items_of(instance, layout, options)),
        outcome_(instance.size()),
        demand_(instance.nodes()),
        free_(layout.nodes),
        plan_(layout.nodes),
        log_(log) {}

  PlacedOutcome run() {
    const int n = instance_.size();
    for (int finished = 0; finished < n;) {
      ++outcome_.events;
      poll_.count(200);
      const double due = next_ < n ? items_[next_].submit : kInfinity;
      now_ = std::max(now_, std::min({due, ends_.empty() ? kInfinity : ends_.top().first, wake_}));
      early_ = false;
      for (; !ends_.empty() && ends_.top().first <= now_; ++finished) complete();
      const std::size_t known = queue_.size();
      for (; next_ < n && items_[next_].submit <= now_; ++next_) submit();
      order_queue(known);
      pass();
      if (log_) note_waits(known);
    }
    outcome_.demand_area = demand_.value();
    return {std::move(outcome_), shares()};
  }

 private:
  // --- events ---

  void submit() {
    Item& item = items_[next_];
    demand_.change(now_, cpu(item), 1);
    item.start = kInfinity;  // no promise yet
    queue_.push_back(next_);
  }

  void complete() {
    Item& item = items_[ends_.top().second];
    ends_.pop();
    give(item, +1);
    running_.erase(std::find(running_.begin(), running_.end(), &item));
    if (options_.rule == Rule::conservative && item.start + item.expected > now_) {
      plan_.change(now_, item.start + item.expected, item.share, +1);
      early_ = true;
    }
    demand_.change(now_, -cpu(item), -1);
    note(item, Action::finish, Reason::completed, nullptr, 0);
  }

  void start(int rank, Reason reason, const Item* other, double value) {
    Item& item = items_[rank];
    note(item, Action::start, reason, other, value);
    item.start = now_;
    item.running = true;
    give(item, -1);
    running_.push_back(&item);
    outcome_.start[item.job] = now_;
    outcome_.end[item.job] = now_ + item.runtime;
    ends_.emplace(outcome_.end[item.job], rank);
  }

  void give(const Item& item, int sign) {
    for (std::size_t c = 0; c < free_.size(); ++c) free_[c] += sign * item.share[c];
  }

  // --- order of the queue ---

  bool before(int a, int b) const {
    const Item &x = items_[a], &y = items_[b];
    if (x.key != y.key) return x.key < y.key;
    if (!options_.wfp3) return a < b;
    const double first = wfp3(x), second = wfp3(y);
    return first != second ? first > second : a < b;
  }
  double wfp3(const Item& item) const {
    return std::pow((now_ - item.submit) / std::max(item.expected, 1.0), 3) * item.tasks;
  }
  void order_queue(std::size_t known) {
    const auto order = [&](int a, int b) { return before(a, b); };
    if (options_.wfp3) {
      std::sort(queue_.begin(), queue_.end(), order);
    } else if (known < queue_.size() && !options_.key.empty()) {
      const auto middle = queue_.begin() + static_cast<std::ptrdiff_t>(known);
      std::sort(middle, queue_.end(), order);
      std::inplace_merge(queue_.begin(), middle, queue_.end(), order);
    }
  }

  // --- passes ---

  void pass() {
    if (options_.rule == Rule::conservative) {
      plan();
      start_planned();
    } else {
      start_in_order();
    }
    queue_.erase(std::remove_if(queue_.begin(), queue_.end(),
                                [&](int rank) { return items_[rank].running; }),
                 queue_.end());
    poll_.count(5 * static_cast<std::int64_t>(queue_.size()));
  }

  struct Reservation {
    const Item* item;
    double shadow;
    int extra;
  };

  void start_in_order() {
    std::vector<Reservation> reserved;
    std::uint64_t blocked = 0;
    for (const int rank : queue_) {
      Item& item = items_[rank];
      const std::uint64_t open =
          options_.rule == Rule::fcfs ? item.allowed & ~blocked : item.allowed;
      if (take(item, open, blocked) && spares(item, reserved)) {
        if (reserved.empty())
          start(rank, Reason::head_of_queue, nullptr, free_in(item.allowed));
        else if (now_ + item.expected <= reserved.back().shadow)
          start(rank, Reason::backfill_in_time, reserved.back().item, reserved.back().shadow);
        else
          start(rank, Reason::backfill_extra, reserved.back().item, reserved.back().extra);
        continue;
      }
      if ((item.allowed & ~blocked) != 0 && options_.rule == Rule::easy)
        reserved.push_back(reservation(item));
      blocked |= item.allowed;
      if (options_.rule == Rule::fcfs && all_blocked(blocked)) break;
    }
  }

  bool all_blocked(std::uint64_t blocked) const {
    for (std::size_t c = 0; c < free_.size(); ++c)
      if (free_[c] > 0 && !(blocked >> c & 1)) return false;
    return true;
  }

  // The job's share now, from cells nobody waits for first; whether there is enough.
  bool take(Item& item, std::uint64_t open, std::uint64_t last) {
    int left = item.tasks;
    std::fill(item.share.begin(), item.share.end(), 0);
    for (const bool late : {false, true})
      for (std::size_t c = 0; c < free_.size(); ++c)
        if ((open >> c & 1) && static_cast<bool>(last >> c & 1) == late) {
          item.share[c] = std::min(left, free_[c]);
          left -= item.share[c];
        }
    return left == 0;
  }

  // Whether starting the job now delays no reservation; takes up extra nodes if it does start.
  bool spares(const Item& item, std::vector<Reservation>& reserved) const {
    std::vector<int> used(reserved.size(), 0);
    for (std::size_t k = 0; k < reserved.size(); ++k) {
      if (now_ + item.expected <= reserved[k].shadow) continue;
      for (std::size_t c = 0; c < free_.size(); ++c)
        if (reserved[k].item->allowed >> c & 1) used[k] += item.share[c];
      if (used[k] > reserved[k].extra) return false;
    }
    for (std::size_t k = 0; k < reserved.size(); ++k) reserved[k].extra -= used[k];
    return true;
  }

  Reservation reservation(const Item& item) const {
    std::vector<std::pair<double, int>> back;  // (time, nodes that it may use)
    for (const Item* other : running_) {
      int nodes = 0;
      for (std::size_t c = 0; c < free_.size(); ++c)
        if (item.allowed >> c & 1) nodes += other->share[c];
      back.emplace_back(std::max(now_, other->start + other->expected), nodes);
    }
    std::sort(back.begin(), back.end());
    int free = free_in(item.allowed);
    double shadow = now_;
    std::size_t k = 0;
    for (; free < item.tasks && k < back.size(); ++k) {
      free += back[k].second;
      shadow = back[k].first;
    }
    for (; k < back.size() && back[k].first <= shadow; ++k) free += back[k].second;
    return {&item, shadow, free - item.tasks};
  }

  int free_in(std::uint64_t allowed) const {
    int sum = 0;
    for (std::size_t c = 0; c < free_.size(); ++c)
      if (allowed >> c & 1) sum += free_[c];
    return sum;
  }

  // --- plans ---

  void plan() {
    const bool late = std::any_of(running_.begin(), running_.end(), [&](const Item* item) {
      return item->start + item->expected <= now_ && outcome_.end[item->job] > now_;
    });
    if (late || overdue_) {
      std::vector<Profile::Busy> busy;
      for (const Item* item : running_)
        busy.push_back({item->start + item->expected, &item->share});
      plan_.reset(now_, std::move(busy));
      for (const int rank : queue_) promise(items_[rank]);
    } else {
      plan_.advance(now_);
      for (const int rank : queue_) {
        if (items_[rank].start == kInfinity)
          promise(items_[rank]);
        else if (early_)
          move_forward(items_[rank]);
      }
    }
    overdue_ = late;
  }

  // The job gives its slot back and takes the earliest one; if that is no earlier, it keeps its
  // own.
  void move_forward(Item& item) {
    const bool one_cell = free_.size() == 1;
    if (one_cell ? plan_.sooner(now_, item.tasks, item.expected, item.start) == item.start
                 : !plan_.room(item.tasks, item.start))
      return;
    plan_.change(item.start, item.start + item.expected, item.share, +1);
    Profile::Slot slot = plan_.earliest(now_, item.tasks, item.expected, item.allowed);
    if (slot.start < item.start) {
      item.start = slot.start;
      item.share = std::move(slot.share);
    }
    plan_.change(item.start, item.start + item.expected, item.share, -1);
    poll_.count(300);
  }

  void promise(Item& item) {
    Profile::Slot slot = plan_.earliest(now_, item.tasks, item.expected, item.allowed);
    item.start = slot.start;
    item.share = std::move(slot.share);
    plan_.change(item.start, item.start + item.expected, item.share, -1);
    poll_.count(300);
  }

  void start_planned() {
    wake_ = kInfinity;
    for (const int rank : queue_) {
      Item& item = items_[rank];
      if (item.start > now_)
        wake_ = std::min(wake_, item.start);
      else if (fits(item))
        start(rank, Reason::promised, nullptr, item.start);
    }
    for (const Item* item : running_)  // it may outlive its estimate: then plans are made anew
      if (item->start + item->expected > now_)
        wake_ = std::min(wake_, item->start + item->expected);
  }

  bool fits(const Item& item) const {
    for (std::size_t c = 0; c < free_.size(); ++c)
      if (item.share[c] > free_[c]) return false;
    return true;
  }

  // --- what is told ---

  double cpu(const Item& item) const { return instance_.jobs().cpu[item.job] * item.tasks; }

  void note(const Item& item, Action action, Reason reason, const Item* other, double value) {
    if (log_) log_->push_back({now_, item.job, action, reason, other ? other->job : -1, value});
  }

  // Why jobs that came now are still in the queue.
  void note_waits(std::size_t) {
    for (const int rank : queue_) {
      const Item& item = items_[rank];
      if (item.submit < now_) continue;
      if (options_.rule == Rule::conservative)
        note(item, Action::wait, Reason::promised, nullptr, item.start);
      else if (item.tasks > free_in(item.allowed))
        note(item, Action::wait, Reason::too_few_nodes, nullptr, free_in(item.allowed));
      else
        note(item, Action::wait, Reason::behind_queue, &items_[queue_.front()], 0);
    }
  }

  std::vector<int> shares() const {
    const std::size_t cells = free_.size();
    std::vector<int> all(items_.size() * cells);
    for (const Item& item : items_)
      std::copy(item.share.begin(), item.share.end(),
                all.begin() + static_cast<std::ptrdiff_t>(item.job * cells));
    return all;
  }

  using End = std::pair<double, int>;  // (time, rank)

  const Instance& instance_;
  const BackfillOptions& options_;
  std::vector<Item> items_;  // by rank
  Outcome outcome_;
  DemandArea demand_;
  NodesPerCell free_;
  Profile plan_;
  DecisionLog* log_;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  std::vector<const Item*> running_;
  std::vector<int> queue_;  // ranks
  int next_ = 0;
  double now_ = 0, wake_ = kInfinity;
  bool early_ = false, overdue_ = false;
  Poll poll_;
};

}  // namespace

PlacedOutcome backfill(const Instance& instance, const Layout& layout,
                       const BackfillOptions& options, DecisionLog* log) {
  require_layout_fits(instance, layout);
  if (options.requested && !instance.has_estimates())
    throw InvalidInstance("estimates = \"requested\": the jobs have no estimate column");
  return Backfill(instance, layout, options, log).run();
}

}  // namespace cosched::cluster::batch
