// From a fractional assignment x (tasks of type i on machine type j) to an integer one.
#pragma once

#include "cosched/bags/model/instance.hpp"

namespace cosched::bags::rounding {

/// x = whole + part, with 0 <= part < 1 and sum_j part(i, j) = left[i], an integer, for each type
/// i, whatever rounding x suffered: entries within 1e-9 of an integer (and 1e-15 of their size) are
/// that integer, and the largest entry of a row is what the others leave of T_i.
struct Split {
  Counts whole;
  Table part;
  std::vector<std::int64_t> left;
};

/// Throws InvalidInstance where x is no assignment of this instance: wrong shape, an entry that is
/// negative, not finite or on a closed pair, a row that does not sum to T_i (tolerance 1e-6).
Split split(const Instance& instance, const Table& x);

/// Algorithm A (section III-B), the rounding of Shmoys and Tardos with task types for tasks.
///
/// For each machine type j, the fractional parts in order of falling ETC fill unit slots
/// v_j1, v_j2, ...; type i is joined to each slot that holds some of it, at weight joules(i, j).
/// A least-weight b-matching uses each slot at most once and type i left[i] times.
/// Guarantees, for any x with load <= M_j MS and x_ij = 0 where ETC_ij > MS:
///   * sum_j counts(i, j) = T_i;
///   * joules do not rise;
///   * counts(i, j) <= ceil(x_ij) + 1 (a type may fill both slots that it crosses);
///   * any list schedule of the counts ends by 2 MS.
/// O(T M log T + flow), the flow on at most 2 (T + M) arcs when x is basic.
Counts round_by_matching(const Instance& instance, const Table& x);

/// The rounding of Tarplee et al. 2014: what floor(x) leaves of type i goes, one task each, to the
/// machine types of the largest fractional parts (ties: the lowest).  Joules and loads may rise.
Counts round_by_largest_part(const Instance& instance, const Table& x);

// From counts on machine types to a plan: Algorithm B on each.

// Algorithm B (Li et al. 2016, section III-C): from machine types to machines.

/// Water level AL: sum over S of (AL - L_k) = work, S = machines with L_k < AL.
///
/// The paper takes the mean over all machines, which is not LPT when some L_k exceeds it: loads
/// (10, 0, 0) and four tasks of length 1 would give (10, 4, 0) instead of (10, 2, 2).
/// Requires loads nonempty, work >= 0.  O(machines) a round of dropped machines, few in practice.
double water_level(const std::vector<double>& loads, double work);

/// LPT of `count` tasks of `length` seconds on machines with these loads (added to), without
/// placing them one by one: machine k takes floor((AL - L_k)/length) at once, the few that are
/// left go to the least loaded machine each; ties: the lowest.  Returns the tasks of each machine.
///
/// LPT gives the tasks to the `count` earliest slots (L_k + t length, k), t = 0, 1, ...; what is
/// taken at once is a prefix of that order, so the result is LPT's.  O(machines log machines).
std::vector<std::int64_t> spread(std::vector<double>& loads, std::int64_t count, double length);

/// Loads of machine type j after Algorithm B: types in order of falling ETC (ties: the lowest).
/// `column` = tasks of each type on j.  `visit(i, tasks of each machine)`, where given, is called
/// for each type in that order.  O(T log T + T M_j log M_j), whatever the number of tasks.
template <class Visit>
std::vector<double> assign_locally(const Instance& instance, int j,
                                   const std::vector<std::int64_t>& column, Visit visit);

/// Task types in order of falling ETC on machine type j; ties: the lowest.
std::vector<int> longest_first(const Instance& instance, int j);

template <class Visit>
std::vector<double> assign_locally(const Instance& instance, int j,
                                   const std::vector<std::int64_t>& column, Visit visit) {
  std::vector<double> loads(instance.machines(j), 0);
  for (const int i : longest_first(instance, j))
    if (column[i] > 0) visit(i, spread(loads, column[i], instance.etc(i, j)));
  return loads;
}

/// The plan of Algorithm B for these counts.  Throws InvalidInstance where counts do not fit: wrong
/// shape, negative, a closed pair, a row that does not sum to T_i.
/// O(sum_j (T log T + T M_j log M_j)).
Plan make_plan(const Instance& instance, const Counts& counts);

/// profit_rate of make_plan(instance, counts), without building it.  Counts are not checked.
double profit_rate_of(const Instance& instance, const Counts& counts);

}  // namespace cosched::bags::rounding
