// A bound on the makespan of jobs with precedence by the trade-off between work and path.
#pragma once

#include "cosched/moldable/graph/certificate.hpp"
#include "cosched/moldable/model/instance.hpp"

namespace cosched::moldable::graph {

// The work-and-path trade-off of moldable jobs with precedence, as a linear programme (Lepere,
// Trystram, Woeginger 2002; Jansen, Zhang 2006): minimise L where each job i has a time d_i and
// amounts of work and of resources on the lower convex hull of its counts, and
//   sum_i work_i <= m L,   sum_i area_ir <= A_r L for each resource r,   the longest path under d
//   (from releases on) <= L.
// Every schedule of makespan L is a solution, so the optimum is a lower bound.

/// Beyond so many counts of a job the programme takes them in groups.
inline constexpr int kMostCounts = 64;

struct WorkPath {
  double value = 0;               // of the certificate: at most the optimum of the programme
  std::vector<double> durations;  // d of the best solution so far
  std::vector<std::vector<double>>
      trade_off_durations;  // d of every vector of weights asked: from work to path
  WorkPathCertificate certificate;
  bool complete = true;  // false: a time limit ended it, or rounding (failure says so)
  std::string failure;
};

/// Value and solution meet up to kExactTolerance where it is complete.  A time limit of the thread
/// leaves a weaker, still valid value.  Beyond 64 counts a job, groups of counts stand for their
/// least time and least amounts.
/// O((n K + e) pivots), K counts a job: about a second for 10,000 jobs.
WorkPath work_and_path(const Instance& instance);

}  // namespace cosched::moldable::graph
