// What a twin of slurmctld is given: machine, partitions, jobs, settings.
#pragma once

#include <vector>

#include "cosched/cluster/slurm/node_bits.hpp"
#include "cosched/cluster/slurm/seconds.hpp"
#include "cosched/cluster/slurm/settings.hpp"

namespace cosched::cluster::slurm {

/// What Slurm plans for a job without a limit.
inline constexpr Second kYear = Second{365} * 24 * 3600;

struct Partition {
  NodeBits nodes;
  int tier = 1;              // PriorityTier
  Second max_time = kNever;  // MaxTime
  double job_factor = 0;     // PriorityJobFactor over the largest one
};

struct Machine {
  int nodes = 0;
  int cpus = 0;                 // of all nodes
  std::vector<NodeBits> lines;  // NodeName lines, by increasing weight
  std::vector<Partition> parts;
  std::vector<int> node_cores;  // where jobs share nodes (CR_Core), else empty
};

struct Job {
  double submit = 0;      // s
  int nodes = 1;          // whole ones
  int cpus = 1;           // requested, for the job size factor; the cores where jobs share nodes
  Second limit = kNever;  // in a Scenario: the partition's MaxTime at most, a year if there is none
  double runtime = 0;
  int partition = 0;
  int user = 0;
  double nice = 0;
};

/// Immutable once made.  Invariants: every job's partition exists and has nodes for it, limits are finite.
class Scenario {
 public:
  /// Cuts limits.  Throws InfeasibleError that names a job larger than its partition.
  Scenario(Machine machine, std::vector<Job> jobs, const Settings& settings);

  const Machine& machine() const { return machine_; }
  const std::vector<Job>& jobs() const { return jobs_; }
  const Settings& settings() const { return settings_; }

  const Job& job(int number) const { return jobs_[static_cast<std::size_t>(number)]; }
  const Partition& part(int job_number) const {
    return machine_.parts[static_cast<std::size_t>(job(job_number).partition)];
  }
  /// Jobs have cores of their own, several on a node.
  bool own_cores() const { return !machine_.node_cores.empty(); }

 private:
  Machine machine_;
  std::vector<Job> jobs_;
  Settings settings_;
};

}  // namespace cosched::cluster::slurm
