// Whether "may preempt" leaves the queue an order (RULES.md 15.2).
#pragma once

#include <map>

#include "cosched/slurm/select/preempt.hpp"

namespace cosched::slurm {

/// Whether "a comes before b where it may preempt b, else by priority" is a strict weak order of
/// all jobs, whatever their priorities are.  It is where "may preempt" itself is one of the QOS, or
/// partitions, of the jobs, and where it never disagrees with the order behind it: by PriorityTier,
/// when no job has a reservation.  It is none for QOS high that may preempt low alone, beside a QOS
/// normal: high, of the least priority, comes before low, low before normal, and normal before
/// high. O(jobs + groups^3).
inline bool preemption_keeps_order(const Scenario& scenario) {
  const Settings::Preempt& settings = scenario.settings().preempt;
  if (!settings.is_enabled()) return true;
  const bool by_partition = settings.type == Settings::Preempt::Type::partition;
  std::map<int, QueueEntry> entry_of_group;  // of each QOS, or partition, one
  bool has_reservation = false;
  for (int job = 0; job < static_cast<int>(scenario.jobs().size()); ++job) {
    const Job& asked = scenario.job(job);
    has_reservation = has_reservation || asked.conditions.reservation >= 0;
    const auto add = [&](int part) {
      entry_of_group.try_emplace(by_partition ? part : asked.qos, QueueEntry{job, part});
    };
    add(asked.partition);
    for (const int part : asked.partitions) add(part);
  }
  if (by_partition && !has_reservation) return true;
  std::vector<QueueEntry> groups;
  for (const auto& [group, entry] : entry_of_group) groups.push_back(entry);
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
