// What codes that run at the same time on one machine share: resources that must fit (memory, GPUs,
// licences), and a machine that slows them down.
//
// Notation = code.  A running set S holds tasks i on q_i processors, t_i = t_i(q_i) seconds alone.
// Needs a_ir(q) = need(r, i, q) of resource r are hard: their sum over what runs together is at
// most A_r = capacity(r).  The factor f_i(S) >= 1, which is 1 alone and never falls where S grows,
// is the larger of two laws:
//
//   pairs      e_ij = max(s_ij, 1) - 1, s_ij = time of i beside j / alone; the rule makes a factor
//              of the e_ij of all j in S: 1 + their sum, the product of 1 + e_ij, or 1 + the
//              largest;
//   bandwidth  1 + m_i max(0, sum_{j in S} b_j(q_j) / B - 1).
//
// Task i works at the rate 1 / (t_i f_i(S)) while S runs: ends are piecewise.  For these laws the
// ends of a set that starts together are unique, between t_i and t_i f_i(S), and grow with every
// t_j, every s_ij and every further task. They need not grow with q_j under a bandwidth, and
// without a common start nothing of this is monotone.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cosched/core/errors.hpp"
#include "cosched/core/matrix.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched {

/// How the excess of several companions adds up.
enum class SlowdownRule { sum, product, max };

/// The factor of pairs with one companion more, whose excess is e.
inline double with_companion(SlowdownRule rule, double factor, double e) {
  switch (rule) {
    case SlowdownRule::sum:
      return factor + e;
    case SlowdownRule::product:
      return factor * (1 + e);
    default:
      return std::max(factor, 1 + e);
  }
}

struct Resource {
  std::string name;
  double capacity = kInfinity;
  Matrix<double> need;  // n x 1 where counts do not matter, else n x counts; constant beyond
};

struct Slowdowns {
  Matrix<double> table;  // n x n, s_ij; the diagonal is not read
  SlowdownRule rule = SlowdownRule::sum;
};

struct Bandwidth {
  Matrix<double> demand;  // n x 1 or n x counts, as needs
  double capacity = kInfinity;
  std::vector<double> stall;  // m_i in [0, 1]
};

/// A task that runs on some processors.
struct RunningTask {
  int task = 0;
  int procs = 0;
  double alone = 0;  // its run time there without slow-downs, s
};

/// Immutable.
class Sharing {
 public:
  /// Throws InvalidInstance that names the first bad entry.
  Sharing(int tasks, std::vector<Resource> resources, std::optional<Slowdowns> slowdowns,
          std::optional<Bandwidth> bandwidth);

  int tasks() const { return tasks_; }
  int resources() const { return static_cast<int>(resources_.size()); }
  double capacity(int r) const { return resources_[r].capacity; }
  double need(int r, int i, int q) const { return at(resources_[r].need, i, q); }
  const Resource& resource(int r) const { return resources_[r]; }

  bool slows() const { return slowdowns_ || bandwidth_; }
  /// Whether needs and traffic of task i are the same on all counts.
  bool same_on_all_counts() const { return same_on_all_counts_; }
  bool has_bandwidth() const { return bandwidth_.has_value(); }
  const std::optional<Slowdowns>& slowdowns() const { return slowdowns_; }
  const std::optional<Bandwidth>& bandwidth() const { return bandwidth_; }
  /// e_ij.
  double excess(int i, int j) const { return excess_.empty() ? 0 : excess_(i, j); }
  SlowdownRule rule() const { return slowdowns_ ? slowdowns_->rule : SlowdownRule::sum; }
  /// b_i(q) / B, and m_i.
  double load(int i, int q) const {
    return bandwidth_ ? at(bandwidth_->demand, i, q) / bandwidth_->capacity : 0;
  }
  double stall(int i) const { return bandwidth_ ? bandwidth_->stall[i] : 0; }

  /// Whether task i fits on q processors with nobody beside it.
  bool fits_alone(int i, int q) const {
    const RunningTask run{i, q, 0};
    return fits(&run, 1);
  }
  /// sum of needs <= capacity, for every resource, up to kExactTolerance.
  bool fits(const RunningTask* set, int count) const;
  bool fits(const std::vector<RunningTask>& set) const {
    return fits(set.data(), static_cast<int>(set.size()));
  }

  /// f_i(S) of each member of S.  O(k^2).
  std::vector<double> factors(const std::vector<RunningTask>& set) const;

  /// When each ends where all start at 0.  Unslowed tasks end at their t_i exactly.  O(k^3).
  std::vector<double> ends(const std::vector<RunningTask>& pack) const;

  /// Resources alone: null where there are none.
  std::shared_ptr<const Sharing> without_slowdowns() const;

  /// The given tasks, in that order.
  Sharing select(const std::vector<int>& chosen) const;

 private:
  static double at(const Matrix<double>& table, int i, int q) {
    const std::ptrdiff_t column = q - 1;
    return table(i, column < table.cols() ? column : table.cols() - 1);
  }

  int tasks_;
  std::vector<Resource> resources_;
  std::optional<Slowdowns> slowdowns_;
  std::optional<Bandwidth> bandwidth_;
  Matrix<double> excess_;  // empty without pairs that slow
  bool same_on_all_counts_ = true;
};

/// Throws InvalidInstance where `sharing` is of other tasks than 0..tasks-1, or task i, which takes
/// time_on(i, q) seconds, fits on none of the counts 1..procs on which it can run.
template <class TimeOn>
void require_each_fits(const Sharing& sharing, int tasks, int procs, const TimeOn& time_on) {
  if (sharing.tasks() != tasks)
    throw InvalidInstance("what is shared is of " + std::to_string(sharing.tasks()) +
                          " tasks: expected " + std::to_string(tasks));
  for (int i = 0; i < tasks; ++i) {
    bool has_fitting_count = false;
    for (int q = 1; q <= procs && !has_fitting_count; ++q)
      has_fitting_count = time_on(i, q) < kInfinity && sharing.fits_alone(i, q);
    if (!has_fitting_count)
      throw InvalidInstance("task " + std::to_string(i) +
                            " needs more than the capacity on each count on which it can run");
  }
}

}  // namespace cosched
