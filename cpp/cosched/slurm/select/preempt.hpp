// Preemption: whose nodes a job may take, and which running jobs must go (RULES.md 15).
#pragma once

#include "cosched/slurm/select/select.hpp"

namespace cosched::slurm {

/// Null: it has none.
inline const Qos* qos_of(const Scenario& scenario, int job) {
  const int which = scenario.job(job).qos;
  return which < 0 ? nullptr : &scenario.machine().qos[which];
}

/// Partitions, or QOS, whose jobs it may preempt.
inline const std::vector<int>& preempted_by(const Scenario& scenario, QueueEntry by) {
  static const std::vector<int> nobody;
  const Settings::Preempt& settings = scenario.settings().preempt;
  if (!settings.is_enabled()) return nobody;
  if (settings.type == Settings::Preempt::Type::partition)
    return scenario.lower_partitions(by.partition);
  const Qos* own = qos_of(scenario, by.job);
  return own ? own->preempts : nobody;
}

/// Whether a job there comes before the other, and may take its place: by PriorityTier of
/// partitions that share nodes, or by the lists of QOS.
inline bool may_preempt(const Scenario& scenario, QueueEntry by, QueueEntry other) {
  const std::vector<int>& lower = preempted_by(scenario, by);
  if (lower.empty()) return false;
  const bool tiers = scenario.settings().preempt.type == Settings::Preempt::Type::partition;
  const int theirs = tiers ? other.partition : scenario.job(other.job).qos;
  return std::find(lower.begin(), lower.end(), theirs) != lower.end();
}

class Preemption {
 public:
  /// Requires that both outlive it.
  Preemption(const Scenario& scenario, Allocations& allocations)
      : scenario_(scenario), allocations_(allocations) {
    if (!is_enabled()) return;
    partition_by_job_.resize(scenario.jobs().size());
    last_preemption_by_job_.assign(scenario.jobs().size(), -kNever);
  }

  bool is_enabled() const { return scenario_.settings().preempt.is_enabled(); }
  void start(QueueEntry entry) {
    if (is_enabled()) partition_by_job_[index(entry.job)] = entry.partition;
  }
  /// A pass or cycle begins: all may be tried again.
  void begin_pass() { jobs_in_progress_.clear(); }
  bool is_in_progress(int job) const {
    return std::find(jobs_in_progress_.begin(), jobs_in_progress_.end(), job) !=
           jobs_in_progress_.end();
  }

  /// Running jobs that it may end, in the order in which they are tried.
  std::vector<int> candidates(QueueEntry entry, Second now) const {
    std::vector<int> found;
    if (preempted_by(scenario_, entry).empty()) return found;
    const NodeBits& nodes = scenario_.partition(entry).nodes;
    for (const int job : allocations_.running()) {
      if (!may_preempt(scenario_, entry, running_entry(job)) || mode(job) == Mode::off) continue;
      if (!is_exempt(job, now) && allocations_.nodes(job).intersects(nodes)) found.push_back(job);
    }
    std::sort(found.begin(), found.end(), [&](int a, int b) {  // as on slurmctld's list of jobs
      return std::pair(scenario_.job(a).submit, a) < std::pair(scenario_.job(b).submit, b);
    });
    const bool youngest = scenario_.settings().preempt.youngest_first;
    std::stable_sort(found.begin(), found.end(), [&](int a, int b) {
      return youngest ? allocations_.start_second(a) > allocations_.start_second(b)
                      : preemption_rank(a) < preemption_rank(b);
    });
    return found;
  }

  /// The jobs that have to go so that it can start, and its nodes; none: nobody, or it does not
  /// help.
  struct Victims {
    std::vector<int> jobs;
    Loan<NodeChoice> choice;  // until the next call of Select::select_now()
  };
  Victims choose_victims(QueueEntry entry, const NodeBits& allowed, Second now, Select& select) {
    std::vector<int> order = candidates(entry, now);
    order.erase(std::remove_if(order.begin(), order.end(),
                               [&](int job) { return mode(job) == Mode::suspend; }),
                order.end());
    const auto count = static_cast<int>(order.size());
    for (int pass = 0; !order.empty();) {
      Victims found;
      std::size_t last = 0;
      {
        std::vector<int> gone;
        for (; last < order.size() && !found.choice; ++last) {
          gone.push_back(order[last]);
          const ScopedHidden lifted(*this, gone);
          found.choice = select.select_now(entry, allowed);
        }
      }
      if (!found.choice) return {};
      --last;
      if (pass++ <= scenario_.settings().preempt.reorder_count && count > pass) {
        reorder(order, last, found.choice->nodes);
        continue;
      }
      for (std::size_t k = 0; k <= last; ++k)
        if (allocations_.nodes(order[k]).intersects(found.choice->nodes))
          found.jobs.push_back(order[k]);
      return found;
    }
    return {};
  }

  /// Whether the job may send them away now, or waits for those that it has sent already.
  bool try_begin_preemption(int job, Second now) {
    constexpr Second kMessageTimeout = 10;
    jobs_in_progress_.push_back(job);
    if (last_preemption_by_job_[index(job)] >
        now - scenario_.settings().select.kill_wait - kMessageTimeout)
      return false;
    last_preemption_by_job_[index(job)] = now;
    return true;
  }

  /// What happens to a running job.
  enum class Mode : char { off, cancel, requeue, suspend };
  // Of its partition or QOS where that says it, else the cluster's.
  Mode mode(int job) const {
    const Settings::Preempt& settings = scenario_.settings().preempt;
    int own = -1;
    if (settings.type == Settings::Preempt::Type::partition)
      own = scenario_.partition(running_entry(job)).preempt_mode;
    else if (const Qos* qos = qos_of(scenario_, job))
      own = qos->preempt_mode;
    return static_cast<Mode>(own >= 0 ? own : settings.mode);
  }

  /// Seconds that it has left.
  Second grace_time(int job) const {
    if (scenario_.settings().preempt.type == Settings::Preempt::Type::partition)
      return scenario_.partition(running_entry(job)).grace_time;
    const Qos* qos = qos_of(scenario_, job);
    return qos ? qos->grace_time : 0;
  }

  /// As if these jobs were gone, for as long as this lives.
  class ScopedHidden {
   public:
    ScopedHidden(Preemption& of, std::vector<int> jobs) : preemption_(of), jobs_(std::move(jobs)) {
      for (const int job : jobs_) preemption_.allocations_.hide(job);
    }

    ~ScopedHidden() {
      for (const int job : jobs_) preemption_.allocations_.unhide(job);
    }

    ScopedHidden(const ScopedHidden&) = delete;
    ScopedHidden& operator=(const ScopedHidden&) = delete;

   private:
    Preemption& preemption_;
    std::vector<int> jobs_;
  };

 private:
  static std::size_t index(int job) { return static_cast<std::size_t>(job); }
  // PreemptExemptTime of the QOS that count for it, else the cluster's.
  bool is_exempt(int job, Second now) const {
    Second least = scenario_.settings().preempt.exempt_time;
    for (const int which : {scenario_.job(job).qos, scenario_.partition(running_entry(job)).qos}) {
      if (which < 0) continue;
      const Second own = scenario_.machine().qos[which].preempt_exempt_time;
      if (own >= 0) least = own;
    }
    return now < allocations_.start_second(job) + least;
  }

  // Of low tier (or QOS) first, small ones before large ones.
  double preemption_rank(int job) const {
    constexpr double kMost = 65535;
    double first = scenario_.partition(running_entry(job)).tier;
    if (scenario_.settings().preempt.type == Settings::Preempt::Type::qos) {
      const Qos* qos = qos_of(scenario_, job);
      first = qos ? std::min(qos->priority, kMost) : 0;
    }
    return first * (kMost + 1) + std::min<double>(allocations_.nodes(job).count(), kMost);
  }

  QueueEntry running_entry(int job) const { return {job, partition_by_job_[index(job)]}; }
  // The last one is what made it possible: first the next time, and with it those that gave most
  // nodes.
  void reorder(std::vector<int>& order, std::size_t last, const NodeBits& nodes) const {
    const auto end = order.begin() + static_cast<std::ptrdiff_t>(last);
    if (!scenario_.settings().preempt.strict_order)
      std::stable_sort(order.begin(), end, [&](int a, int b) {
        return allocations_.nodes(a).count_common(nodes) >
               allocations_.nodes(b).count_common(nodes);
      });
    std::rotate(order.begin(), end, end + 1);
  }

  const Scenario& scenario_;
  Allocations& allocations_;
  std::vector<int> partition_by_job_, jobs_in_progress_;
  std::vector<Second> last_preemption_by_job_;  // when a job sent others away last
};

}  // namespace cosched::slurm
