// On how many processors a job with precedence may run, and what each count takes.
#pragma once

#include "cosched/moldable/model/placement.hpp"

namespace cosched::moldable::graph {

/// A count of a job.
struct Choice {
  int procs = 1;
  double time = 0;
  std::vector<double> share;  // of the machine: procs / m, then need / capacity of each resource
};

/// Which counts of a job are choices.
enum class Counts {
  worthwhile,  // beyond 64 only counts that are a twentieth faster than the one before
  all,         // for proofs
};

/// Of each job, by increasing counts: those on which it can run and fits, without any of which
/// another is no slower and takes no more of anything.  Never empty.
class Choices {
 public:
  explicit Choices(const Instance& instance, Counts counts = Counts::worthwhile);

  int jobs() const { return static_cast<int>(of_.size()); }
  int measures() const { return measures_; }  // 1 + resources
  const std::vector<Choice>& operator[](int i) const { return of_[i]; }
  /// The choice of least time.
  int fastest(int i) const { return fastest_[i]; }
  /// The choice of least time of those on at most q processors; the fewest processors where there
  /// is none.
  int within(int i, int q) const;

 private:
  int measures_;
  std::vector<std::vector<Choice>> of_;
  std::vector<int> fastest_;
};

/// Starts job i on a choice.  Not place(): where counts need different amounts, fewer processors
/// are no replacement.
inline void put(Placement& into, int i, const Choice& choice, double start) {
  into.procs[i] = choice.procs;
  into.start[i] = start;
  into.end[i] = start + choice.time;
}

/// A choice a job.
using Chosen = std::vector<int>;

/// Seconds of each job.
std::vector<double> durations(const Choices& choices, const Chosen& chosen);

/// The instance's graph; where it has none, jobs that do not wait for each other.
class Precedence {
 public:
  explicit Precedence(const Instance& instance)
      : free_(instance.graph() ? 0 : instance.jobs(), {}), graph_(instance.graph()) {}
  const TaskGraph& operator*() const { return graph_ ? *graph_ : free_; }
  const TaskGraph* operator->() const { return &**this; }

 private:
  TaskGraph free_;
  const TaskGraph* graph_;
};

/// Seconds of the longest path from the start of each job on.  O(n + e).
std::vector<double> bottom_levels(const TaskGraph& graph, const std::vector<double>& duration);
/// Earliest start of each job, after its release and the jobs before it.  O(n + e).
std::vector<double> heads(const TaskGraph& graph, const std::vector<double>& duration,
                          const std::vector<double>& release);

}  // namespace cosched::moldable::graph
