// Patterns: what one machine can run within a makespan.  The best plan for a makespan L is a
// choice of patterns (Gilmore and Gomory 1961, with machine types for stock and energy for waste);
// its linear relaxation knows, unlike (6), that tasks are indivisible on each machine.
#pragma once

#include <set>

#include "cosched/bags/model/bag_plan.hpp"
#include "cosched/core/interrupt.hpp"

namespace cosched::bags::search {

struct Pattern {
  int machine_type = 0;
  std::vector<std::pair<int, std::int64_t>> tasks;  // (task type, count), counts >= 1
  double seconds = 0, joules = 0;
};

struct PatternParams {
  /// Nodes of the search for one pattern; then the best gain a second bounds the rest.
  int max_nodes = 20'000;
  /// A pattern of one task type is a start where its gain is at least this part of the best gain.
  double least_relative_gain = 0.7;
  /// The weight of the values in the relaxation (6), which are close, in the prices of a pricing.
  double smoothing = 0.7;
};

/// No pattern of machine type j within `limit` has a greater sum of value[i] - joules(i, j); never
/// below 0, what an empty machine has.  Where the same search stops early: by the best gain a
/// second.
double max_gain(const Instance& instance, int j, double limit, const std::vector<double>& value,
                const PatternParams& params = {});

/// Tasks and machines of each type that are there: all of the instance, or what a dive has left.
struct Stock {
  std::vector<std::int64_t> tasks, machines;
};

/// How often each pattern is used, by the linear relaxation.
struct PatternUse {
  double joules = 0;        // dynamic energy
  bool is_complete = true;  // every task is in a pattern: the relaxation is feasible
  std::vector<std::pair<int, double>> copies;  // (pattern number, copies > 0)
  std::vector<double> task_values;             // dual price of a task of each type
  std::vector<double> machine_values;          // and of a machine of each type
};

/// What a task without a machine costs in a relaxation, times its value: by default, and where no
/// task may stay without a machine.
inline constexpr double kMissingTaskFactor = 3, kSurelyMissingTaskFactor = 1000;

/// The pattern of these tasks on machine type j.
Pattern make_pattern(const Instance& instance, int j,
                     std::vector<std::pair<int, std::int64_t>> tasks);

/// Patterns for one makespan, generated as they are needed.
class PatternPool {
 public:
  /// `value[i]`: what a task of type i is worth in the relaxation (6) at about this makespan.
  /// Starts with the patterns of one task type alone and the best pattern of each machine type.
  PatternPool(const Instance& instance, double limit, std::vector<double> task_values,
              const PatternParams& params = {});

  /// For a part of the tasks and machines.  Starts with the best pattern of each machine type and
  /// those of `known_patterns` that the part can hold.
  PatternPool(const Instance& instance, double limit, std::vector<double> task_values, Stock stock,
              const std::vector<Pattern>& known_patterns, const PatternParams& params = {});

  /// Column generation, at most `rounds` rounds or until the deadline: a linear programme of T + M
  /// rows and M searches each.  The energy is an estimate from below of what patterns within the
  /// limit need: pricing is a search that may stop early, so it is no proven bound.
  /// A task without a machine costs `missing_task_factor` times its value; where that is too little
  /// and the makespan is short, some tasks stay without one.
  PatternUse solve(int rounds, double missing_task_factor = kMissingTaskFactor);

  const Pattern& operator[](int number) const { return patterns_[number]; }
  const std::vector<Pattern>& patterns() const { return patterns_; }
  double limit() const { return limit_; }
  const std::vector<double>& task_values() const { return task_values_; }

 private:
  Pattern find_best_pattern(int j, const std::vector<double>& value) const;
  bool add_pattern(Pattern pattern);
  PatternUse solve_master(double missing_task_factor) const;
  bool generate_patterns(const PatternUse& use, const std::vector<double>& guide);

  PatternParams params_;
  const Instance* instance_;
  double limit_;
  std::vector<double> task_values_;
  Stock stock_;
  std::vector<Pattern> patterns_;
  std::set<std::pair<int, std::vector<std::pair<int, std::int64_t>>>> known_patterns_;
};

/// The plan of the patterns: copies rounded down, each on a machine; the rest of their tasks by
/// Algorithm A from machine types' shares in the patterns, and Algorithm B on all machines of
/// the type.  Few machines exceed the limit, none of the others is far below it.
/// Requires use.is_complete.
std::vector<TaskRun> make_pattern_runs(const Instance& instance, const PatternPool& pool,
                                       const PatternUse& use);

}  // namespace cosched::bags::search
