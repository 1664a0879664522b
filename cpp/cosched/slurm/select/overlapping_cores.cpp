#include "cosched/slurm/select/overlapping_cores.hpp"

#include <numeric>

namespace cosched::slurm {

OverlappingCores::OverlappingCores(const Scenario& scenario) : scenario_(scenario) {
  const std::vector<Partition>& partitions = scenario.machine().partitions;
  partitions_by_tier_.resize(partitions.size());
  std::iota(partitions_by_tier_.begin(), partitions_by_tier_.end(), 0);
  std::stable_sort(partitions_by_tier_.begin(), partitions_by_tier_.end(),
                   [&](int a, int b) { return partitions[a].tier > partitions[b].tier; });
}

bool OverlappingCores::choose(QueueEntry entry, const NodeBits& candidate_nodes,
                              const FreeResources& free_resources, const CoreMap& core_map,
                              Weights& weights, NodeChoice& choice) {
  free_resources_ = free_resources;
  if (choose_excluding(entry, candidate_nodes, core_map, core_map.allocated_cores(), weights,
                       choice))
    return true;
  const Partition& partition = scenario_.partition(entry);
  NodeBits excluded_cores(core_map.cores_of(entry.partition));
  bool can_suspend_jobs = false;
  for (const int other : partitions_by_tier_)
    if (keeps_cores_from(partition, other))
      excluded_cores |= core_map.cores_of(other);
    else if (core_map.cores_of(other).any())
      can_suspend_jobs = true;
  if (!can_suspend_jobs ||
      !choose_excluding(entry, candidate_nodes, core_map, excluded_cores, weights, choice))
    return false;
  // As few partitions as possible lose cores, the lowest first.
  NodeChoice choice_with_fewer_losers = choice;
  for (const int other : partitions_by_tier_) {
    if (keeps_cores_from(partition, other)) continue;
    excluded_cores |= core_map.cores_of(other);
    if (!choose_excluding(entry, candidate_nodes, core_map, excluded_cores, weights,
                          choice_with_fewer_losers))
      break;
    choice = choice_with_fewer_losers;
  }
  return true;
}

// Chooses among cores that are not excluded.
bool OverlappingCores::choose_excluding(QueueEntry entry, const NodeBits& candidate_nodes,
                                        const CoreMap& core_map, const NodeBits& excluded_cores,
                                        Weights& weights, NodeChoice& choice) {
  candidate_nodes.for_each_run([&](int first, int length) {
    for (int node = first; node < first + length; ++node)
      free_resources_.set_cores(node, core_map.count_free_cores(node, excluded_cores));
  });
  candidates_.gather(scenario_.machine(), scenario_.job(entry), candidate_nodes, free_resources_,
                     weights);
  if (!candidates_.choose(free_resources_, weights, choice.shares)) return false;
  choice.set_nodes_from_shares();
  choice.partition = entry.partition;
  choice.cores = core_map.lowest_free_cores(choice.shares.nodes, excluded_cores);
  return true;
}

// True when jobs of the other partition are not suspended for jobs of this one.
bool OverlappingCores::keeps_cores_from(const Partition& partition, int other) const {
  const Partition& other_partition = scenario_.machine().partitions[other];
  return other_partition.tier >= partition.tier || other_partition.preempt_mode == 0;
}

}  // namespace cosched::slurm
