// Moldable jobs on one parallel machine (Dutot, Eyraud, Mounie, Trystram 2004, section 2): each of
// n independent jobs is given some of m identical processors when it starts, and keeps them.
//
// Notation = code: n = jobs(), m = machines(), t_i(q) = time(i, q), w_i = weight(i),
// r_i = release(i), gamma_i(d) = gamma(i, d), S_i(d) = least_area(i, d).
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "cosched/core/times.hpp"

namespace cosched::moldable {

/// Downey's speed-up S(q) with average parallelism A and variance sigma (A model for speedup of
/// parallel programs, 1997): t(q) = alone / S(q).  It has properties (1) and (2).
struct Downey {
  double alone;        // t(1), seconds
  double parallelism;  // A >= 1
  double variance;     // sigma >= 0

  double time(int q) const { return alone / speedup(q); }
  double speedup(int q) const;
};

/// Solvers keep arrays of one entry a processor.
inline constexpr int kMostMachines = 1'000'000;

/// Immutable.  Invariants: n >= 1; 1 <= m <= kMostMachines; times positive and finite; weights and
/// releases >= 0 and finite; sum_i w_i times the length of any sensible schedule is a finite
/// double, so that no solver can overflow.  Monotony is not an invariant: whoever needs property
/// (1) or (2) calls require().
class Instance {
 public:
  /// Profiles as a table: times(i, q) for q up to its columns, constant beyond; columns above
  /// `machines` are dropped.  No releases = all 0; no `machines` = the columns of the table.
  /// Throws InvalidInstance that names the first bad entry.  O(n columns).
  Instance(Times times, std::vector<double> weights, std::vector<double> release = {},
           std::optional<int> machines = std::nullopt);

  /// Profiles as formulas: memory O(n) whatever m is.
  Instance(std::vector<Downey> profiles, std::vector<double> weights, std::vector<double> release,
           int machines);

  int jobs() const { return static_cast<int>(weights_.size()); }
  int machines() const { return machines_; }
  double weight(int i) const { return weights_[i]; }
  double release(int i) const { return release_[i]; }
  const std::vector<double>& weights() const { return weights_; }
  const std::vector<double>& releases() const { return release_; }
  bool has_releases() const { return has_releases_; }

  /// The one accessor to a profile: t_i(q), 1 <= q <= m.
  double time(int i, int q) const {
    return times_ ? times_->row(i)[std::min(q, columns_) - 1] : profiles_[i].time(q);
  }
  double work(int i, int q) const { return q * time(i, q); }

  /// Null for profiles that are formulas, and the other way round.
  const Times* table() const { return times_ ? &*times_ : nullptr; }
  const std::vector<Downey>& profiles() const { return profiles_; }

  /// Counts above this one change nothing: the columns of the table, m for formulas.
  int useful_machines() const { return columns_; }

  /// Least q with t_i(q) <= d, 0 where there is none.  O(log m) with property (1), else O(m).
  int gamma(int i, double d) const;

  /// The q with t_i(q) <= d of least work q t_i(q), the lowest such q; 0 where there is none.
  /// O(log m) with properties (1) and (2), where it is gamma; else O(m).
  int cheapest(int i, double d) const;

  /// S_i(d): the work at cheapest(i, d), infinite where there is none.
  double least_area(int i, double d) const;

  /// min_q t_i(q).
  double least_time(int i) const;

  /// min_q q t_i(q).
  double least_work(int i) const { return least_area(i, kEver); }

  /// Properties of all profiles, decided at construction.
  bool monotone_times() const { return monotone_times_; }
  bool monotone_work() const { return monotone_times_ && monotone_work_; }

  /// Throws InvalidInstance that names the first breach of (1), or of (1) and (2).
  void require(Monotone what) const;

  /// Throws InvalidInstance where a job has a release date: `who` is for off-line instances.
  void require_no_releases(const char* who) const;

  /// Itself where (1) and (2) hold; else with each profile repaired (core monotone).  A schedule of
  /// the repaired instance can be run: t_i(q) there is at least t_i(r) here for an r <= q.
  Instance repaired() const;

  /// The given jobs, in that order, all with release 0: what an on-line batch schedules.
  Instance select(const std::vector<int>& jobs) const;

 private:
  static constexpr double kEver = 1.7976931348623157e308;
  Instance(std::optional<Times> times, std::vector<Downey> profiles, std::vector<double> weights,
           std::vector<double> release, int machines);
  void check() const;
  void decide_monotony();

  std::optional<Times> times_;
  std::vector<Downey> profiles_;
  std::vector<double> weights_, release_;
  int machines_;
  int columns_;
  bool has_releases_ = false;
  bool monotone_times_ = true, monotone_work_ = true;
};

}  // namespace cosched::moldable
