// What a simulation returns: flat columns by job number, and totals.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cosched/cluster/model/instance.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::cluster {

struct Outcome {
  std::vector<double> start;     // of the first task instance, seconds
  std::vector<double> end;       // completion, seconds
  std::vector<int> preemptions;  // times paused
  std::vector<int> migrations;   // times moved while running
  double demand_area = 0;        // integral of min(P, D(t)) dt, D = CPU need of unfinished jobs
  double preempted_memory = 0;   // sum over pauses of m_j |T_j|: whole-node memories saved
  double migrated_memory = 0;    // sum over migrations of m_j x moved tasks
  std::int64_t events = 0;       // instants at which something happened

  /// All columns sized for `jobs`, zeros.
  explicit Outcome(int jobs = 0) : start(jobs), end(jobs), preemptions(jobs), migrations(jobs) {}
};

/// Bounded stretch of each job.
inline std::vector<double> stretches(const Instance& instance, const std::vector<double>& end,
                                     double threshold = kStretchThreshold) {
  const Jobs& jobs = instance.jobs();
  std::vector<double> result(instance.size());
  for (int j = 0; j < instance.size(); ++j)
    result[j] = bounded_stretch(jobs.submit[j], end[j], jobs.runtime[j], threshold);
  return result;
}

/// (integral of min(P, D(t)) - u(t)) / sum p_j c_j |T_j|.  Every job receives exactly its
/// work, so the integral of the utilisation u is that sum, whatever the policy.
/// 0 where the jobs need no work at all and none waited; infinity if one did.
inline double underutilisation(const Instance& instance, const Outcome& outcome) {
  const double unused = std::max(0.0, outcome.demand_area - instance.total_work());
  if (instance.total_work() == 0) return unused == 0 ? 0 : kInfinity;
  return unused / instance.total_work();
}

/// The integral of min(P, D(t)): call `change` at each submission and completion.
class DemandArea {
 public:
  explicit DemandArea(int nodes) : nodes_(nodes) {}

  void change(double time, double cpu, int jobs) {
    area_ += (demand_ < nodes_ ? demand_ : nodes_) * (time - last_);
    last_ = time;
    active_ += jobs;
    demand_ = active_ == 0 ? 0 : demand_ + cpu;  // exact again whenever the system is empty
  }
  double value() const { return area_; }

 private:
  double nodes_, demand_ = 0, last_ = 0, area_ = 0;
  int active_ = 0;
};

// What ran where, at which speed, when: the full record of a simulation.

/// Why a row begins.
enum class RowCause : char {
  start,   // the job's first row
  resume,  // after a pause
  move,    // on other nodes than before
  go_on,   // same nodes; the yield changed or a penalty ended
};

/// Row r: job[r] held the nodes of mapping[r] from start[r] to end[r] with CPU share
/// yield[r] c_j on each task's node.  progress[r] is yield[r], or 0 while the job paid
/// a rescheduling penalty.  Mapping k is node[node_begin[k] .. node_begin[k+1]), one
/// entry a task, increasing.  Rows of a job are in order of time; a row ends where the
/// job's mapping, yield or penalty changes.
struct Trace {
  std::vector<int> job, mapping;
  std::vector<double> start, end, yield, progress;
  std::vector<RowCause> cause;
  std::vector<std::int64_t> node_begin{0};
  std::vector<int> node;

  std::size_t rows() const { return job.size(); }
  int mappings() const { return static_cast<int>(node_begin.size()) - 1; }

  int add_mapping(const int* nodes, std::size_t count) {
    node.insert(node.end(), nodes, nodes + count);
    node_begin.push_back(static_cast<std::int64_t>(node.size()));
    return mappings() - 1;
  }
  int add_mapping(const std::vector<int>& nodes) { return add_mapping(nodes.data(), nodes.size()); }
  void add(int job_id, int mapping_id, double from, double to, double share, double speed,
           RowCause why) {
    job.push_back(job_id);
    mapping.push_back(mapping_id);
    start.push_back(from);
    end.push_back(to);
    yield.push_back(share);
    progress.push_back(speed);
    cause.push_back(why);
  }
};

}  // namespace cosched::cluster
