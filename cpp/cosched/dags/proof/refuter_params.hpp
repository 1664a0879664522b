// How much work a refuter may do for one guess T of the makespan, by the size of the instance.
#pragma once

#include <cstddef>

#include "cosched/dags/proof/proven_bound.hpp"

namespace cosched::dags::proof {

/// A violation of a row of a linear programme, relative to T, that is worth its pivots.
inline constexpr double kLeastViolation = 1e-6;

/// Steps that the interior point method usually takes.
inline constexpr int kUsualInteriorSteps = 16;

/// Of the refuter without transfers.
struct RefuterParams {
  int max_passes;  ///< of closing pairs by the prices of a linear programme, and pruning again
  int max_rounds;  ///< of adding rows to one programme
  int max_begins;  ///< begins of intervals that are examined, for each type
  int load_head_passes;  ///< passes that raise load heads; O(n (n + e)) for each mixture of types
  bool tries_each_type;  ///< load heads of single types too, and all of them twice
  int max_rows = 48;     ///< of the programme
  std::size_t new_rows_per_type = 2;   ///< intervals that one round adds
  std::size_t good_begins = 10;        ///< begins with violations that the next round tries first
  std::size_t max_reusable_rows = 24;  ///< that the programme of the next T starts from
};

/// Of the refuter with transfers.
struct TransferRefuterParams {
  int max_passes;             ///< as above
  int max_rounds;             ///< as above
  int max_begins;             ///< as above
  int load_head_passes;       ///< as above
  bool tries_each_type;       ///< as above
  int max_earlier_stages;     ///< combined rows of programmes at other T that are tried again
  bool uses_clusters;         ///< in pruning
  double shaving_steps;       ///< for shaving at one T; 0: no shaving
  double lp_tolerance;        ///< relative gap of the linear programmes
  double lp_multiplications;  ///< in the factors of all programmes, about two nanoseconds each

  std::size_t new_intervals_per_type = 3;  ///< that one round adds to a programme
  std::size_t max_reused_intervals = 24;   ///< that the programme of the next T starts from
  double reused_price = 1e-4;              ///< price above which an interval is reused
  /// A programme whose value is below this share of T is given up: it will not refute T.
  double hopeless_value = 0.8;
  /// After such a programme at T none is solved for makespans above this share of T.
  double hopeless_range = 0.97;
  /// No programme is solved either where tasks have a mean slack above `loose_slack` T while the
  /// loads alone prove less than `light_bound` T: its value would be 0.7 to 0.9 T.
  double loose_slack = 0.2;
  double light_bound = 0.6;
  double quick_shaving_share = 0.25;  ///< of shaving_steps, for a quick guess
  int quick_tries_in_vain = 100;      ///< of shaving for a quick guess
  double shaving_steps_left = 1.5;    ///< times shaving_steps in all, once some T was not refuted
  /// Windows of a longer T are taken over for T where that is longer by this factor at least.
  double clearly_longer = 1 + 1e-5;
  std::size_t max_unrefuted = 4;  ///< T whose windows are kept for shorter T
};

RefuterParams refuter_params_for(const Instance& instance);
TransferRefuterParams transfer_refuter_params_for(const Instance& instance);

}  // namespace cosched::dags::proof
