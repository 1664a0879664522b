// Which nodes, and from when: select/linear and select/cons_tres on whole nodes or shared ones
// (RULES.md 5).
#pragma once

#include "cosched/core/loan.hpp"
#include "cosched/slurm/select/allocations.hpp"
#include "cosched/slurm/select/answers.hpp"

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
        since_24_(scenario.settings().since_24),
        remembers_(remembers),
        answers_(changing(scenario)),
        empty_(scenario.machine()),
        nobody_(scenario),
        overlap_(scenario),
        open_(scenario.machine().nodes),
        some_(scenario.machine().nodes),
        one_set_(scenario.machine().nodes),
        chosen_now_(scenario.machine().nodes),
        chosen_then_(scenario.machine().nodes),
        tried_(scenario.machine().nodes) {
    if (!scenario.own_cores()) return;
    weights_.resize(static_cast<std::size_t>(scenario.machine().nodes));
    NodeBits every(scenario.machine().nodes);
    every.add_range(0, scenario.machine().nodes);
    reset_weights(every, false);
  }

  /// Nodes of `allowed` and of the entry's partition on which it can start at once; none if there
  /// are too few.  Lent until the next call.
  Loan<Choice> now(Entry entry, const NodeBits& allowed) {
    const Job& job = scenario_.job(entry);
    ++weighed_;
    lender_now_.begin_call();
    open_ = allowed;
    open_ &= scenario_.part(entry).nodes;
    const bool weighed = !scenario_.machine().node_weight.empty();
    if (scenario_.own_cores() && (since_24_ || weighed || !scenario_.machine().node_gpus.empty()))
      reset_weights(open_, false);
    if (!scenario_.suspends()) open_ -= allocations_.busy();
    open_ -= allocations_.cleaning();
    if (job.set >= 0) open_ &= scenario_.machine().sets[job.set];
    if (open_.count() < job.nodes) return {};
    if (job.alternatives.empty())
      return choose_now(entry, chosen_now_) ? lender_now_.lend(chosen_now_) : Loan<Choice>();
    one_set_ = open_;
    for (const int set : job.alternatives) {
      open_ = one_set_;
      open_ &= scenario_.machine().sets[set];
      if (open_.count() >= job.nodes && choose_now(entry, chosen_now_))
        return lender_now_.lend(chosen_now_);
    }
    return {};
  }

  bool remembers() const { return remembers_; }
  /// What tests leave for later ones: all that an answer depends on beside what runs.
  const Weights& left() const { return since_24_ ? none_ : weights_; }
  void leave(const Weights& left) {
    if (!since_24_) weights_ = left;
  }
  /// Grows whenever a test leaves other weights for later ones.
  std::int64_t weighed() const { return weighed_; }

  struct Slot {
    Second begin;
    Loan<NodeBits> nodes;  // until the next call of will_run()
  };
  /// When a job is wanted: it begins at `from` or later; what comes after `later` is looked at
  /// another time (RULES.md 12.2).
  struct Time {
    Second now;
    bool at_once = false;  // now or not at all
    Second from = 0, later = kNever;
  };
  /// The earliest slot on `avail` given the running jobs and their limits alone.
  std::optional<Slot> will_run(Entry entry, const NodeBits& avail, const Time& time) {
    const Job& job = scenario_.job(entry);
    weighed_ += job.ask.gpus > 0 && !since_24_;
    lender_then_.begin_call();
    if (job.alternatives.empty()) return will_run_on(entry, avail, time);
    std::optional<Slot> best;
    for (const int set : job.alternatives) {
      one_set_ = avail;
      one_set_ &= scenario_.machine().sets[set];
      if (one_set_.count() < job.nodes) continue;
      const auto found = will_run_on(entry, one_set_, time);
      if (!found || (best && found->begin >= best->begin)) continue;
      best_nodes_ = *found->nodes;
      best = Slot{found->begin, lender_then_.lend(best_nodes_)};
    }
    return best;
  }

  /// Whether the job could run on `allowed` nodes of the partition if nothing else did.
  bool could_run(Entry entry, const NodeBits& allowed) {
    const Job& job = scenario_.job(entry);
    ++weighed_;
    const Partition& part = scenario_.part(entry);
    const auto on = [&](const NodeBits& nodes) {
      if (nodes.count() < job.nodes) return false;
      if (scenario_.own_cores() && since_24_) reset_weights(nodes, false);
      return !scenario_.own_cores() || choose_of(entry, nodes, empty_, nobody_, tried_);
    };
    open_ = allowed;
    open_ &= part.nodes;
    if (job.set >= 0) open_ &= scenario_.machine().sets[job.set];
    if (job.alternatives.empty()) return on(open_);
    return std::any_of(job.alternatives.begin(), job.alternatives.end(), [&](int set) {
      some_ = open_;
      some_ &= scenario_.machine().sets[set];
      return on(some_);
    });
  }

 private:
  // Those with GPUs for which each test sets weights; since 24.11 it sets all anew.
  static NodeBits changing(const Scenario& scenario) {
    const Machine& machine = scenario.machine();
    NodeBits nodes(machine.nodes);
    if (scenario.settings().since_24) return nodes;
    for (const std::vector<int>& gpus : machine.node_gpus)
      for (int node = 0; node < machine.nodes; ++node)
        if (gpus[node] > 0) nodes.add(node);
    return nodes;
  }

  bool choose_of(Entry entry, const NodeBits& candidates, const Free& free, const CoreMap& cores,
                 Choice& choice) {
    if (scenario_.suspends())
      return overlap_.choose(entry, candidates, free, cores, weights_, choice);
    candidates_.gather(scenario_.machine(), scenario_.job(entry), candidates, free, weights_);
    return choose_again(free, choice);
  }

  bool choose_again(const Free& free, Choice& choice) {
    if (!candidates_.choose(free, weights_, choice.shares)) return false;
    choice.list_nodes();
    return true;
  }

  // Of `open_`, where there are enough.  select/linear takes the NodeName lines one after another
  // and stops as soon as they hold enough.
  bool choose_now(Entry entry, Choice& choice) {
    const Machine& machine = scenario_.machine();
    const Job& job = scenario_.job(entry);
    if (scenario_.own_cores())
      return choose_of(entry, open_, allocations_.free(), allocations_.cores(), choice);
    if (scenario_.settings().select.cons_tres || machine.lines.size() <= 1) {
      best_fit_.choose(open_, job.nodes, choice.nodes);
      return true;
    }
    some_.clear();
    int have = 0;
    for (const NodeBits& line : machine.lines) {
      have += line.count_common(open_);
      some_ |= line;
      if (have >= job.nodes) break;
    }
    some_ &= open_;
    best_fit_.choose(some_, job.nodes, choice.nodes);
    return true;
  }

  // Asked once of each shape, as long as what runs is the same.
  std::optional<Slot> will_run_on(Entry entry, const NodeBits& avail, const Time& time) {
    if (!remembers_) answers_.forget();
    const bool dated = since_24_ && scenario_.settings().select.cons_tres;  // (RULES.md 12.2)
    Answers::Answer& answer = answers_.find(
        {scenario_.job(entry).shape, entry.part, time.at_once, dated && time.from > time.now,
         dated ? time.from : 0, dated ? time.later : 0, avail},
        allocations_.version(), weights_);
    if (!answer.empty())
      answers_.leave(answer, chosen_then_.nodes, weights_);
    else
      answers_.tell(answer, test(entry, avail, time), chosen_then_.nodes, weights_);
    const int after = Answers::after(answer);
    if (after == Answers::kNotAtAll) return std::nullopt;
    return Slot{after == Answers::kAtOnce ? time.now : end_of(after, time.now),
                lender_then_.lend(chosen_then_.nodes)};
  }

  void release_in_order() {
    if (released_version_ == allocations_.version()) return;
    released_version_ = allocations_.version();
    const std::vector<int>& running = allocations_.running();
    if (released_.size() <= running.size()) released_.resize(running.size() + 1);
    released_[0] = allocations_.up();
    released_[0] -= allocations_.busy();
    for (std::size_t k = 0; k < running.size(); ++k) {
      released_[k + 1] = released_[k];
      released_[k + 1] |= allocations_.nodes(running[k]);
    }
  }

  // Now, after that running job, or never; on which nodes, is in `chosen_then_`.
  int test(Entry entry, const NodeBits& avail, const Time& time) {
    if (scenario_.own_cores()) return will_run_shared(entry, avail, time);
    open_ = avail;
    open_ -= allocations_.busy();
    const int count = open_.count(), wanted = scenario_.job(entry).nodes;
    const bool groups = scenario_.settings().select.cons_tres;
    if (count >= wanted && !(since_24_ && groups && time.from > time.now)) {
      best_fit_.choose(open_, wanted, chosen_then_.nodes);
      return Answers::kAtOnce;
    }
    if (time.at_once) return Answers::kNotAtAll;
    return groups ? will_run_groups(wanted, avail, count, time) : will_run_linear(wanted, avail);
  }

  EndGroups groups_of(const NodeBits& avail, const Time& time) {
    order_.refresh(allocations_);
    return {order_,
            avail,
            epoch_,
            scenario_.settings().select.window_linear,
            since_24_ ? time.from : -kNever,
            since_24_ ? time.later : kNever};
  }

  int will_run_linear(int wanted, const NodeBits& avail) {
    release_in_order();
    const std::vector<int>& running = allocations_.running();
    std::size_t few = 0, enough = running.size();  // jobs gone: too few, and (if any) enough
    if (avail.count_common(released_[enough]) < wanted) return Answers::kNotAtAll;
    while (enough - few > 1) {
      const std::size_t middle = (few + enough) / 2;
      (avail.count_common(released_[middle]) < wanted ? few : enough) = middle;
    }
    open_ = avail;
    open_ &= released_[enough];
    best_fit_.choose(open_, wanted, chosen_then_.nodes);
    return running[enough - 1];
  }

  int will_run_groups(int wanted, const NodeBits& avail, int count, const Time& time) {
    EndGroups groups = groups_of(avail, time);
    const auto gone = [&](const EndOrder::Ending& other) {
      count += other.nodes->count_common(avail);
      open_ |= *other.nodes;
    };
    const auto chosen = [&](int after) {
      open_ &= avail;
      best_fit_.choose(open_, wanted, chosen_then_.nodes);
      return after;
    };
    if (since_24_) {
      groups.already(gone);
      if (count >= wanted) return chosen(Answers::kAtOnce);
    }
    for (int last; (last = groups.next(gone)) >= 0;)
      if (count >= wanted) return chosen(last);
    return Answers::kNotAtAll;
  }

  int will_run_shared(Entry entry, const NodeBits& avail, const Time& time) {
    const bool suspends = scenario_.suspends();
    if (!since_24_ || time.from <= time.now) {
      if (since_24_) reset_weights(avail, true);
      if (choose_of(entry, avail, allocations_.free(), allocations_.cores(), chosen_then_))
        return Answers::kAtOnce;
    }
    if (time.at_once) return Answers::kNotAtAll;
    free_as_now();
    EndGroups groups = groups_of(avail, time);
    bool gathered = !suspends && !since_24_;  // the candidates are those of now, or as they change
    const auto give = [&](const Share& share) {
      later_.give(share);
      changed_.push_back(share.node);
      if (gathered) candidates_.renew(share.node, later_, weights_);
    };
    const auto gone = [&](const EndOrder::Ending& other) {
      if (other.only.node >= 0) {
        give(other.only);
      } else {
        const Shares& shares = allocations_.shares(other.job);
        for (const GpuShare& share : shares.gpus)
          if (avail.has(share.node)) later_.give(share);
        for (const Share& share : shares.nodes)
          if (avail.has(share.node)) give(share);
      }
      if (suspends) later_cores_.give(allocations_.part(other.job), allocations_.cores(other.job));
    };
    if (since_24_) {
      reset_weights(avail, false);
      groups.already(gone);
      if ((groups.some_gone() || time.from > time.now) &&
          choose_of(entry, avail, later_, later_cores_, chosen_then_))
        return Answers::kAtOnce;
    }
    for (int last; (last = groups.next(gone)) >= 0;) {
      const bool enough = gathered ? choose_again(later_, chosen_then_)
                                   : choose_of(entry, avail, later_, later_cores_, chosen_then_);
      if (enough) return last;
      gathered = !suspends;
    }
    return Answers::kNotAtAll;
  }

  // Nodes that the last test changed become as they are, where that is cheaper than another copy.
  void free_as_now() {
    constexpr std::size_t kCheap = 8;  // nodes that are copied in the time of one
    const Free& now = allocations_.free();
    if (later_version_ == allocations_.version() && changed_.size() * kCheap < now.nodes.size())
      for (const int node : changed_) later_.copy(node, now);
    else
      later_ = now;
    if (scenario_.suspends()) later_cores_ = allocations_.cores();
    later_version_ = allocations_.version();
    changed_.clear();
  }

  // When that job, which may be past its limit, has ended.
  Second end_of(int job, Second now) const {
    const Settings::Select& settings = scenario_.settings().select;
    const Second end = allocations_.due(job);
    if (end > now) return end;
    if (!settings.cons_tres) return now + 1;
    return settings.over_time_limit >= kNever
               ? now + scenario_.job(job).limit
               : std::max(now + 1, end + settings.kill_wait + settings.over_time_limit);
  }

  // Where 22.05 sets no weights anew, they are as the last test left them.
  void reset_weights(const NodeBits& nodes, bool completing_last) {
    const std::vector<int>& weight = scenario_.machine().node_weight;
    nodes.runs([&](int first, int length) {
      for (int node = first; node < first + length; ++node) {
        const int late = completing_last && allocations_.cleaning().has(node) ? 1 : 0;
        weights_[node] = scheduling_weight(2 * (weight.empty() ? 0 : weight[node]) + late);
      }
    });
  }

  const Scenario& scenario_;
  const Allocations& allocations_;
  Second epoch_;
  bool since_24_, remembers_;
  Answers answers_;
  // Nodes without a job once the first k running jobs are gone, as of that version.
  std::vector<NodeBits> released_;
  std::int64_t released_version_ = -1;
  Weights weights_;  // as the last tests left them
  const Weights none_;
  std::int64_t weighed_ = 0;
  EndOrder order_;
  Free empty_, later_;  // `later_`: as of that version, but for the changed nodes
  std::vector<int> changed_;
  std::int64_t later_version_ = -1;
  CoreMap nobody_, later_cores_;
  Overlap overlap_;
  Candidates candidates_;  // of the last test
  // Scratch, kept so that nothing is allocated.
  NodeBits open_, some_, one_set_, best_nodes_;
  Choice chosen_now_, chosen_then_, tried_;
  BestFit best_fit_;
  Lender lender_now_, lender_then_;  // of the answers of now() and will_run()
};

}  // namespace cosched::slurm
