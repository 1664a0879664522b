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
        allocations_(scenario.jobs().size()),
        states_(scenario.jobs().size(), State::pending),
        up_nodes_(scenario.machine().nodes),
        busy_nodes_(scenario.machine().nodes),
        completing_nodes_(scenario.machine().nodes),
        free_resources_(scenario.machine()),
        core_map_(scenario) {
    up_nodes_.add_range(0, scenario.machine().nodes);
    if (scenario.machine().down_nodes.any()) up_nodes_ -= scenario.machine().down_nodes;
  }

  void start(int job, const NodeChoice& choice, Second now) {
    JobAllocation& held = allocation(job);
    held.nodes = choice.nodes;
    held.start = held.last_switch = now;
    held.expected_end = now + scenario_.job(job).limit;
    if (const int array = scenario_.array_of(job); array >= 0) {
      held.list_place = array_list_place_[array];
      ++list_places_;  // the tasks that have not started go to the end of the list
      array_list_place_[array] = list_places_;
    }
    held.is_suspended = false;
    held.ran_before = 0;
    state(job) = State::running;
    ++change_count_;
    if (scenario_.shares_nodes()) held.shares = choice.shares;
    if (scenario_.suspends_jobs()) {
      held.cores = choice.cores;
      held.partition = choice.partition;
    }
    allocate(job);
  }

  /// The job is completing: its nodes are free for plans, but not for starts.
  void end(int job, Second now) {
    JobAllocation& held = allocation(job);
    held.end = now;
    state(job) = State::completing;
    ++change_count_;
    release(job);
    completing_nodes_ |= held.nodes;
    completing_.push_back(job);
  }

  /// A running job is out of the way, and there again.
  void hide(int job) {
    ++hidden_version_;
    release(job);
    if (scenario_.suspends_jobs()) free_resources_.hold_except_cores(allocation(job).shares);
  }

  void unhide(int job) {
    ++hidden_version_;
    if (scenario_.suspends_jobs()) free_resources_.release_except_cores(allocation(job).shares);
    allocate(job);
  }

  /// Its last node has sent its epilog message.
  void complete_epilog(int job) {
    state(job) = State::done;
    ++change_count_;
    erase_found(completing_, job, "a completing job");
    completing_nodes_ -= allocation(job).nodes;
    if (scenario_.shares_nodes())  // others may be completing there
      for (const int other : completing_) completing_nodes_ |= allocation(other).nodes;
  }

  /// It stops, and goes on: what it has run counts for its limit (RULES.md 16.5).
  void suspend(int job, Second now) {
    JobAllocation& held = allocation(job);
    ++change_count_;
    held.is_suspended = true;
    held.ran_before += now - held.last_switch;
    held.last_switch = now;
  }

  void resume(int job, Second now) {
    JobAllocation& held = allocation(job);
    ++change_count_;
    held.is_suspended = false;
    held.last_switch = now;
    erase_found(running_, job, "a running job");
    held.expected_end = now + scenario_.job(job).limit - held.ran_before;
    insert_running(job);
  }

  /// It was requeued: it has not started.
  void mark_pending(int job) { state(job) = State::pending; }
  /// Nodes that jobs may start on.
  void set_up(const NodeBits& nodes, bool up) {
    ++change_count_;
    if (up)
      up_nodes_ |= nodes;
    else
      up_nodes_ -= nodes;
  }

  const NodeBits& up_nodes() const { return up_nodes_; }
  const NodeBits& busy_nodes() const { return busy_nodes_; }  // whole: without a free core
  const NodeBits& completing_nodes() const { return completing_nodes_; }
  const FreeResources& free_resources() const { return free_resources_; }  // where jobs share nodes
  const CoreMap& cores() const { return core_map_; }
  /// It was submitted: it has its place on slurmctld's list of jobs.
  void add_to_list(int job) {
    const int array = scenario_.array_of(job);
    if (array < 0)
      allocation(job).list_place = ++list_places_;
    else if (array_list_place_.count(array) == 0)
      array_list_place_[array] = ++list_places_;
  }

  /// Where a submitted job is on that list: tasks of an array that have not started share a place.
  std::int64_t list_place(int job) const {
    if (allocation(job).list_place > 0) return allocation(job).list_place;
    const auto rest = array_list_place_.find(scenario_.array_of(job));
    return rest == array_list_place_.end() ? 0 : rest->second;
  }

  /// By (due, place on that list).
  const std::vector<int>& running() const { return running_; }

  /// Of a job that has started.
  const NodeBits& nodes(int job) const { return allocation(job).nodes; }
  const Shares& shares(int job) const { return allocation(job).shares; }
  Second expected_end(int job) const { return allocation(job).expected_end; }
  Second start_second(int job) const { return allocation(job).start; }
  const NodeBits& cores(int job) const {
    return allocation(job).cores;
  }  // where jobs are suspended
  int partition(int job) const { return allocation(job).partition; }
  bool is_suspended(int job) const { return allocation(job).is_suspended; }
  bool has_started(int job) const { return state(job) != State::pending; }
  bool running(int job) const { return state(job) == State::running; }
  bool has_ended(int job) const { return state(job) >= State::completing; }
  bool is_done(int job) const { return state(job) == State::done; }
  /// A job that ended at `since` or later is completing.
  bool has_completing_since(Second since) const {
    return std::any_of(completing_.begin(), completing_.end(),
                       [&](int job) { return allocation(job).end >= since; });
  }

  /// Grows at each start, end and epilog.
  std::int64_t change_count() const { return change_count_; }
  /// Grows also when jobs are lifted and put back.
  std::int64_t version() const { return change_count_ + hidden_version_; }

 private:
  enum class State : char { pending, running, completing, done };
  struct JobAllocation {
    NodeBits nodes;
    Shares shares;
    NodeBits cores = NodeBits();
    int partition = 0;
    Second start = 0, expected_end = 0;  // start, start + limit
    std::int64_t list_place = 0;
    Second end = 0;
    bool is_suspended = false;
    Second last_switch = 0,
           ran_before = 0;  // since when it runs or stands, and what it had run before
  };
  State& state(int job) { return states_[job]; }
  State state(int job) const { return states_[job]; }
  JobAllocation& allocation(int job) { return allocations_[job]; }
  const JobAllocation& allocation(int job) const { return allocations_[job]; }
  void mark_busy(const JobAllocation& held) {
    for (const Share& share : held.shares.nodes)
      if (free_resources_.nodes_with_cores.has(share.node))
        busy_nodes_.remove(share.node);
      else
        busy_nodes_.add(share.node);
  }

  void insert_running(int job) {
    const auto place = std::lower_bound(running_.begin(), running_.end(), job, [&](int a, int b) {
      const auto order = [&](int k) {
        return std::tuple(allocation(k).expected_end, allocation(k).list_place, k);
      };
      return order(a) < order(b);
    });
    running_.insert(place, job);
  }

  // Cores that nobody has: several jobs may have one.
  void count_cores(const JobAllocation& held) {
    const NodeBits taken = core_map_.allocated_cores();
    for (const Share& share : held.shares.nodes)
      free_resources_.set_cores(
          share.node,
          core_map_.end_core(share.node) - core_map_.first_core(share.node) -
              taken.count_range(core_map_.first_core(share.node), core_map_.end_core(share.node)));
  }

  void allocate(int job) {
    update_resources(allocation(job), true);
    insert_running(job);
  }

  void release(int job) {
    update_resources(allocation(job), false);
    erase_found(running_, job, "a running job");
  }

  void update_resources(const JobAllocation& held, bool takes) {
    if (scenario_.shares_nodes()) {
      if (takes)
        free_resources_.allocate(held.shares);
      else
        free_resources_.release(held.shares);
      if (scenario_.suspends_jobs()) {
        if (takes)
          core_map_.allocate(held.partition, held.cores);
        else
          core_map_.release(held.partition, held.cores);
        count_cores(held);
      }
      mark_busy(held);
    } else if (takes) {
      busy_nodes_ |= held.nodes;
    } else {
      busy_nodes_ -= held.nodes;
    }
  }

  const Scenario& scenario_;
  std::vector<JobAllocation> allocations_;
  std::vector<State> states_;  // side by side, as whole queues are asked for them
  std::vector<int> running_, completing_;
  NodeBits up_nodes_, busy_nodes_, completing_nodes_;
  FreeResources free_resources_;
  CoreMap core_map_;
  std::int64_t change_count_ = 0, hidden_version_ = 0, list_places_ = 0;
  std::map<int, std::int64_t> array_list_place_;  // of arrays: where the tasks are that wait
};

// Running jobs in order of their limits, side by side: a test in the backfill cycle looks at all of
// them.

class RunningByEnd {
 public:
  /// As the allocations are now.  O(running), where anything has changed since the last call.
  void refresh(const Allocations& allocations) {
    if (version_ == allocations.version()) return;
    version_ = allocations.version();
    jobs_.clear();
    first_word_index_.clear();
    first_word_.clear();
    multi_word_jobs_.assign(allocations.running().size() / 64 + 1, 0);
    for (const int job : allocations.running()) {
      const NodeBits& nodes = allocations.nodes(job);
      const std::vector<std::uint64_t>& held = nodes.words();
      std::size_t w = 0;
      while (w + 1 < held.size() && held[w] == 0) ++w;
      const Shares& shares = allocations.shares(job);
      const bool one = shares.nodes.size() == 1 && shares.gpus.empty();
      if (std::any_of(held.begin() + static_cast<std::ptrdiff_t>(w) + 1, held.end(),
                      [](auto word) { return word != 0; }))
        multi_word_jobs_[size() / 64] |= std::uint64_t{1} << size() % 64;
      first_word_index_.push_back(w);
      first_word_.push_back(held[w]);
      jobs_.push_back({job, allocations.expected_end(job), &nodes,
                       one ? shares.nodes.front() : Share{-1, 0, 0}});
    }
  }

  struct RunningJob {
    int job;
    Second expected_end;
    const NodeBits* nodes;
    Share single_share;  // of a job that shares one node and has no GPU; else of node -1
  };
  std::size_t size() const { return jobs_.size(); }
  const RunningJob& operator[](std::size_t k) const { return jobs_[k]; }

  /// Which of the 64 jobs from the k-th on have one of these nodes, as bits: without a branch that
  /// nobody foresees.  Requires a multiple of 64.
  std::uint64_t jobs_on_nodes(std::size_t k, const NodeBits& nodes) const {
    const std::uint64_t* const words = nodes.words().data();
    std::uint64_t met = 0;
    for (std::size_t j = std::min(k + 64, size()); j-- > k;)
      met = 2 * met + ((words[first_word_index_[j]] & first_word_[j]) != 0);
    for (std::uint64_t rest = multi_word_jobs_[k / 64] & ~met; rest != 0; rest &= rest - 1)
      met |= std::uint64_t{jobs_[k + __builtin_ctzll(rest)].nodes->intersects(nodes)}
             << __builtin_ctzll(rest);
    return met;
  }

 private:
  std::vector<RunningJob> jobs_;
  std::vector<std::size_t> first_word_index_;   // of each, where its nodes begin
  std::vector<std::uint64_t> first_word_;       // and which they are there, mostly all
  std::vector<std::uint64_t> multi_word_jobs_;  // jobs, as bits, that have nodes behind that
  std::int64_t version_ = -1;
};

/// Running jobs in order of their ends, in the groups after which select/cons_tres tests (RULES.md
/// 5.6).
class EndBatches {
 public:
  /// Jobs that end before `from` have ended already; those that end after `later_start` stay.
  EndBatches(const RunningByEnd& order, const NodeBits& avail, Second epoch, int window_linear,
             Second from, Second later)
      : running_(order),
        avail_(avail),
        epoch_(epoch),
        window_linear_(window_linear),
        later_start_(later) {
    while (next_job_ < running_.size() && running_[next_job_].expected_end < from) ++next_job_;
    ended_count_ = next_job_;
    scanned_count_ = ended_count_ / 64 * 64;
  }

  /// Calls gone(ending) for those that are gone already and have a node in `avail`.
  template <class Gone>
  void for_each_ended(Gone gone) const {
    for (std::size_t k = 0; k < ended_count_; ++k)
      if (running_[k].nodes->intersects(avail_)) gone(running_[k]);
  }

  bool has_ended_jobs() const { return ended_count_ > 0; }

  /// Calls gone(ending) for each job of the next group that has a node in `avail`; returns the last
  /// of them, or -1: none left.
  template <class Gone>
  int next_batch(Gone gone) {
    constexpr int kMaxRemovedJobs = 200;  // rm_job_cnt++ > 200 in cons_tres: 202 jobs at most
    int last = -1;
    int removed_count = 0;
    while (find_next_job()) {
      const std::size_t other = next_job_++;
      const Second end = running_[other].expected_end;
      if (first_batch_end_ == kNever)
        first_batch_end_ = end + time_window_ - (epoch_ + end) % time_window_;
      last = running_[other].job;
      gone(running_[other]);
      if (outside_window()) break;
      if (removed_count > kMaxRemovedJobs) break;
      ++removed_count;
    }
    if (last < 0) return last;
    do {
      time_window_ = window_linear_ ? time_window_ + window_linear_ : time_window_ * 2;
    } while (outside_window());
    return last;
  }

 private:
  // Moves to the next running job that has a node in `avail` and ends by `later_start`; false:
  // there is none.
  bool find_next_job() {
    while (matching_jobs_ == 0 && scanned_count_ < running_.size()) {
      matching_jobs_ = running_.jobs_on_nodes(scanned_count_, avail_);
      if (scanned_count_ < ended_count_)
        matching_jobs_ &= ~std::uint64_t{0} << (ended_count_ - scanned_count_);
      scanned_count_ += 64;
    }
    next_job_ = matching_jobs_ == 0 ? running_.size()
                                    : scanned_count_ - 64 +
                                          static_cast<std::size_t>(__builtin_ctzll(matching_jobs_));
    matching_jobs_ &= matching_jobs_ - 1;
    if (next_job_ < running_.size() && running_[next_job_].expected_end > later_start_)
      next_job_ = running_.size();
    return next_job_ < running_.size();
  }
  bool outside_window() const {
    return next_job_ < running_.size() &&
           running_[next_job_].expected_end > first_batch_end_ + time_window_;
  }

  const RunningByEnd& running_;
  const NodeBits& avail_;
  const Second epoch_;
  const int window_linear_;
  const Second later_start_;
  std::size_t next_job_ = 0, ended_count_ = 0;
  // Running jobs before this index are scanned; those of the last 64 that have a node in `avail`
  // are the bits of matching_jobs_.
  std::size_t scanned_count_ = 0;
  std::uint64_t matching_jobs_ = 0;
  Second time_window_ = 30;
  Second first_batch_end_ = kNever;  // of the first job's end, rounded up to the time window
};

}  // namespace cosched::slurm
