// hlp-best: a search over orders and allocations that starts from the LP optimum and ends where the
// bound says that nothing is better.
#pragma once

#include "cosched/dags/hlp/hlp_solution.hpp"
#include "cosched/dags/model/plan.hpp"
#include "cosched/dags/proof/transfers_bound.hpp"
#include "cosched/dags/proof/windows_bound.hpp"

namespace cosched::dags::search {

struct HlpBestOptions {
  std::uint64_t seed = 0;
  /// Schedules that the local search builds; negative: 1e7 / (n + e), between 50 and 50,000, or as
  /// many as there is time for.
  std::int64_t evaluations = -1;
  /// Seconds, the LP included: a budget, which is used until the plan is proved optimal.
  std::optional<double> time_limit;
};

struct HlpBestParams {
  /// Tasks up to which transfers_bound() is computed: beyond, it takes longer than the search.
  int max_transfer_bound_tasks = 100;
  /// The search builds this part of its schedules before that bound.
  std::int64_t schedules_before_bound_divisor = 4;
  /// Shares of a time limit: of the relaxation, of the first bounds, and of bounds between rounds.
  double relaxation_share = 0.5, first_bound_share = 0.1, bound_share = 0.25;
  /// Seconds that the relaxation, and the flows where it was too short, take whatever the limit.
  double relaxation_seconds = 0.5, flow_seconds = 0.2;
  /// The first round is shorter than the default work by this factor.
  int first_round_divisor = 8;
};

struct HlpBestResult {
  Plan plan;
  bool is_complete = true;      // false: a time limit ended the search
  hlp::HlpSolution relaxation;  // hlp_so_far(instance); what was given otherwise
  proof::WindowsBound
      windows_bound;        // the plan is optimal (up to kExactTolerance) where it meets this
  double memory_bound = 0;  // or memory_bound() (hlp/bounds.hpp)
  std::optional<proof::TransfersBound>
      transfers_bound;  // or this: where data costs time, up to 100 tasks

  /// The greatest of the bounds, and its name: "windows", "transfers" or "memory".
  std::pair<double, const char*> best_bound() const;

  /// Why a solver failed, so that the bound is weaker than it could be; empty: none did.
  std::string solver_failure() const;
};

/// Whether a makespan is as small as a bound allows.
bool is_proven_optimal(double makespan, double bound);

/// The best of
///   1. OLS after the rounding of Amaris et al. 2017, Section 3 (HLP-OLS: hence its guarantee,
///      Q(Q+1));
///   2. OLS after other roundings of the same optimum: a type gets every task of which it has
///      a share of at least 0.05, 0.1, ..., 0.95;
///   3. HEFT, and insertion schedules by the LP's ranks (task lengths under x) in which a
///      task may only use types of which it has a share of at least 0.01, 0.1, 0.3;
///   4. a local search over orders and allocations (order_search.hpp) from the best of these.
/// Where data costs time also of CPOP, PEFT, ETF, Min-min and all tasks on one unit, and the search
/// (place_search.hpp) is over orders and units; no guarantee then. Where memories are limited
/// (list/memory_insertion.hpp) of MemHEFT and lists by other orders, and the search is over orders
/// and units too; InfeasibleError where nothing fits. It ends where a plan meets the bound: LP*,
/// then windows_bound, tried just below the best plan; with data, up to 100 tasks, transfers_bound
/// after a quarter of the search. `relaxation`: of this instance, null: its own, first of all, for
/// half of its time limit (or as long as a limit around it lets it), and half a second at least.
/// Where that is too short its best x so far is rounded, and cheapest_types() for a few flows.  A
/// time limit may end it after that and HEFT. Deterministic without a limit: bounds after a quarter
/// of the search and at its end.  With one of its own: the same search, so that a limit that leaves
/// time for it is never worse, then rounds of growing length, and bounds for a tenth of the limit
/// at first, then a quarter of the time so far.
HlpBestResult hlp_best(const Instance& instance, const HlpBestOptions& options = {},
                       const hlp::HlpSolution* relaxation = nullptr,
                       const HlpBestParams& params = {});

}  // namespace cosched::dags::search
