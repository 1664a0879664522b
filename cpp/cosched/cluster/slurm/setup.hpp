// What slurm-backfill is given: Slurm's parameters under their own names, partitions, node lines,
// jobs, and the clocks that no user sees.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "cosched/cluster/slurm/nodes.hpp"

namespace cosched::cluster::slurm {

/// Whole seconds of the controller, from the time base of the jobs.
using Second = std::int64_t;
inline constexpr Second kNever = std::numeric_limits<Second>::max() / 4;
inline Second whole(double time) { return static_cast<Second>(std::floor(time)); }
/// What Slurm plans for a job without a limit.
inline constexpr Second kYear = Second{365} * 24 * 3600;

/// slurm.conf: seconds, counts, and 0 or 1.  The names are Slurm's.
struct SlurmParameters {
  std::map<std::string, double> values;

  /// All that are known, with Slurm's defaults; then `given`.  Throws InvalidInstance for a name
  /// that is not known.
  explicit SlurmParameters(const std::map<std::string, double>& given = {});
  double operator[](const char* name) const { return values.at(name); }
};

struct SlurmPartition {
  NodeBits nodes;
  int tier = 1;              // PriorityTier
  Second max_time = kNever;  // MaxTime
  double job_factor = 0;     // PriorityJobFactor over the largest one
};

struct SlurmJob {
  double submit = 0;  // s
  int nodes = 1;      // whole ones
  int cpus = 1;       // requested, for the job size factor
  Second limit = kNever;
  double runtime = 0;
  int partition = 0;
  int user = 0;
  double nice = 0;
};

struct SlurmMachine {
  int nodes = 0;
  int cpus = 0;                 // of all nodes
  std::vector<NodeBits> lines;  // NodeName lines, by increasing weight
  std::vector<SlurmPartition> parts;
  std::vector<int> node_cores;  // where jobs share nodes (CR_Core), else empty
};

/// The two hidden numbers, and what the host adds.
struct SlurmClocks {
  double controller_start = -60;  // s on the time base of the jobs
  Second epoch = 0;               // Unix time of that base's 0
  double launch = 0;              // s from a start to the first second of work, and back
  double epilog = 0;              // s from the end of a job until its nodes are free
  double noise = 0;               // launch and epilog of a job: times 1 - noise to 1 + noise
  std::uint64_t noise_seed = 0;
  double tick_period = 1;      // s: the background loop, with its work
  double tick_offset = 0;      // s from the controller's start to its loop
  double sleep_extra = 0;      // s that a sleep of the backfill thread takes longer
  double cycle_cost = 0;       // s of a backfill cycle
  double test_cost = 0;        // s of a job's test in a cycle
  std::vector<double> cycles;  // recorded begins of cycles: replay; empty = by the rules
  std::vector<double> checks;  // recorded limit checks that ended a job: replay
};

}  // namespace cosched::cluster::slurm
