// From a fractional assignment x (tasks of type i on machine type j) to an integer one.
#pragma once

#include "cosched/bags/model/instance.hpp"

namespace cosched::bags::rounding {

/// x = whole_counts + parts, with 0 <= parts < 1 and sum_j parts(i, j) = remaining[i], an integer,
/// for each type i, whatever rounding errors x has: entries within 1e-9 of an integer (and 1e-15 of
/// their size) are that integer, and the largest entry of a row is what the others leave of T_i.
struct FractionalSplit {
  Counts whole_counts;
  Table parts;
  std::vector<std::int64_t> remaining;
};

/// Throws InvalidInstance where x is no assignment of this instance: wrong shape, an entry that is
/// negative, not finite or on a closed pair, a row that does not sum to T_i (tolerance 1e-6).
FractionalSplit split_fractions(const Instance& instance, const Table& x);

/// Algorithm A (section III-B), the rounding of Shmoys and Tardos with task types for tasks.
///
/// For each machine type j, the fractional parts in order of falling ETC fill unit slots
/// v_j1, v_j2, ...; type i is joined to each slot that holds some of it, at weight joules(i, j).
/// A least-weight b-matching uses each slot at most once and type i remaining[i] times.
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

}  // namespace cosched::bags::rounding
