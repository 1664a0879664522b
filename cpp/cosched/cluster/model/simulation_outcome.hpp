// What a simulation returns: flat columns by job number, and totals.
#pragma once

#include <cstdint>
#include <vector>

#include "cosched/cluster/model/instance.hpp"

namespace cosched::cluster {

struct SimulationOutcome {
  std::vector<double> start;     // of the first task instance, seconds
  std::vector<double> end;       // completion, seconds
  std::vector<int> preemptions;  // times paused
  std::vector<int> migrations;   // times moved while running
  double demand_area = 0;        // integral of min(P, D(t)) dt, D = CPU need of unfinished jobs
  double preempted_memory = 0;   // sum over pauses of m_j |T_j|: whole-node memories saved
  double migrated_memory = 0;    // sum over migrations of m_j x moved tasks
  std::int64_t events = 0;       // instants at which something happened

  /// All columns have a row for each of `jobs` jobs, zeros.
  explicit SimulationOutcome(int jobs = 0)
      : start(jobs), end(jobs), preemptions(jobs), migrations(jobs) {}
};

/// Bounded stretch of each job.
std::vector<double> stretches(const Instance& instance, const std::vector<double>& end,
                              double threshold = kStretchThreshold);

/// (integral of min(P, D(t)) - u(t)) / sum p_j c_j |T_j|.  Every job receives exactly its
/// work, so the integral of the utilisation u is that sum, whatever the policy.
/// 0 where the jobs need no work at all and none waited; infinity if one did.
double underutilisation(const Instance& instance, const SimulationOutcome& outcome);

}  // namespace cosched::cluster
