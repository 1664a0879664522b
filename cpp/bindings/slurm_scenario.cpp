#include "slurm_scenario.hpp"

#include "cosched/core/errors.hpp"

namespace cosched::slurm::bindings {
namespace {

NodeBits to_bits(const NodeRanges& ranges, int nodes) {
  NodeBits bits(nodes);
  for (const auto& [first, last] : ranges) {
    if (first < 0 || last > nodes || first > last)
      throw InvalidInstance("slurm: nodes outside the machine");
    bits.add_range(first, last);
  }
  return bits;
}

std::vector<NodeBits> to_bits(const std::vector<NodeRanges>& sets, int nodes) {
  std::vector<NodeBits> bits;
  for (const NodeRanges& ranges : sets) bits.push_back(to_bits(ranges, nodes));
  return bits;
}

std::vector<Partition> to_partitions(const std::vector<PartitionRecord>& records, int nodes) {
  std::vector<Partition> partitions;
  for (const PartitionRecord& record : records) {
    Partition& partition = partitions.emplace_back(record.rules);
    partition.nodes = to_bits(record.nodes, nodes);
    partition.max_time = to_duration(record.max_time);
    partition.grace_time = to_duration(record.grace_time);
  }
  return partitions;
}

Limits to_limits(const LimitsRecord& record, std::size_t tres_count) {
  Limits limits = record.accrual;
  for (const LimitRecord& limit : record.limits) {
    if (limit.tres < -1 || limit.tres >= static_cast<int>(tres_count))
      throw InvalidInstance("slurm: limit " + limit.name + " of TRES " +
                            std::to_string(limit.tres) + ": the machine has " +
                            std::to_string(tres_count));
    limits.limits.push_back({kind_of(limit.name), limit.tres, limit.value, limit.used_before});
  }
  return limits;
}

Qos to_qos(const QosRecord& record, std::size_t tres_count) {
  Qos qos = record.factors;
  static_cast<Limits&>(qos) = to_limits(record.limits, tres_count);
  return qos;
}

std::size_t tres_count_of(const Machine& machine) { return kGpuTypes + machine.node_gpus.size(); }

Machine to_machine(const MachineRecord& record, const std::vector<PartitionRecord>& partitions) {
  Machine machine = record.columns;
  machine.node_cores = record.node_cores;
  machine.node_weight = record.node_weight;
  machine.licences = record.licences;
  machine.node_lines = to_bits(record.node_lines, machine.nodes);
  machine.node_sets = to_bits(record.node_sets, machine.nodes);
  for (const QosRecord& qos : record.qos)
    machine.qos.push_back(to_qos(qos, tres_count_of(machine)));
  machine.down_nodes = to_bits(record.down_nodes, machine.nodes);
  machine.partitions = to_partitions(partitions, machine.nodes);
  return machine;
}

void require_row_count(std::size_t row_count, std::size_t expected, const char* column) {
  if (row_count == expected) return;
  throw InvalidInstance("slurm: jobs: '" + std::string(column) + "' has " +
                        std::to_string(row_count) + " rows: expected " + std::to_string(expected));
}

std::vector<Job> to_jobs(const JobColumns& columns) {
  const std::size_t row_count = columns.submit.size();
  require_row_count(columns.nodes.size(), row_count, "nodes");
  require_row_count(columns.cpus.size(), row_count, "cpus");
  require_row_count(columns.limit.size(), row_count, "limit");
  require_row_count(columns.runtime.size(), row_count, "runtime");
  require_row_count(columns.partition.size(), row_count, "partition");
  require_row_count(columns.user.size(), row_count, "user");
  require_row_count(columns.nice.size(), row_count, "nice");
  require_row_count(columns.priority.size(), row_count, "priority");
  std::vector<Job> jobs(row_count);
  for (std::size_t row = 0; row < row_count; ++row) {
    Job& job = jobs[row];
    job.submit = columns.submit[row];
    job.nodes = columns.nodes[row];
    job.cpus = columns.cpus[row];
    job.limit = to_duration(columns.limit[row]);
    job.runtime = columns.runtime[row];
    job.partition = columns.partition[row];
    job.user = columns.user[row];
    job.nice = columns.nice[row];
    job.priority = columns.priority[row];
  }
  return jobs;
}

// Returns the job of a record with what its row of the columns says.
Job merge_job(const JobRecord& record, const Job& row) {
  Job job = record.job;
  job.submit = row.submit;
  job.nodes = record.nodes.value_or(row.nodes);
  job.request.max_nodes = record.max_nodes.value_or(kAnyNodes);
  job.cpus = row.cpus;
  job.limit = row.limit;
  job.runtime = row.runtime;
  job.partition = row.partition;
  job.user = record.user.value_or(row.user);
  job.nice = record.nice.value_or(row.nice);
  job.priority = row.priority;
  return job;
}

std::vector<Reservation> to_reservations(const std::vector<ReservationRecord>& records, int nodes) {
  std::vector<Reservation> reservations;
  for (const ReservationRecord& record : records)
    reservations.push_back({record.created_at, record.begin, record.end,
                            to_bits(record.nodes, nodes), record.is_maintenance,
                            record.has_all_nodes});
  return reservations;
}

std::vector<AdminEvent> to_admin_events(const std::vector<AdminEventRecord>& records, int nodes) {
  std::vector<AdminEvent> events;
  for (const AdminEventRecord& record : records)
    events.push_back({record.kind, record.time, record.job, to_bits(record.nodes, nodes)});
  return events;
}

std::vector<Association> to_associations(const std::vector<AssociationRecord>& records,
                                         std::size_t tres_count) {
  std::vector<Association> associations;
  for (const AssociationRecord& record : records) {
    Association& association = associations.emplace_back(record.association);
    association.limits = to_limits(record.limits, tres_count);
  }
  return associations;
}

// The parameters that have a value: the simulator derives the others from these.
std::map<std::string, double> parameters_of(const SettingsRecord& settings) {
  std::map<std::string, double> parameters;
  for (const auto& [name, value] : settings.values)
    if (value) parameters[name] = *value;
  return parameters;
}

}  // namespace

Scenario make_scenario(const MachineRecord& machine, const std::vector<PartitionRecord>& partitions,
                       const SettingsRecord& settings, const JobColumns& columns,
                       const py::typing::Dict<int, JobRecord>& jobs,
                       const std::vector<ReservationRecord>& reservations,
                       const std::vector<AdminEventRecord>& admin_events,
                       const std::vector<AssociationRecord>& associations) {
  Machine cluster = to_machine(machine, partitions);
  std::vector<Job> merged_jobs = to_jobs(columns);
  for (const auto& [key, record] : jobs) {
    Job& job = merged_jobs.at(key.cast<std::size_t>());
    job = merge_job(record.cast<const JobRecord&>(), job);
  }
  const int nodes = cluster.nodes;
  const std::size_t tres_count = tres_count_of(cluster);
  return Scenario(std::move(cluster), std::move(merged_jobs), to_settings(parameters_of(settings)),
                  to_reservations(reservations, nodes), to_admin_events(admin_events, nodes),
                  to_associations(associations, tres_count));
}

}  // namespace cosched::slurm::bindings
