#include "cosched/slurm/queue/preemption_order.hpp"

#include <map>

#include "cosched/slurm/select/preemption.hpp"

namespace cosched::slurm {
namespace {

// Jobs of one group (a QOS, or a partition) may preempt the same jobs: an entry of each group.
std::vector<QueueEntry> entries_by_group(const Scenario& scenario, bool is_by_partition) {
  std::map<int, QueueEntry> entry_of_group;
  for (int number = 0; number < static_cast<int>(scenario.jobs().size()); ++number) {
    const Job& job = scenario.job(number);
    const auto add_entry = [&](int partition) {
      entry_of_group.try_emplace(is_by_partition ? partition : job.qos,
                                 QueueEntry{number, partition});
    };
    add_entry(job.partition);
    for (const int partition : job.partitions) add_entry(partition);
  }
  std::vector<QueueEntry> entries;
  for (const auto& [group, entry] : entry_of_group) entries.push_back(entry);
  return entries;
}

bool has_reserved_job(const Scenario& scenario) {
  const std::vector<Job>& jobs = scenario.jobs();
  return std::any_of(jobs.begin(), jobs.end(),
                     [](const Job& job) { return job.conditions.reservation >= 0; });
}

}  // namespace

bool preemption_keeps_order(const Scenario& scenario) {
  const Settings::Preempt& settings = scenario.settings().preempt;
  if (!settings.is_enabled()) return true;
  const bool is_by_partition = settings.type == Settings::Preempt::Type::partition;
  if (is_by_partition && !has_reserved_job(scenario)) return true;
  const std::vector<QueueEntry> groups = entries_by_group(scenario, is_by_partition);
  const auto precedes = [&](std::size_t a, std::size_t b) {
    return may_preempt(scenario, groups[a], groups[b]);
  };
  const auto is_equivalent = [&](std::size_t a, std::size_t b) {
    return !precedes(a, b) && !precedes(b, a);
  };
  for (std::size_t a = 0; a < groups.size(); ++a)
    for (std::size_t b = 0; b < groups.size(); ++b) {
      if (precedes(a, b) && precedes(b, a)) return false;
      for (std::size_t c = 0; c < groups.size(); ++c) {
        if (precedes(a, b) && precedes(b, c) && !precedes(a, c)) return false;
        if (is_equivalent(a, b) && is_equivalent(b, c) && !is_equivalent(a, c)) return false;
      }
    }
  return true;
}

}  // namespace cosched::slurm
