// Which nodes, and from when: select/linear and select/cons_tres on whole nodes or shared ones
// (RULES.md 5).
#pragma once

#include "cosched/core/loan.hpp"
#include "cosched/slurm/select/allocations.hpp"
#include "cosched/slurm/select/will_run_cache.hpp"

namespace cosched::slurm {

class Select {
 public:
  /// `epoch`: Unix time of second 0; `remembers`: what it answered, which changes nothing but the
  /// time it takes.  Requires that scenario and allocations outlive it.
  Select(const Scenario& scenario, const Allocations& allocations, Second epoch,
         bool remembers = true)
      : scenario_(scenario),
        allocations_(allocations),
        epoch_(epoch),
        is_24_11_(scenario.settings().is_24_11),
        memoises_(remembers),
        cache_(weighted_nodes(scenario)),
        empty_machine_(scenario.machine()),
        no_cores_taken_(scenario),
        overlapping_cores_(scenario),
        candidate_nodes_(scenario.machine().nodes),
        line_nodes_(scenario.machine().nodes),
        set_nodes_(scenario.machine().nodes),
        run_now_choice_(scenario.machine().nodes),
        will_run_choice_(scenario.machine().nodes),
        test_only_choice_(scenario.machine().nodes) {
    if (!scenario.shares_nodes()) return;
    weights_.resize(static_cast<std::size_t>(scenario.machine().nodes));
    NodeBits every(scenario.machine().nodes);
    every.add_range(0, scenario.machine().nodes);
    reset_weights(every, false);
  }

  /// Nodes of `allowed` and of the entry's partition on which it can start at once; none if there
  /// are too few.  Lent until the next call.
  Loan<NodeChoice> select_now(QueueEntry entry, const NodeBits& allowed) {
    const Job& job = scenario_.job(entry);
    ++weights_version_;
    select_now_lender_.begin_call();
    candidate_nodes_ = allowed;
    candidate_nodes_ &= scenario_.partition(entry).nodes;
    const bool weighed = !scenario_.machine().node_weight.empty();
    if (scenario_.shares_nodes() &&
        (is_24_11_ || weighed || !scenario_.machine().node_gpus.empty()))
      reset_weights(candidate_nodes_, false);
    if (!scenario_.suspends_jobs()) candidate_nodes_ -= allocations_.busy_nodes();
    candidate_nodes_ -= allocations_.completing_nodes();
    if (job.node_set >= 0) candidate_nodes_ &= scenario_.machine().node_sets[job.node_set];
    if (candidate_nodes_.count() < job.nodes) return {};
    if (job.alternative_sets.empty())
      return choose_candidates(entry, run_now_choice_) ? select_now_lender_.lend(run_now_choice_)
                                                       : Loan<NodeChoice>();
    set_nodes_ = candidate_nodes_;
    for (const int set : job.alternative_sets) {
      candidate_nodes_ = set_nodes_;
      candidate_nodes_ &= scenario_.machine().node_sets[set];
      if (candidate_nodes_.count() >= job.nodes && choose_candidates(entry, run_now_choice_))
        return select_now_lender_.lend(run_now_choice_);
    }
    return {};
  }

  bool remembers_answers() const { return memoises_; }
  /// What tests leave for later ones: all that an answer depends on beside what runs.
  const Weights& weights() const { return is_24_11_ ? no_weights_ : weights_; }
  void restore_weights(const Weights& left) {
    if (!is_24_11_) weights_ = left;
  }
  /// Grows whenever a test leaves other weights for later ones.
  std::int64_t weights_version() const { return weights_version_; }

  struct Slot {
    Second begin;
    Loan<NodeBits> nodes;  // until the next call of will_run()
  };
  /// When a job is wanted: it begins at `from` or later; a begin after `later_start` is
  /// looked at another time (RULES.md 12.2).
  struct StartWindow {
    Second now;
    bool starts_now_or_never = false;  // now or not at all
    Second from = 0, later_start = kNever;
  };
  /// The earliest slot on `avail` given the running jobs and their limits alone.
  std::optional<Slot> will_run(QueueEntry entry, const NodeBits& avail, const StartWindow& time) {
    const Job& job = scenario_.job(entry);
    weights_version_ += job.request.gpus > 0 && !is_24_11_;
    will_run_lender_.begin_call();
    if (job.alternative_sets.empty()) return will_run_on(entry, avail, time);
    std::optional<Slot> best;
    for (const int set : job.alternative_sets) {
      set_nodes_ = avail;
      set_nodes_ &= scenario_.machine().node_sets[set];
      if (set_nodes_.count() < job.nodes) continue;
      const auto found = will_run_on(entry, set_nodes_, time);
      if (!found || (best && found->begin >= best->begin)) continue;
      best_nodes_ = *found->nodes;
      best = Slot{found->begin, will_run_lender_.lend(best_nodes_)};
    }
    return best;
  }

  /// Whether the job could run on `allowed` nodes of the partition if nothing else did.
  bool could_run(QueueEntry entry, const NodeBits& allowed) {
    const Job& job = scenario_.job(entry);
    ++weights_version_;
    const Partition& part = scenario_.partition(entry);
    const auto on = [&](const NodeBits& nodes) {
      if (nodes.count() < job.nodes) return false;
      if (scenario_.shares_nodes() && is_24_11_) reset_weights(nodes, false);
      return !scenario_.shares_nodes() ||
             gather_and_choose(entry, nodes, empty_machine_, no_cores_taken_, test_only_choice_);
    };
    candidate_nodes_ = allowed;
    candidate_nodes_ &= part.nodes;
    if (job.node_set >= 0) candidate_nodes_ &= scenario_.machine().node_sets[job.node_set];
    if (job.alternative_sets.empty()) return on(candidate_nodes_);
    return std::any_of(job.alternative_sets.begin(), job.alternative_sets.end(), [&](int set) {
      line_nodes_ = candidate_nodes_;
      line_nodes_ &= scenario_.machine().node_sets[set];
      return on(line_nodes_);
    });
  }

 private:
  // Those with GPUs for which each test sets weights; since 24.11 it sets all anew.
  static NodeBits weighted_nodes(const Scenario& scenario) {
    const Machine& machine = scenario.machine();
    NodeBits nodes(machine.nodes);
    if (scenario.settings().is_24_11) return nodes;
    for (const std::vector<int>& gpus : machine.node_gpus)
      for (int node = 0; node < machine.nodes; ++node)
        if (gpus[node] > 0) nodes.add(node);
    return nodes;
  }

  bool gather_and_choose(QueueEntry entry, const NodeBits& candidates, const FreeResources& free,
                         const CoreMap& cores, NodeChoice& choice) {
    if (scenario_.suspends_jobs())
      return overlapping_cores_.choose(entry, candidates, free, cores, weights_, choice);
    candidates_.gather(scenario_.machine(), scenario_.job(entry), candidates, free, weights_);
    return choose_from_gathered(free, choice);
  }

  bool choose_from_gathered(const FreeResources& free, NodeChoice& choice) {
    if (!candidates_.choose(free, weights_, choice.shares)) return false;
    choice.set_nodes_from_shares();
    return true;
  }

  // Chooses from candidate_nodes_, which has at least as many as the job wants.  select/linear
  // takes the NodeName lines one after another and stops as soon as they hold enough.
  bool choose_candidates(QueueEntry entry, NodeChoice& choice) {
    const Machine& machine = scenario_.machine();
    const Job& job = scenario_.job(entry);
    if (scenario_.shares_nodes())
      return gather_and_choose(entry, candidate_nodes_, allocations_.free_resources(),
                               allocations_.cores(), choice);
    if (scenario_.settings().select.cons_tres || machine.node_lines.size() <= 1) {
      best_fit_.choose(candidate_nodes_, job.nodes, choice.nodes);
      return true;
    }
    line_nodes_.clear();
    int have = 0;
    for (const NodeBits& line : machine.node_lines) {
      have += line.count_common(candidate_nodes_);
      line_nodes_ |= line;
      if (have >= job.nodes) break;
    }
    line_nodes_ &= candidate_nodes_;
    best_fit_.choose(line_nodes_, job.nodes, choice.nodes);
    return true;
  }

  // Asked once of each shape, as long as what runs is the same.
  std::optional<Slot> will_run_on(QueueEntry entry, const NodeBits& avail,
                                  const StartWindow& time) {
    if (!memoises_) cache_.clear();
    const bool dated = is_24_11_ && scenario_.settings().select.cons_tres;  // (RULES.md 12.2)
    WillRunCache::Answer& answer = cache_.find(
        {scenario_.job(entry).shape, entry.partition, time.starts_now_or_never,
         dated && time.from > time.now, dated ? time.from : 0, dated ? time.later_start : 0, avail},
        allocations_.version(), weights_);
    if (!answer.empty())
      cache_.load(answer, will_run_choice_.nodes, weights_);
    else
      cache_.store(answer, compute_will_run(entry, avail, time), will_run_choice_.nodes, weights_);
    const int after = WillRunCache::start_after(answer);
    if (after == WillRunCache::kNoStart) return std::nullopt;
    return Slot{after == WillRunCache::kNow ? time.now : expected_end(after, time.now),
                will_run_lender_.lend(will_run_choice_.nodes)};
  }

  void update_released_nodes() {
    if (released_version_ == allocations_.version()) return;
    released_version_ = allocations_.version();
    const std::vector<int>& running = allocations_.running();
    if (released_nodes_.size() <= running.size()) released_nodes_.resize(running.size() + 1);
    released_nodes_[0] = allocations_.up_nodes();
    released_nodes_[0] -= allocations_.busy_nodes();
    for (std::size_t k = 0; k < running.size(); ++k) {
      released_nodes_[k + 1] = released_nodes_[k];
      released_nodes_[k + 1] |= allocations_.nodes(running[k]);
    }
  }

  // Returns the running job after whose end the job can begin, or kNow, or kNoStart; its nodes are
  // in will_run_choice_.
  int compute_will_run(QueueEntry entry, const NodeBits& avail, const StartWindow& time) {
    if (scenario_.shares_nodes()) return will_run_shared(entry, avail, time);
    candidate_nodes_ = avail;
    candidate_nodes_ -= allocations_.busy_nodes();
    const int count = candidate_nodes_.count(), wanted = scenario_.job(entry).nodes;
    const bool groups = scenario_.settings().select.cons_tres;
    if (count >= wanted && !(is_24_11_ && groups && time.from > time.now)) {
      best_fit_.choose(candidate_nodes_, wanted, will_run_choice_.nodes);
      return WillRunCache::kNow;
    }
    if (time.starts_now_or_never) return WillRunCache::kNoStart;
    return groups ? will_run_batches(wanted, avail, count, time) : will_run_linear(wanted, avail);
  }

  EndBatches end_batches(const NodeBits& avail, const StartWindow& time) {
    running_by_end_.refresh(allocations_);
    return {running_by_end_,
            avail,
            epoch_,
            scenario_.settings().select.window_linear,
            is_24_11_ ? time.from : -kNever,
            is_24_11_ ? time.later_start : kNever};
  }

  int will_run_linear(int wanted, const NodeBits& avail) {
    update_released_nodes();
    const std::vector<int>& running = allocations_.running();
    std::size_t few = 0, enough = running.size();  // jobs gone: too few, and (if any) enough
    if (avail.count_common(released_nodes_[enough]) < wanted) return WillRunCache::kNoStart;
    while (enough - few > 1) {
      const std::size_t middle = (few + enough) / 2;
      (avail.count_common(released_nodes_[middle]) < wanted ? few : enough) = middle;
    }
    candidate_nodes_ = avail;
    candidate_nodes_ &= released_nodes_[enough];
    best_fit_.choose(candidate_nodes_, wanted, will_run_choice_.nodes);
    return running[enough - 1];
  }

  int will_run_batches(int wanted, const NodeBits& avail, int count, const StartWindow& time) {
    EndBatches groups = end_batches(avail, time);
    const auto gone = [&](const RunningByEnd::RunningJob& other) {
      count += other.nodes->count_common(avail);
      candidate_nodes_ |= *other.nodes;
    };
    const auto chosen = [&](int after) {
      candidate_nodes_ &= avail;
      best_fit_.choose(candidate_nodes_, wanted, will_run_choice_.nodes);
      return after;
    };
    if (is_24_11_) {
      groups.for_each_ended(gone);
      if (count >= wanted) return chosen(WillRunCache::kNow);
    }
    for (int last; (last = groups.next_batch(gone)) >= 0;)
      if (count >= wanted) return chosen(last);
    return WillRunCache::kNoStart;
  }

  int will_run_shared(QueueEntry entry, const NodeBits& avail, const StartWindow& time) {
    const bool suspends = scenario_.suspends_jobs();
    if (!is_24_11_ || time.from <= time.now) {
      if (is_24_11_) reset_weights(avail, true);
      if (gather_and_choose(entry, avail, allocations_.free_resources(), allocations_.cores(),
                            will_run_choice_))
        return WillRunCache::kNow;
    }
    if (time.starts_now_or_never) return WillRunCache::kNoStart;
    reset_projection();
    EndBatches groups = end_batches(avail, time);
    bool gathered = !suspends && !is_24_11_;  // the candidates are those of now, or as they change
    const auto give = [&](const Share& share) {
      projected_free_.release(share);
      projected_nodes_.push_back(share.node);
      if (gathered) candidates_.update(share.node, projected_free_, weights_);
    };
    const auto gone = [&](const RunningByEnd::RunningJob& other) {
      if (other.single_share.node >= 0) {
        give(other.single_share);
      } else {
        const Shares& shares = allocations_.shares(other.job);
        for (const GpuShare& share : shares.gpus)
          if (avail.has(share.node)) projected_free_.release(share);
        for (const Share& share : shares.nodes)
          if (avail.has(share.node)) give(share);
      }
      if (suspends)
        projected_cores_.release(allocations_.partition(other.job), allocations_.cores(other.job));
    };
    if (is_24_11_) {
      reset_weights(avail, false);
      groups.for_each_ended(gone);
      if ((groups.has_ended_jobs() || time.from > time.now) &&
          gather_and_choose(entry, avail, projected_free_, projected_cores_, will_run_choice_))
        return WillRunCache::kNow;
    }
    for (int last; (last = groups.next_batch(gone)) >= 0;) {
      const bool enough = gathered ? choose_from_gathered(projected_free_, will_run_choice_)
                                   : gather_and_choose(entry, avail, projected_free_,
                                                       projected_cores_, will_run_choice_);
      if (enough) return last;
      gathered = !suspends;
    }
    return WillRunCache::kNoStart;
  }

  // Nodes that the last test changed become as they are, where that is cheaper than another copy.
  void reset_projection() {
    constexpr std::size_t kCheap = 8;  // nodes that are copied in the time of one
    const FreeResources& now = allocations_.free_resources();
    if (projection_version_ == allocations_.version() &&
        projected_nodes_.size() * kCheap < now.nodes.size())
      for (const int node : projected_nodes_) projected_free_.copy_node(node, now);
    else
      projected_free_ = now;
    if (scenario_.suspends_jobs()) projected_cores_ = allocations_.cores();
    projection_version_ = allocations_.version();
    projected_nodes_.clear();
  }

  // When that job, which may be past its limit, has ended.
  Second expected_end(int job, Second now) const {
    const Settings::Select& settings = scenario_.settings().select;
    const Second end = allocations_.expected_end(job);
    if (end > now) return end;
    if (!settings.cons_tres) return now + 1;
    return settings.over_time_limit >= kNever
               ? now + scenario_.job(job).limit
               : std::max(now + 1, end + settings.kill_wait + settings.over_time_limit);
  }

  // Where 22.05 sets no weights anew, they are as the last test left them.
  void reset_weights(const NodeBits& nodes, bool completing_last) {
    const std::vector<int>& weight = scenario_.machine().node_weight;
    nodes.for_each_run([&](int first, int length) {
      for (int node = first; node < first + length; ++node) {
        const int late = completing_last && allocations_.completing_nodes().has(node) ? 1 : 0;
        weights_[node] = scheduling_weight(2 * (weight.empty() ? 0 : weight[node]) + late);
      }
    });
  }

  const Scenario& scenario_;
  const Allocations& allocations_;
  Second epoch_;
  bool is_24_11_, memoises_;
  WillRunCache cache_;
  // Nodes without a job once the first k running jobs are gone, as of that version.
  std::vector<NodeBits> released_nodes_;
  std::int64_t released_version_ = -1;
  Weights weights_;  // as the last tests left them
  const Weights no_weights_;
  std::int64_t weights_version_ = 0;
  RunningByEnd running_by_end_;
  FreeResources empty_machine_;
  // What is free after the expected ends of running jobs: as in the allocations of that version but
  // for the projected nodes.
  FreeResources projected_free_;
  std::vector<int> projected_nodes_;
  std::int64_t projection_version_ = -1;
  CoreMap no_cores_taken_, projected_cores_;
  OverlappingCores overlapping_cores_;
  Candidates candidates_;  // of the last test
  // Scratch, kept so that nothing is allocated.
  NodeBits candidate_nodes_, line_nodes_, set_nodes_, best_nodes_;
  NodeChoice run_now_choice_, will_run_choice_, test_only_choice_;
  BestFit best_fit_;
  Lender select_now_lender_, will_run_lender_;  // of the answers of select_now() and will_run()
};

}  // namespace cosched::slurm
