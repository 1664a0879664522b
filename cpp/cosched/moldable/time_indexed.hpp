// Lower bound on the minsum by a relaxation over starts in time slots, solved by Lagrangian prices.
//
// A grid 0 = g_0 < g_1 < ... < g_J cuts time into slots.  A column (i, a, q): job i starts in slot a,
// [g_a, g_{a+1}), on q processors.  Let b = max(g_a, r_i), t = t_i(q).
//
//   minimise sum of w_i (b + t) over the chosen columns, one a job, such that
//   slot(s):  sum of q over columns with a <= s and g_{s+1} <= b + t   <=  m        s < J
//   work(s):  sum of q min(t, max(0, g_s - g_{a+1}))                   <=  m g_s    0 < s <= J
//   (a job that starts at g_J or later: cost w_i (max(g_J, r_i) + min_q t_i(q)), in no row)
//
// It is a relaxation of every schedule, in real time.  A job that starts in slot a starts at b or
// later, so ends at b + t or later.  slot(s): just before g_{s+1} all columns of the row run, since
// they start before g_{a+1} <= g_{s+1} and end at b + t >= g_{s+1} or later.  work(s): by g_s a job
// that started before g_{a+1} has worked for at least min(t, g_s - g_{a+1}).
//
// At prices >= 0 of the rows each job takes its cheapest column on its own, whatever the others do:
// the sum, less price x right side, is a bound for any prices.  The prices are found by a subgradient
// method; its end is the limit's or the work's to choose.
#pragma once

#include <cstdint>
#include <vector>

#include "cosched/moldable/instance.hpp"

namespace cosched::moldable {

struct TimeIndexedOptions {
  int slots = 96;
  std::int64_t work = 200'000'000;  // columns looked at
};

struct TimeIndexedBound {
  double value = 0;
  bool complete = true;  // false: a time limit ended the search for prices
};

/// `upper`: the minsum of some schedule, and `horizon` its makespan: they choose grid and steps, and
/// no more.  O(n counts slots) for each set of prices.
TimeIndexedBound time_indexed_bound(const Instance& instance, double upper, double horizon,
                                    const TimeIndexedOptions& options = {});

/// With slots, work and a schedule chosen for the size of the instance; 0 where that is too large for
/// prices to be worth the time.  Obeys the time limits around it.
TimeIndexedBound time_indexed_bound(const Instance& instance);

/// The bound at given prices, per processor and second, of slot(s), s < J, and of work(s), 0..J (0
/// is of no row): what a test injects.
double price_bound(const Instance& instance, const std::vector<double>& grid,
                   const std::vector<double>& slot_price, const std::vector<double>& work_price);

}  // namespace cosched::moldable
