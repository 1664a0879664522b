// What to start now, in a few milliseconds: for a runtime system that asks again and again.
#pragma once

#include "cosched/moldable/model/placement.hpp"

namespace cosched::moldable::step {

/// What a call leaves for the next one of the same loop.
struct StepState {
  double ratio = 0;  // of the guess that made the best plan to the bound; 0: nothing is known yet
};

struct StepPlan {
  Placement plan;       // of all ready jobs, from now (0) on
  double makespan = 0;  // of the plan: what runs now is decided, and does not count
  double bound = 0;     // no plan of these jobs on these processors ends sooner
  StepState state;
};

/// Throws InvalidInstance where a wait is no number >= 0, the budget not above 0, or the state none
/// that a call has left: what step() refuses besides an instance, for who has no job to plan.
void check_arguments(const std::vector<double>& free_in, double budget, StepState before);

/// A plan for the ready jobs of `instance` on its m processors, of which processor p is free in
/// free_in[p] >= 0 seconds; those of the plan that start at 0 are to be started now.
///
/// A guess d gives each job the cheapest count that ends within it, and the jobs are listed by
/// decreasing time whenever processors become free; guesses around the bound, the best of the last
/// call first, then counts of single jobs until `budget` seconds have passed.  Where all processors
/// are free, makespan <= 2 (1 + 1%) optimum: a list of counts whose work is at most m d and whose
/// times are at most d ends by 2d (Turek, Wolf, Yu 1992).  It ends after the guesses at the latest:
/// a budget is kept up to one list.
///
/// The bound is the greatest d whose work does not fit into what is free before d, or by which some
/// job cannot end on any count.
///
/// No release dates, no edges, nothing shared (InvalidInstance), nor a wait that is no number >= 0.
/// O(n log m log n + m log m) a list, and some 40 of them without the budget.
StepPlan step(const Instance& instance, const std::vector<double>& free_in, double budget,
              StepState before = {});

/// The job that each processor is to start now, -1: none.  The lowest free ones, job by job.  O(n +
/// m).
std::vector<int> assign_processors(const Placement& plan, const std::vector<double>& free_in);

}  // namespace cosched::moldable::step
