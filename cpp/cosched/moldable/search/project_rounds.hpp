// The rounds of graph::ProjectSearch beside those of another search.
#pragma once

#include <memory>

#include "cosched/moldable/graph/project_search.hpp"
#include "cosched/moldable/search/search_options.hpp"

namespace cosched::moldable::search {

/// Nanoseconds of graph::ProjectSearch for an operation of annealing: as long as that takes.
inline constexpr std::int64_t kProjectWorkPerOperation = 6;

/// Shorter schedules and bounds of jobs on one count with integer times, where something but the
/// processors keeps them apart; for other instances, and for the minsum, it does nothing.
class ProjectRounds {
 public:
  /// `instance` must outlive it.
  ProjectRounds(const Instance& instance, Objective objective) {
    if (objective == Objective::makespan && !instance.has_independent_jobs())
      search_ = graph::ProjectSearch::make(instance, 0, kInfinity);
  }

  /// Searches from a schedule and a bound that are known, as long as an annealing with so many
  /// operations takes.  May throw as check_interrupt().
  void run_round(const Placement& incumbent, double proved_bound, std::int64_t operations) {
    if (search_ == nullptr) return;
    search_->raise_bound(proved_bound);
    search_->offer(incumbent);
    search_->improve(kProjectWorkPerOperation * operations);
  }

  /// The shortest schedule that it has found; null: none.
  const Placement* placement() const {
    return search_ != nullptr && search_->placement() ? &*search_->placement() : nullptr;
  }
  /// No schedule is shorter; 0: nothing is known.
  double bound() const { return search_ != nullptr ? search_->bound() : 0; }

 private:
  std::unique_ptr<graph::ProjectSearch> search_;
};

}  // namespace cosched::moldable::search
