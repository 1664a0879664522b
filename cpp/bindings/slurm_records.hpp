// Records that cross the border between Python and the simulator of Slurm.  A record is a struct of
// the simulator where Python can fill it as it is; else a struct of this file, since sets of nodes
// need the size of the machine.
#pragma once

#include "cosched/slurm/simulate/replications.hpp"
#include "cosched/slurm/simulate/retrace.hpp"
#include "cosched/slurm/state/limit_blocks.hpp"
#include "record_class.hpp"

namespace cosched::slurm::bindings {

using namespace cosched::bindings;  // NOLINT

using NodeRanges = std::vector<std::pair<int, int>>;  // [first, last) of node numbers

/// A limit by its name in sacctmgr.
struct LimitRecord {
  std::string name;
  int tres = -1;  // -1: of jobs or time
  double value = 0;
  double used_before = 0;
};

/// Limits of an association or a QOS.
struct LimitsRecord {
  std::vector<LimitRecord> limits;
  Limits accrual;  // its numbers of jobs that accrue age
};

struct QosRecord {
  LimitsRecord limits;
  Qos factors;  // what a QOS has beyond its limits
};

struct PartitionRecord {
  NodeRanges nodes;
  Partition rules;  // what a partition has beyond its nodes
  double max_time = std::numeric_limits<double>::infinity();  // s
  double grace_time = 0;                                      // s
};

/// The machine without its partitions.
struct MachineRecord {
  Machine columns;  // numbers by node, TRES and licence
  Ints node_cores;
  Ints node_weight;
  Ints licences;
  std::vector<NodeRanges> node_lines;
  std::vector<NodeRanges> node_sets;
  NodeRanges down_nodes;
  std::vector<QosRecord> qos;
};

/// What all jobs have, as columns of one length.
struct JobColumns {
  Reals submit;
  Ints nodes;
  Ints cpus;
  Reals limit;
  Reals runtime;
  Ints partition;
  Ints user;
  Reals nice;
  Reals priority;
};

/// What one job has beyond its row of the columns; nodes, user and nice hold instead of those of the
/// columns.
struct JobRecord {
  Job job;
  std::optional<int> nodes;
  std::optional<int> max_nodes;
  std::optional<int> user;
  std::optional<double> nice;
};

struct ReservationRecord {
  double created_at = 0;
  Second begin = 0;
  Second end = 0;
  NodeRanges nodes;
  bool is_maintenance = false;
  bool has_all_nodes = false;
};

struct AdminEventRecord {
  double time = 0;
  AdminEvent::Kind kind = AdminEvent::Kind::release;
  int job = -1;
  NodeRanges nodes;
};

struct AssociationRecord {
  Association association;  // its limits are those of the next member
  LimitsRecord limits;
};

/// Parameters of slurm.conf by their names; the simulator derives those without a value.
struct SettingsRecord {
  std::map<std::string, std::optional<double>> values;

  SettingsRecord() {
    for (const auto& [name, value] : usual_parameters()) values[name] = std::nullopt;
  }
};

/// The clocks as Python has them: seconds that to_clocks() checks.
struct ClocksRecord {
  Clocks clocks;
  double epoch = 0;
  double noise_seed = 0;
};

/// Submissions of a replication, as columns of one length.
struct ArrivalColumns {
  Ints template_job;
  Reals submit;
  Reals run_length;
};

/// What a simulation returns; `node` has the nodes of all jobs one after another, and
/// `node_begin[j]` is where those of job j begin.  `cores` has an entry for each of `node`.
struct OutcomeRecord {
  py::array_t<double> start, end, start_exact, end_exact;
  py::array_t<std::int64_t> node_begin, node, cores, scheduler, restarts, partition, is_killed,
      core_ids, pause_job;
  py::array_t<double> pause_begin, pause_end, cycle_times;
  py::typing::List<DecisionNote> notes;
  std::map<int, std::string> blocked_by_limit;
};

/// Tables have a row for each replication and a column for each initial job.
struct ReplicationsRecord {
  py::array_t<double> start_times, kill_times, paused_seconds;
  std::vector<std::map<int, std::string>> blocked_by_limit;
  std::optional<OutcomeRecord> first_outcome;
};

/// Fair-share factors by association and priorities by job at one time.
struct SampleRecord {
  double time = 0;
  py::array_t<double> factors, priorities;
};

/// Defines the classes of all records.
void bind_slurm_records(py::module_& module);

/// Throws InvalidInstance where a value is out of range.
Clocks to_clocks(const ClocksRecord& record);

OutcomeRecord to_record(const Outcome& outcome);
std::map<int, std::string> limit_by_job(const std::vector<std::pair<int, std::string>>& jobs);

}  // namespace cosched::slurm::bindings
