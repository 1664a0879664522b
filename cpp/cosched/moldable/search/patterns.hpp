// What one processor can do in a window, and what all need to share some jobs: a bound for labels.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "cosched/moldable/model/instance.hpp"

namespace cosched::moldable::search {

using JobSet = std::uint32_t;

inline int size_of(JobSet jobs) {
  int size = 0;
  for (; jobs != 0; jobs &= jobs - 1) ++size;
  return size;
}

/// From `time` on, `count` processors more are free.
struct Step {
  double time;
  int count;
};

/// Of each job its counts whose time is shorter than those of all smaller counts, by increasing count.
std::vector<std::vector<Choice>> choices_of(const Instance& instance);

/// Give each job a price l_j, and each of its processors the part l_j / q when it runs on q.  In a
/// window of some length one processor earns at most K, a knapsack with one choice of each job:
///   K_S(L) = max sum l_j / q_j, sum t_j(q_j) <= L, over the jobs of a subset of S.
/// The jobs of S end by d only if the sum of K_S(d - free time) over the processors is not below their
/// prices together: this knows that a processor holds few whole jobs, and what parallel ones cost.
/// With the least work as prices it is the area bound where nothing is lost at the ends.
/// Prices: those of the covering LP of all processors by patterns, nearly, by multiplicative weights.
/// Times are rounded down to thousandths of the bound, so that K is a table: what is said stays true.
class ProcessorPatterns {
 public:
  /// `bound`: some positive lower bound on the makespan.  `longest`: no later deadline is asked for.
  ProcessorPatterns(std::vector<std::vector<Choice>> choices, int machines, double bound,
                    double longest);

  /// No schedule of all jobs is shorter: `bound`, or better.
  double bound() const { return bound_; }

  /// False: the jobs of `rest` cannot end by `deadline` on processors that become free as the steps
  /// say, nor before `release`.  O(steps), once for a set O(choices of a job * thousands) more.
  bool fits(JobSet rest, const Step* steps, int count, double deadline, double release = 0);

  /// Steps of work since it was asked last.
  std::int64_t take_work();

 private:
  using Table = std::vector<double>;

  void weigh();
  Table with(const Table& table, int job);
  const Table* table_of(JobSet jobs);
  int cell(double seconds) const;

  std::vector<std::vector<Choice>> choices_;
  int machines_;
  double bound_, cell_;
  int cells_;
  std::vector<double> price_;
  std::unordered_map<JobSet, Table> tables_;
  std::int64_t work_ = 0;
};

}  // namespace cosched::moldable::search
