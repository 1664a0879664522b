// The bound `windows`: the largest T of which it is proved that no schedule is as short.
//
// For a guess T of the makespan, tasks have windows and some types are closed to them
// (time_windows.hpp).  What is left must satisfy, for every schedule of at most T,
//   loads      sum_j p_jq x_jq <= m_q T
//   paths      head of the first + sum p_j(x) + tail of the last <= T, and flows of paths
//   energy     sum_j x_jq energy(j, [a, b)) <= m_q (b - a)                    (energetic.hpp)
// A combination of such rows with prices >= 0 refutes T where even the cheapest type of each task
// breaks it; where it does not, it closes the pairs (j, q) that would break it, and T is pruned
// again.  Bisection between LP* and an upper bound finds the largest T that is refuted.
#pragma once

#include <optional>
#include <vector>

#include "cosched/dags/energetic.hpp"
#include "cosched/dags/hlp.hpp"
#include "cosched/dags/instance.hpp"

namespace cosched::dags {

struct PricedInterval {
  Interval interval;
  double price = 0;
};

/// One step of a refutation.  Either load heads and tails with `raise` (weights of the types, sum
/// 1), or a combination of rows: prices of the loads, a flow of paths, prices of intervals.
struct RefutationStage {
  std::vector<double> raise;      // Q, or empty
  std::vector<double> loads;      // Q
  std::vector<double> task_flow;  // n, or empty: no flow
  std::vector<EdgeFlow> edge_flow;
  std::vector<PricedInterval> intervals;
};

/// No schedule is as short as `makespan`: prune, then each stage and prune after it; the last stage
/// (or pruning) leaves nothing.  Without `makespan` (0): nothing is refuted.
struct Refutation {
  double makespan = 0;
  std::vector<RefutationStage> stages;
};

/// Proof of a bound: of LP*, and of a T that is refuted.
struct WindowsCertificate {
  Certificate relaxation;
  Refutation refutation;
};

/// The bound that the certificate proves, checked from scratch without a solver, by code that the
/// solvers do not share: the greater of what `relaxation` proves and `refutation.makespan`, rounded up
/// to what an optimum can be where all times are multiples of one (time_grain).  Throws SolverError where it proves
/// nothing.  O(n Q + e + n intervals) a stage and pruning, O(n (n + e)) for stages with `raise`.
double certified_bound(const Instance& instance, const WindowsCertificate& certificate);

struct WindowsOptions {
  /// Makespan of a schedule: the T just below it is tried first, and none above.
  std::optional<double> upper;
  /// Relative width of the bisection's last interval; ten times that above 10,000 tasks.
  double precision = 1e-4;
};

struct WindowsBound {
  double value = 0;  // at most every makespan
  WindowsCertificate certificate;
  bool complete = true;  // false: a time limit ended the search, the value is the best so far
};

/// `relaxation`: of LP*, complete or not.  Above 10,000 tasks it is the bound where the loads alone or
/// one path alone prove it: anything more would cost a multiple of it.
WindowsBound windows_bound(const Instance& instance, const Certificate& relaxation,
                           const WindowsOptions& options = {});

/// Relative slack of a proof: what a T must be broken by in a check, and twice that in a search.
inline constexpr double kProofSlack = 1e-10;

/// The greatest number that all finite times are whole multiples of, and so is the optimum; 0 where
/// there is none of a useful size.
double time_grain(const Instance& instance);

/// The least multiple of `grain` above a makespan that is refuted; the makespan itself for grain 0.
double least_above(double refuted, double grain);

}  // namespace cosched::dags
