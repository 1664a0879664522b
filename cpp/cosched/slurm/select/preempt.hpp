// Preemption: whose nodes a job may take, and which running jobs must go (RULES.md 15).
#pragma once

#include <vector>

#include "cosched/slurm/select/select.hpp"

namespace cosched::slurm {

/// Whether a job there comes before the other, and may take its place: by PriorityTier of
/// partitions that share nodes, or by the lists of QOS.
bool may_preempt(const Scenario& scenario, Entry by, Entry other);

class Preemption {
 public:
  /// Requires that both outlive it.
  Preemption(const Scenario& scenario, Allocations& allocations);

  bool enabled() const { return scenario_.settings().preempt.enabled(); }
  void start(Entry entry) {
    if (enabled()) part_[index(entry.job)] = entry.part;
  }
  /// A pass or cycle begins: all may be tried again.
  void begin() { in_progress_.clear(); }
  bool in_progress(int job) const;

  /// Running jobs that it may end, in the order in which they are tried.
  std::vector<int> candidates(Entry entry, Second now) const;
  /// The jobs that have to go so that it can start, and its nodes; none: nobody, or it does not
  /// help.
  struct Victims {
    std::vector<int> jobs;
    const Choice* choice = nullptr;
  };
  Victims victims(Entry entry, const NodeBits& allowed, Second now, Select& select);
  /// Whether the job may send them away now, or waits for those that it has sent already.
  bool sends(int job, Second now);

  /// What happens to a running job.
  enum class Mode : char { off, cancel, requeue, suspend };
  Mode mode(int job) const;
  /// Seconds that it has left.
  Second grace(int job) const;

  /// As if these jobs were gone, for as long as this lives.
  class Lifted {
   public:
    Lifted(Preemption& of, std::vector<int> jobs);
    ~Lifted();
    Lifted(const Lifted&) = delete;
    Lifted& operator=(const Lifted&) = delete;

   private:
    Preemption& of_;
    std::vector<int> jobs_;
  };

 private:
  static std::size_t index(int job) { return static_cast<std::size_t>(job); }
  bool exempt(int job, Second now) const;
  double rank(int job) const;
  Entry running(int job) const { return {job, part_[index(job)]}; }
  void reorder(std::vector<int>& order, std::size_t last, const NodeBits& nodes) const;

  const Scenario& scenario_;
  Allocations& allocations_;
  std::vector<int> part_, in_progress_;
  std::vector<Second> sent_;  // when a job sent others away last
};

}  // namespace cosched::slurm
