// Options and result of the searches for bounds, windows_bound() and transfers_bound().
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "cosched/core/interrupt.hpp"
#include "cosched/dags/model/instance.hpp"

namespace cosched::dags::proof {

/// Number of tasks above which bounds are searched less precisely.
inline constexpr int kLargeTasks = 10000;

struct BoundOptions {
  /// Makespan of a known schedule: the T just below it is tried first, and none above.
  std::optional<double> upper;
  /// Relative distance between the greatest T that is refuted and the least that is not; ten times
  /// that above kLargeTasks tasks.
  double precision = 1e-4;

  double upper_or_infinity() const { return upper.value_or(kInfinity); }
  double precision_for(const Instance& instance) const {
    return instance.tasks() > kLargeTasks ? 10 * precision : precision;
  }
};

template <class Certificate>
struct ProvenBound {
  double value = 0;  ///< seconds; no schedule is shorter
  Certificate certificate;
  bool complete = true;  ///< false: a time limit ended the search, the value is the best so far
  std::string failure;   ///< of a solver, which ended the search with the best so far; empty: none
};

/// Runs a search that stores each proof in `best` as soon as it has it.  Where a time limit or a
/// failing solver ends the search, `best` says so and keeps the last proof.
template <class Certificate, class Search>
void prove_so_far(ProvenBound<Certificate>& best, Search&& search) {
  best.complete = finishes_within(std::nullopt, [&] {
    try {
      std::forward<Search>(search)();
    } catch (const SolverError& error) {
      best.failure = error.what();
    }
  });
}

/// A schedule is proved optimal where this share of its makespan is refuted as a makespan.
inline constexpr double kJustBelow = 1 - 0.9 * kExactTolerance;

}  // namespace cosched::dags::proof
