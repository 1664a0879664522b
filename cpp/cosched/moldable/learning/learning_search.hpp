// A search over starts that learns from its conflicts.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cosched/core/interrupt.hpp"
#include "cosched/moldable/learning/branching.hpp"
#include "cosched/moldable/learning/clauses.hpp"
#include "cosched/moldable/learning/conflict_analysis.hpp"
#include "cosched/moldable/learning/delays.hpp"
#include "cosched/moldable/learning/timetable.hpp"
#include "cosched/moldable/learning/trail.hpp"

namespace cosched::moldable::learning {

/// Jobs, each on one count, whose times and releases are integers.
struct RigidProject {
  struct Edge {
    int before, after;
  };
  std::vector<int> seconds, releases;                // of each job
  std::vector<Edge> edges;                           // `after` starts when `before` has ended
  std::vector<Edge> disjunctive_pairs;               // one of the two ends before the other starts
  std::vector<std::vector<ResourceUser>> resources;  // start variable i is job i's
  int horizon = 0;                                   // all jobs end by then
  int jobs() const { return static_cast<int>(seconds.size()); }
};

/// Finds schedules within a makespan, or proves that there is none.
///
/// Lazy clause generation: bounds of starts follow from edges, orders of pairs and timetables, with
/// reasons; a conflict teaches a clause that rules out its reasons everywhere (Schutt, Feydy,
/// Stuckey, Wallace, Explaining the cumulative propagator, Constraints 2011).  The makespan is a
/// variable, so that what is learnt for one makespan holds for all.
class LearningSearch {
 public:
  explicit LearningSearch(const RigidProject& project);
  LearningSearch(const LearningSearch&) = delete;  // its parts refer to each other
  LearningSearch& operator=(const LearningSearch&) = delete;

  enum class Answer { schedule, refuted, unknown };

  /// Looks for a schedule of at most this makespan.  unknown: the work did not suffice.  A makespan
  /// that is `final` is never exceeded again, which saves a level.
  Answer search(int makespan, bool is_final, std::int64_t work);

  /// Starts of the last schedule.
  const std::vector<int>& starts() const { return starts_; }
  /// Saves these starts as the values to try first.
  void save_values(const std::vector<int>& starts);
  /// Work of the last search: about a nanosecond each.
  std::int64_t work() const { return operations() - operations_before_; }

 private:
  int makespan_variable() const { return jobs_; }
  bool propagate();
  void backjump_to(int level);
  // Learns from the last conflict; false: there is no schedule at all.
  bool learn();
  // The next decision; none: all starts are known.
  std::optional<Literal> choose();
  std::int64_t operations() const;

  int jobs_;
  Trail trail_;
  Delays delays_;
  Clauses clauses_;
  std::vector<Timetable> timetables_;
  std::vector<std::vector<int>> timetables_of_job_;
  std::vector<char> is_waiting_;  // timetables with new bounds
  ConflictAnalysis analysis_;
  Branching branching_;
  std::vector<int> starts_;
  int propagated_entries_ = 0;
  bool is_feasible_ = true;
  std::int64_t restarts_ = 0, max_clauses_;
  std::int64_t operations_before_ = 0;
  Poll poll_;
};

}  // namespace cosched::moldable::learning
