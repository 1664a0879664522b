// Shortest schedules of projects by a search that learns from its conflicts, and proofs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cosched/moldable/graph/project_windows.hpp"
#include "cosched/moldable/learning/learning_search.hpp"
#include "cosched/moldable/model/placement.hpp"

namespace cosched::moldable::graph {

/// Closes the gap between a bound and a schedule from both ends, by turns: one search wants a
/// schedule that is shorter than the best one, the other wants one that meets the bound, or the
/// proof that there is none.  Both share what they learn (learning/learning_search.hpp).  Where
/// that takes long, energetic reasoning raises the bound once (project_windows.hpp).
class ProjectSearch {
 public:
  /// Whether each job fits on one count only, all times and releases are integers and sum up to at
  /// most some hundred million, jobs do not slow each other, and there are at most kMaxProjectJobs.
  static bool is_suitable(const Instance& instance);

  /// `low`: a bound.  `high`: the makespan of a schedule that is known; infinite: none is.
  /// `instance` must outlive it.  Null where the search does not suit it.
  static std::unique_ptr<ProjectSearch> make(const Instance& instance, double low, double high);

  /// Takes a schedule of the caller's: only shorter ones are looked for, those like it first.
  void offer(const Placement& placement);

  /// Takes a bound of the caller's.
  void raise_bound(double bound);

  /// Searches until the gap is closed or so much work is done, about a nanosecond each.  May throw
  /// as check_interrupt(): bound() and placement() hold at any time.  Deterministic.
  void improve(std::int64_t work);

  bool is_closed() const { return low_ > high_ - 0.5; }
  /// No schedule is shorter.
  double bound() const { return low_; }
  /// The shortest schedule of the search; none: it has found none that is shorter than the known.
  const std::optional<Placement>& placement() const { return placement_; }

 private:
  ProjectSearch(const Instance& instance, ProjectWindows windows, double low, double high);

  // Does a part of the work on one side of the gap; returns how much it did.
  std::int64_t search_one_side(std::int64_t work);
  std::int64_t raise_bound_by_windows();
  void keep_schedule(const std::vector<int>& starts);
  // Sums of needs within the tolerance of validators; the search has a wider one.
  bool exceeds_a_capacity(const std::vector<int>& starts) const;

  const Instance& instance_;
  ProjectWindows windows_;
  double low_, high_;
  learning::RigidProject project_;
  learning::LearningSearch search_;
  std::optional<Placement> placement_;
  std::int64_t searched_work_ = 0;
  bool has_window_bound_ = false;
  bool seeks_schedule_ = true;  // the next search wants a shorter schedule, else a higher bound
  bool has_invalid_schedule_ = false;  // a schedule of the search exceeded a capacity a little
};

/// Beyond so many jobs no ProjectSearch is made: it orders pairs of jobs.
inline constexpr int kMaxProjectJobs = 300;

}  // namespace cosched::moldable::graph
