// A bound on the makespan of jobs with precedence by windows: heads and tails.
#pragma once

#include "cosched/moldable/model/instance.hpp"

namespace cosched::moldable::graph {

/// The longest makespan that heads and tails refute, from `low` (a bound) on.  Within L a job runs
/// from its earliest start by least times to L less the longest path behind it: on a count that is
/// short enough, so its work is at least that of the cheapest of these.  For every pair of a head h
/// and a tail t, the jobs that start at h at the earliest and have t behind them need their work,
/// and their part of each resource, in (h, L - t).  Bisection to 2e-10; O(n + pairs) a step, at
/// most 64 x 64 pairs.
double heads_and_tails(const Instance& instance, double low);

}  // namespace cosched::moldable::graph
