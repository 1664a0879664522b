// Patterns: what one machine can run within a makespan.  The best plan for a makespan L is a
// choice of patterns (Gilmore and Gomory 1961, with machine types for stock and energy for waste);
// its linear relaxation knows, unlike (6), that tasks are indivisible on each machine.
#pragma once

#include <set>
#include <utility>
#include <vector>

#include "cosched/bags/model/plan.hpp"
#include "cosched/core/interrupt.hpp"

namespace cosched::bags::search {

struct Pattern {
  int machine_type = 0;
  std::vector<std::pair<int, std::int64_t>> tasks;  // (task type, count), counts >= 1
  double seconds = 0, joules = 0;
};

/// The pattern of machine type j with the greatest sum of value[i] - joules(i, j), among those of
/// at most `limit` seconds; by depth-first search in order of gain a second, up to `nodes` nodes
/// (then the best so far).  No tasks where nothing is gained.
Pattern best_pattern(const Instance& instance, int j, double limit,
                     const std::vector<double>& value, int nodes);

/// How often each pattern is used, by the linear relaxation.
struct PatternUse {
  double joules = 0;     // dynamic energy
  bool complete = true;  // every task is in a pattern: the relaxation is feasible
  std::vector<std::pair<int, double>> copies;  // (pattern number, copies > 0)
  std::vector<double> value;                   // dual price of a task of each type
  std::vector<double> machine_value;           // and of a machine of each type
};

/// Patterns for one makespan, generated as they are needed.
class PatternPool {
 public:
  /// `value[i]`: what a task of type i is worth in the relaxation (6) at about this makespan.
  /// Starts with the patterns of one task type alone and the best pattern of each machine type.
  PatternPool(const Instance& instance, double limit, std::vector<double> value);

  /// Column generation, at most `rounds` rounds or until the deadline: a linear programme of T + M
  /// rows and M searches each.  The energy is an estimate from below of what patterns within the
  /// limit need: pricing is a search that may stop early, so it is no proven bound.
  PatternUse solve(int rounds);

  const Pattern& operator[](int number) const { return patterns_[number]; }

 private:
  bool add(Pattern pattern);
  PatternUse solve_master() const;
  bool generate(const PatternUse& use, const std::vector<double>& guide);

  const Instance* instance_;
  double limit_;
  std::vector<double> value_;
  std::vector<Pattern> patterns_;
  std::set<std::pair<int, std::vector<std::pair<int, std::int64_t>>>> known_;
};

/// The plan of the patterns: copies rounded down, each on a machine; the rest of their tasks by
/// Algorithm A from machine types' shares in the patterns, and Algorithm B on all machines of
/// the type.  Few machines exceed the limit, none of the others is far below it.
/// Requires use.complete.
std::vector<Run> pattern_runs(const Instance& instance, const PatternPool& pool,
                              const PatternUse& use);

}  // namespace cosched::bags::search
