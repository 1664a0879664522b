// Exact lower bound on the maximum bounded stretch of any schedule (Casanova, Stillwell, Vivien
// 2011, Theorem 1).
//
// S is feasible iff, with deadlines d_j = r_j + S max(p_j, 10 s), the jobs' work can be
// spread over the intervals between consecutive releases and deadlines: job j runs in
// [r_j, d_j) for p_j seconds in all, at most the interval's length in each, and the rates
// q_j = c_j |T_j| use at most P nodes on average in each.  Memory, placement and penalties
// are ignored, so the least feasible S bounds every schedule from below.
//
// Method: (a) kernel: intervals where all jobs alive may run at full rate are taken out,
// again and again (stretch_kernel); (b) a greedy fill from left to right (greedy_fill);
// (c) max-flow for what that leaves unserved (interval_flow); (d) if that fails, its cut is a set
// of intervals whose deficit, a function of S with borders that move with S, has a root: a larger S
// that is still a valid bound (cut_deficit).  A few such Newton steps reach the exact optimum.
// A long stream is first looked at in blocks: near the optimum the kernel leaves little to do.
#pragma once

#include <cstddef>
#include <vector>

#include "cosched/cluster/model/instance.hpp"

namespace cosched::cluster::bound {

struct StretchBound {
  double value = 1;  // S, at least 1
  int tests = 0;     // number of feasibility tests
  /// False: a time limit came first, and the value is a bound that may be too small.
  bool is_exact = true;
};

/// A resource that limits which jobs run at once.
struct StretchResource {
  std::vector<double> usage;  // by job: how much it uses while it runs; 0 = none
  double capacity;            // how much there is
};

/// A long stream of jobs is first looked at in blocks of so many jobs; then in blocks that are
/// `block_growth` times as long, as long as there are four of them.  Both save time alone.
struct StretchBoundParams {
  std::size_t smallest_block = 512, block_growth = 16;
};

/// The least feasible S, exact up to a relative 1e-9; approached from the infeasible side.
/// Threshold: the 10 s of the bounded stretch, > 0.
StretchBound max_stretch_bound(const Instance& instance, double threshold = kStretchThreshold);

/// The greatest of that and of the same for each resource alone in place of the nodes: a schedule
/// that respects all of them respects each.
StretchBound max_stretch_bound(const Instance& instance,
                               const std::vector<StretchResource>& resources,
                               double threshold = kStretchThreshold,
                               const StretchBoundParams& params = {});

}  // namespace cosched::cluster::bound
