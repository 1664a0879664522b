#include "cosched/cluster/slurm/scenario.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "cosched/core/errors.hpp"

namespace cosched::cluster::slurm {

namespace {

// A job whose limit is beyond a partition's waits in the others alone.
void drop_short_partitions(Job& job, const Machine& machine) {
  auto& parts = job.partitions;
  if (parts.empty()) return;
  const auto too_short = [&](int part) {
    return job.limit < kNever &&
           machine.parts.at(static_cast<std::size_t>(part)).max_time < job.limit;
  };
  if (!std::all_of(parts.begin(), parts.end(), too_short))
    parts.erase(std::remove_if(parts.begin(), parts.end(), too_short), parts.end());
  job.partition = parts.front();
}

}  // namespace

Scenario::Scenario(Machine machine, std::vector<Job> jobs, const Settings& settings,
                   std::vector<Reservation> reservations, std::vector<Outside> outside,
                   std::vector<Association> accounts)
    : machine_(std::move(machine)),
      jobs_(std::move(jobs)),
      settings_(settings),
      reservations_(std::move(reservations)),
      outside_(std::move(outside)),
      accounts_(std::move(accounts)) {
  std::stable_sort(outside_.begin(), outside_.end(),
                   [](const Outside& a, const Outside& b) { return a.time < b.time; });
  for (std::size_t j = 0; j < jobs_.size(); ++j) {
    Job& one = jobs_[j];
    drop_short_partitions(one, machine_);
    const Partition& partition = machine_.parts.at(static_cast<std::size_t>(one.partition));
    one.limit = std::min(one.limit, partition.max_time);
    if (one.limit >= kNever) one.limit = kYear;
    if (partition.nodes.count() < one.nodes)
      throw InfeasibleError("job " + std::to_string(j) + " wants " + std::to_string(one.nodes) +
                            " nodes: its partition has fewer");
  }
}

}  // namespace cosched::cluster::slurm
