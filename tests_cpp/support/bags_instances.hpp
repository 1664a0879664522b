// Instances for the bags tests and benchmarks, and the optimum by brute force.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cosched/bags/model/instance.hpp"
#include "cosched/core/rng.hpp"

namespace cosched::bags::testing {

/// What a random instance looks like.
struct Shape {
  int types = 3, machine_types = 2;
  int most_tasks = 5, most_machines = 3;  // of each type: 1..most
  int integers = 0;                       // times and powers in 1..integers; 0: real in (0, 1]
  double gamma = 1.2;                     // price / (c E_min)
  double energy_cost = 1;
  bool holes = false;  // some pairs closed
  bool idle = false;   // idle power of a random share of the least power
  double cap = 0;      // power cap over the least possible mean power (0: none)
};

inline double least_of_column(const Table& table, int j) {
  double least_value = table(0, j);
  for (std::ptrdiff_t i = 1; i < table.rows(); ++i)
    least_value = std::min(least_value, table(i, j));
  return least_value;
}

inline Table random_numbers(int rows, int columns, int integers, Rng& rng) {
  Table table(rows, columns);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      table(i, j) =
          integers > 0 ? static_cast<double>(rng.between(1, integers)) : 1 - rng.uniform();
  return table;
}

inline Instance random_instance(const Shape& shape, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<std::int64_t> counts, machines;
  for (int i = 0; i < shape.types; ++i) counts.push_back(rng.between(1, shape.most_tasks));
  for (int j = 0; j < shape.machine_types; ++j)
    machines.push_back(rng.between(1, shape.most_machines));
  const Table etc = random_numbers(shape.types, shape.machine_types, shape.integers, rng);
  const Table apc = random_numbers(shape.types, shape.machine_types, shape.integers, rng);
  Extensions extensions;
  if (shape.holes) {
    extensions.allowed.assign(etc.size(), 1);
    for (int i = 0; i < shape.types; ++i) {
      const auto always_allowed = static_cast<int>(rng.below(shape.machine_types));
      for (int j = 0; j < shape.machine_types; ++j)
        if (j != always_allowed && rng.below(3) == 0)
          extensions.allowed[i * shape.machine_types + j] = 0;
    }
  }
  if (shape.idle)
    for (int j = 0; j < shape.machine_types; ++j)
      extensions.idle_power.push_back(0.5 * rng.uniform() * least_of_column(apc, j));
  const Instance plain(counts, machines, etc, apc, 0, shape.energy_cost, extensions);
  if (shape.cap > 0) {
    double least_mean = 0;  // a makespan that least energy certainly fits in
    for (int i = 0; i < shape.types; ++i)
      least_mean +=
          static_cast<double>(plain.count(i)) * plain.etc(i, plain.thriftiest_machine_type(i));
    extensions.power_cap = plain.idle_power() + shape.cap * plain.least_joules() / least_mean;
  }
  return Instance(counts, machines, etc, apc,
                  shape.gamma * shape.energy_cost * plain.least_joules(), shape.energy_cost,
                  extensions);
}

/// Random times and powers in (0, 1], 150 q tasks of 30 types, 9 machine types of 40 machines:
/// the q-th experiment of the paper's figure 3.
inline Instance figure_3_instance(std::int64_t tasks, double gamma, std::uint64_t seed) {
  Rng rng(seed);
  const std::vector<std::int64_t> counts(30, tasks / 30), machines(9, 40);
  const Table etc = random_numbers(30, 9, 0, rng), apc = random_numbers(30, 9, 0, rng);
  const Instance plain(counts, machines, etc, apc, 0, 1);
  return Instance(counts, machines, etc, apc, gamma * plain.least_joules(), 1);
}

/// Best profit rate over every assignment of single tasks to machines; shares no code with the
/// library's algorithms.  For a handful of tasks.
class BruteForce {
 public:
  explicit BruteForce(const Instance& instance) : instance_(instance) {
    for (int j = 0; j < instance.machine_types(); ++j)
      for (int k = 0; k < instance.machines(j); ++k) machine_.push_back(j);
    for (int i = 0; i < instance.types(); ++i)
      for (std::int64_t n = 0; n < instance.count(i); ++n) task_.push_back(i);
    load_.assign(machine_.size(), 0);
    place(0, 0);
  }
  double best_rate() const { return best_; }
  double least_makespan() const { return shortest_; }

 private:
  void place(std::size_t t, double joules) {
    if (t == task_.size()) {
      const double longest = *std::max_element(load_.begin(), load_.end());
      const double makespan = std::max(longest, joules / instance_.power_above_idle());
      shortest_ = std::min(shortest_, makespan);
      best_ = std::max(best_, (instance_.price() - instance_.energy_cost() * joules) / makespan -
                                  instance_.energy_cost() * instance_.idle_power());
      return;
    }
    for (std::size_t k = 0; k < machine_.size(); ++k) {
      // Machines of a type are alike: of those that are still empty, only the first.
      if (k > 0 && machine_[k] == machine_[k - 1] && load_[k] == 0 && load_[k - 1] == 0) continue;
      const int i = task_[t], j = machine_[k];
      if (!instance_.is_allowed(i, j)) continue;
      const double before = load_[k];
      load_[k] += instance_.etc(i, j);
      place(t + 1, joules + instance_.joules(i, j));
      load_[k] = before;
    }
  }

  const Instance& instance_;
  std::vector<int> machine_, task_;
  std::vector<double> load_;
  double best_ = -kInfinity, shortest_ = kInfinity;
};

}  // namespace cosched::bags::testing
