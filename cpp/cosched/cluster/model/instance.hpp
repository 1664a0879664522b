// A stream of jobs and the homogeneous nodes they share (Casanova, Stillwell, Vivien 2011, section
// 2.2).
#pragma once

#include <string>
#include <vector>

namespace cosched::cluster {

/// Bounded stretch: turnaround and run time count as at least this many seconds.
inline constexpr double kStretchThreshold = 10;

/// Columns of equal length: one row for each job, in any order of submission.
struct Jobs {
  std::vector<double> submit;   // r_j, seconds
  std::vector<int> tasks;       // |T_j|
  std::vector<double> cpu;      // c_j, need of one task, fraction of a node
  std::vector<double> memory;   // m_j, need of one task, fraction of a node
  std::vector<double> runtime;  // p_j, dedicated run time, seconds
  // Requested run time, seconds; infinite = no limit; no rows = not known.
  std::vector<double> estimate;

  // How messages name a job.
  std::vector<std::string> id = {};  // as in its log; empty = by its row
  std::vector<int> line = {};        // of the file
  std::string source = {};           // the file's name

  int size() const { return static_cast<int>(submit.size()); }
  /// "job 4711": by its id, or by its row where it has none or does not exist.
  std::string name_of(int job) const;
  /// "log.swf: job 4711 (line 5203)".
  std::string location_of(int job) const;
};

/// Simulator and checker keep an account of each node: more nodes would need too much memory.
inline constexpr int kMaxNodes = 10'000'000;

/// Immutable and validated.  Invariants: 1 <= nodes <= kMaxNodes, at least one job; submit and
/// runtime finite and >= 0; tasks >= 1; cpu and memory in (0, 1]; estimate, where
/// given, >= 0 or infinite.  Jobs larger than the machine are allowed: a policy that
/// cannot run one rejects it.
class Instance {
 public:
  /// Throws InvalidInstance with column, row and value of the first bad entry.
  Instance(Jobs jobs, int nodes);

  const Jobs& jobs() const { return jobs_; }
  int size() const { return jobs_.size(); }
  int nodes() const { return nodes_; }
  bool has_estimates() const { return !jobs_.estimate.empty(); }

  /// Job numbers by submission; equal submissions by job number.  Everywhere in
  /// this family a job's *rank* is its position here.
  const std::vector<int>& order() const { return order_; }

  /// sum_j p_j c_j |T_j|: CPU seconds that the jobs need.
  double total_work() const { return total_work_; }

 private:
  Jobs jobs_;
  int nodes_;
  std::vector<int> order_;
  double total_work_ = 0;
};

/// Throws InfeasibleError that names the first job with more tasks than nodes:
/// a batch policy gives each task a node of its own.
void require_batch_fits(const Instance& instance);

/// Throws InfeasibleError that names the first job whose tasks do not fit in the
/// memory of the whole empty machine.
void require_memory_fits(const Instance& instance);

/// max(turnaround, threshold) / max(runtime, threshold).
double bounded_stretch(double submit, double end, double runtime,
                       double threshold = kStretchThreshold);

}  // namespace cosched::cluster
