// On how many processors a job with precedence may run, and what each count takes.
#pragma once

#include "cosched/moldable/model/placement.hpp"

namespace cosched::moldable::graph {

/// A count of a job.
struct JobChoice {
  int procs = 1;
  double time = 0;
  std::vector<double> share;  // of the machine: procs / m, then need / capacity of each resource
};

/// Which counts of a job are choices.
enum class CountFilter {
  worthwhile,  // beyond 64 only counts that are a twentieth faster than the one before
  all,         // for proofs
};

/// Of each job, by increasing counts: those on which it can run and fits, without any of which
/// another is no slower and takes no more of anything.  Never empty.
class JobChoices {
 public:
  explicit JobChoices(const Instance& instance, CountFilter counts = CountFilter::worthwhile);

  int jobs() const { return static_cast<int>(job_choices_.size()); }
  int measures() const { return measures_; }  // 1 + resources
  const std::vector<JobChoice>& operator[](int i) const { return job_choices_[i]; }
  /// The choice of least time.
  int fastest_choice(int i) const { return fastest_choice_[i]; }
  /// The choice of least time of those on at most q processors; the fewest processors where there
  /// is none.
  int fastest_within(int i, int q) const;

 private:
  int measures_;
  std::vector<std::vector<JobChoice>> job_choices_;
  std::vector<int> fastest_choice_;
};

/// Starts job i on a choice.  Not place(): where counts need different amounts, fewer processors
/// are no replacement.
inline void place_choice(Placement& into, int i, const JobChoice& choice, double start) {
  into.procs[i] = choice.procs;
  into.start[i] = start;
  into.end[i] = start + choice.time;
}

/// A choice a job.
using ChoiceNumbers = std::vector<int>;

/// Seconds of each job.
std::vector<double> durations(const JobChoices& choices, const ChoiceNumbers& chosen);

}  // namespace cosched::moldable::graph
