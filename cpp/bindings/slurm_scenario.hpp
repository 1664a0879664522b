// The scenario that the records of Python describe.
#pragma once

#include "slurm_records.hpp"

namespace cosched::slurm::bindings {

/// `jobs`: by row of the columns, what jobs have beyond these.  Throws InvalidInstance where columns
/// differ in length, or a number refers to something that does not exist.
Scenario make_scenario(const MachineRecord& machine, const std::vector<PartitionRecord>& partitions,
                       const SettingsRecord& settings, const JobColumns& columns,
                       const py::typing::Dict<int, JobRecord>& jobs,
                       const std::vector<ReservationRecord>& reservations,
                       const std::vector<AdminEventRecord>& admin_events,
                       const std::vector<AssociationRecord>& associations);

}  // namespace cosched::slurm::bindings
