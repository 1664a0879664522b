// On-line scheduling by batches (section 2.2; Shmoys, Wein, Williamson 1995).
#pragma once

#include <functional>

#include "cosched/moldable/model/placement.hpp"

namespace cosched::moldable::batches {

/// Schedules the given jobs (numbers of the instance) off-line, as if all were released at 0: entry
/// k of the placement is for job jobs[k].
using OfflineAlgorithm = std::function<Placement(const std::vector<int>& jobs)>;

/// When a batch ends, the jobs that were released meanwhile form the next one; an idle machine
/// waits for the next release.  No batch knows anything of later releases.
///
/// If `solve` is within rho of the optimal makespan, the whole is within 2 rho of the optimum OPT
/// of the instance, on-line or not.  Let the last two batches start at r and s.  The jobs of the
/// last one are released after r (else they were in the one before), so they can be done in
/// OPT - r, and the last batch takes at most rho (OPT - r); the one before takes at most rho OPT.
/// Without idle time between them the end is at most r + rho OPT + rho (OPT - r) <= 2 rho OPT; else
/// all jobs of the last batch are released at s, and it is at most s + rho (OPT - s).
///
/// Throws InvalidInstance where `solve` returns a placement of another size or outside the machine.
/// O(n log n) and the solver's time.
Placement schedule_by_batches(const Instance& instance, const OfflineAlgorithm& solve);

}  // namespace cosched::moldable::batches
