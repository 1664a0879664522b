// Who has which nodes: running jobs, those that are completing, and what is left (RULES.md 6).
#pragma once

#include <tuple>

#include "cosched/core/found.hpp"
#include "cosched/slurm/select/gang.hpp"

namespace cosched::slurm {

class Allocations {
 public:
  /// Requires that `scenario` outlives it.
  explicit Allocations(const Scenario& scenario)
      : scenario_(scenario),
        held_(scenario.jobs().size()),
        states_(scenario.jobs().size(), State::pending),
        up_(scenario.machine().nodes),
        busy_(scenario.machine().nodes),
        cleaning_(scenario.machine().nodes),
        free_(scenario.machine()),
        cores_(scenario) {
    up_.add_range(0, scenario.machine().nodes);
    if (scenario.machine().down.any()) up_ -= scenario.machine().down;
  }

  void start(int job, const Choice& choice, Second now) {
    Held& held = of(job);
    held.nodes = choice.nodes;
    held.since = held.turned = now;
    held.due = now + scenario_.job(job).limit;
    if (const int array = scenario_.array(job); array >= 0)
      held.place = std::exchange(rests_[array], ++places_);  // the others go to the end of the list
    held.suspended = false;
    held.ran = 0;
    state(job) = State::running;
    ++changes_;
    if (scenario_.own_cores()) held.shares = choice.shares;
    if (scenario_.suspends()) {
      held.cores = choice.cores;
      held.part = choice.part;
    }
    take(job);
  }

  /// The job is completing: its nodes are free for plans, but not for starts.
  void end(int job, Second now) {
    Held& held = of(job);
    held.end = now;
    state(job) = State::completing;
    ++changes_;
    give(job);
    cleaning_ |= held.nodes;
    completing_.push_back(job);
  }

  /// A running job is out of the way, and there again.
  void lift(int job) {
    ++lifts_;
    give(job);
    if (scenario_.suspends()) free_.keep(of(job).shares);
  }

  void put_back(int job) {
    ++lifts_;
    if (scenario_.suspends()) free_.let_go(of(job).shares);
    take(job);
  }

  /// Its last node has sent its epilog message.
  void clean(int job) {
    state(job) = State::done;
    ++changes_;
    erase_found(completing_, job, "a completing job");
    cleaning_ -= of(job).nodes;
    if (scenario_.own_cores())  // others may be completing there
      for (const int other : completing_) cleaning_ |= of(other).nodes;
  }

  /// It stops, and goes on: what it has run counts for its limit (RULES.md 16.5).
  void suspend(int job, Second now) {
    Held& held = of(job);
    ++changes_;
    held.suspended = true;
    held.ran += now - held.turned;
    held.turned = now;
  }

  void resume(int job, Second now) {
    Held& held = of(job);
    ++changes_;
    held.suspended = false;
    held.turned = now;
    erase_found(running_, job, "a running job");
    held.due = now + scenario_.job(job).limit - held.ran;
    enlist(job);
  }

  /// It was requeued: it has not started.
  void forget(int job) { state(job) = State::pending; }
  /// Nodes that jobs may start on.
  void set_up(const NodeBits& nodes, bool up) {
    ++changes_;
    if (up)
      up_ |= nodes;
    else
      up_ -= nodes;
  }

  const NodeBits& up() const { return up_; }
  const NodeBits& busy() const { return busy_; }  // whole: without a free core
  const NodeBits& cleaning() const { return cleaning_; }
  const Free& free() const { return free_; }  // where jobs share nodes
  const CoreMap& cores() const { return cores_; }
  /// It was submitted: it has its place on slurmctld's list of jobs.
  void enter(int job) {
    const int array = scenario_.array(job);
    if (array < 0)
      of(job).place = ++places_;
    else if (rests_.count(array) == 0)
      rests_[array] = ++places_;
  }

  /// Where a submitted job is on that list: tasks of an array that have not started share a place.
  std::int64_t list_place(int job) const {
    if (of(job).place > 0) return of(job).place;
    const auto rest = rests_.find(scenario_.array(job));
    return rest == rests_.end() ? 0 : rest->second;
  }

  /// By (due, place on that list).
  const std::vector<int>& running() const { return running_; }

  /// Of a job that has started.
  const NodeBits& nodes(int job) const { return of(job).nodes; }
  const Shares& shares(int job) const { return of(job).shares; }
  Second due(int job) const { return of(job).due; }
  Second since(int job) const { return of(job).since; }
  const NodeBits& cores(int job) const { return of(job).cores; }  // where jobs are suspended
  int part(int job) const { return of(job).part; }
  bool suspended(int job) const { return of(job).suspended; }
  bool started(int job) const { return state(job) != State::pending; }
  bool running(int job) const { return state(job) == State::running; }
  bool ended(int job) const { return state(job) >= State::completing; }
  bool cleaned(int job) const { return state(job) == State::done; }
  /// A job that ended at `since` or later is completing.
  bool completing_since(Second since) const {
    return std::any_of(completing_.begin(), completing_.end(),
                       [&](int job) { return of(job).end >= since; });
  }

  /// Grows at each start, end and epilog.
  std::int64_t changes() const { return changes_; }
  /// Grows also when jobs are lifted and put back.
  std::int64_t version() const { return changes_ + lifts_; }

 private:
  enum class State : char { pending, running, completing, done };
  struct Held {
    NodeBits nodes;
    Shares shares;
    NodeBits cores = NodeBits();
    int part = 0;
    Second since = 0, due = 0;  // start, start + limit
    std::int64_t place = 0;
    Second end = 0;
    bool suspended = false;
    Second turned = 0, ran = 0;  // since when it runs or stands, and what it had run before
  };
  State& state(int job) { return states_[job]; }
  State state(int job) const { return states_[job]; }
  Held& of(int job) { return held_[job]; }
  const Held& of(int job) const { return held_[job]; }
  void mark_busy(const Held& held) {
    for (const Share& share : held.shares.nodes)
      if (free_.some.has(share.node))
        busy_.remove(share.node);
      else
        busy_.add(share.node);
  }

  void enlist(int job) {
    const auto place = std::lower_bound(running_.begin(), running_.end(), job, [&](int a, int b) {
      const auto order = [&](int k) { return std::tuple(of(k).due, of(k).place, k); };
      return order(a) < order(b);
    });
    running_.insert(place, job);
  }

  // Cores that nobody has: several jobs may have one.
  void count_cores(const Held& held) {
    const NodeBits taken = cores_.taken();
    for (const Share& share : held.shares.nodes)
      free_.set_cores(share.node,
                      cores_.last(share.node) - cores_.first(share.node) -
                          taken.count_range(cores_.first(share.node), cores_.last(share.node)));
  }

  void take(int job) {
    change(of(job), true);
    enlist(job);
  }

  void give(int job) {
    change(of(job), false);
    erase_found(running_, job, "a running job");
  }

  void change(const Held& held, bool takes) {
    if (scenario_.own_cores()) {
      takes ? free_.take(held.shares) : free_.give(held.shares);
      if (scenario_.suspends()) {
        takes ? cores_.take(held.part, held.cores) : cores_.give(held.part, held.cores);
        count_cores(held);
      }
      mark_busy(held);
    } else {
      takes ? busy_ |= held.nodes : busy_ -= held.nodes;
    }
  }

  const Scenario& scenario_;
  std::vector<Held> held_;
  std::vector<State> states_;  // side by side, as whole queues are asked for them
  std::vector<int> running_, completing_;
  NodeBits up_, busy_, cleaning_;
  Free free_;
  CoreMap cores_;
  std::int64_t changes_ = 0, lifts_ = 0, places_ = 0;
  std::map<int, std::int64_t> rests_;  // of arrays: where the tasks are that wait
};

// Running jobs in order of their limits, side by side: a test in the backfill cycle looks at all of
// them.

class EndOrder {
 public:
  /// As the allocations are now.  O(running), where anything has changed since the last call.
  void refresh(const Allocations& allocations) {
    if (version_ == allocations.version()) return;
    version_ = allocations.version();
    jobs_.clear();
    word_.clear();
    first_.clear();
    wide_.assign(allocations.running().size() / 64 + 1, 0);
    for (const int job : allocations.running()) {
      const NodeBits& nodes = allocations.nodes(job);
      const std::vector<std::uint64_t>& held = nodes.words();
      std::size_t w = 0;
      while (w + 1 < held.size() && held[w] == 0) ++w;
      const Shares& shares = allocations.shares(job);
      const bool one = shares.nodes.size() == 1 && shares.gpus.empty();
      if (std::any_of(held.begin() + static_cast<std::ptrdiff_t>(w) + 1, held.end(),
                      [](auto word) { return word != 0; }))
        wide_[size() / 64] |= std::uint64_t{1} << size() % 64;
      word_.push_back(w);
      first_.push_back(held[w]);
      jobs_.push_back(
          {job, allocations.due(job), &nodes, one ? shares.nodes.front() : Share{-1, 0, 0}});
    }
  }

  struct Ending {
    int job;
    Second due;
    const NodeBits* nodes;
    Share only;  // of a job that shares one node and has no GPU; else of node -1
  };
  std::size_t size() const { return jobs_.size(); }
  const Ending& operator[](std::size_t k) const { return jobs_[k]; }

  /// Which of the 64 jobs from the k-th on have one of these nodes, as bits: without a branch that
  /// nobody foresees.  Requires a multiple of 64.
  std::uint64_t meeting(std::size_t k, const NodeBits& nodes) const {
    const std::uint64_t* const words = nodes.words().data();
    std::uint64_t met = 0;
    for (std::size_t j = std::min(k + 64, size()); j-- > k;)
      met = 2 * met + ((words[word_[j]] & first_[j]) != 0);
    for (std::uint64_t rest = wide_[k / 64] & ~met; rest != 0; rest &= rest - 1)
      met |= std::uint64_t{jobs_[k + __builtin_ctzll(rest)].nodes->meets(nodes)}
             << __builtin_ctzll(rest);
    return met;
  }

 private:
  std::vector<Ending> jobs_;
  std::vector<std::size_t> word_;     // of each, where its nodes begin
  std::vector<std::uint64_t> first_;  // and which they are there, mostly all
  std::vector<std::uint64_t> wide_;   // jobs, as bits, that have nodes behind that
  std::int64_t version_ = -1;
};

/// Running jobs in order of their ends, in the groups after which select/cons_tres tests (RULES.md
/// 5.6).
class EndGroups {
 public:
  /// Jobs that end before `from` are gone already; those that end after `later` stay.
  EndGroups(const EndOrder& order, const NodeBits& avail, Second epoch, int window_linear,
            Second from, Second later)
      : of_(order), avail_(avail), epoch_(epoch), window_linear_(window_linear), later_(later) {
    while (next_ < of_.size() && of_[next_].due < from) ++next_;
    gone_ = next_;
    looked_ = gone_ / 64 * 64;
  }

  /// Calls gone(ending) for those that are gone already and have a node in `avail`.
  template <class Gone>
  void already(Gone gone) const {
    for (std::size_t k = 0; k < gone_; ++k)
      if (of_[k].nodes->meets(avail_)) gone(of_[k]);
  }

  bool some_gone() const { return gone_ > 0; }

  /// Calls gone(ending) for each job of the next group that has a node in `avail`; returns the last
  /// of them, or -1: none left.
  template <class Gone>
  int next(Gone gone) {
    constexpr int kMost = 200;
    int last = -1;
    for (int removed = 0; find_next();) {
      const std::size_t other = next_++;
      const Second end = of_[other].due;
      if (base_ == kNever) base_ = end + spread_ - (epoch_ + end) % spread_;
      last = of_[other].job;
      gone(of_[other]);
      if (outside_window()) break;
      if (removed++ > kMost) break;
    }
    if (last < 0) return last;
    do {
      spread_ = window_linear_ ? spread_ + window_linear_ : spread_ * 2;
    } while (outside_window());
    return last;
  }

 private:
  // The next that has a node in `avail`, and stays no longer.
  bool find_next() {
    while (met_ == 0 && looked_ < of_.size()) {
      met_ = of_.meeting(looked_, avail_);
      if (looked_ < gone_) met_ &= ~std::uint64_t{0} << (gone_ - looked_);
      looked_ += 64;
    }
    next_ = met_ == 0 ? of_.size() : looked_ - 64 + static_cast<std::size_t>(__builtin_ctzll(met_));
    met_ &= met_ - 1;
    if (next_ < of_.size() && of_[next_].due > later_) next_ = of_.size();
    return next_ < of_.size();
  }
  bool outside_window() const { return next_ < of_.size() && of_[next_].due > base_ + spread_; }

  const EndOrder& of_;
  const NodeBits& avail_;
  const Second epoch_;
  const int window_linear_;
  const Second later_;
  std::size_t next_ = 0, gone_ = 0;
  std::size_t looked_ = 0;  // jobs before it have been looked at: those that are met are in `met_`
  std::uint64_t met_ = 0;
  Second spread_ = 30, base_ = kNever;
};

}  // namespace cosched::slurm
