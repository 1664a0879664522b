// Instances for the packs tests and benchmarks, and the exhaustive optimum.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "cosched/core/numeric.hpp"
#include "cosched/core/rng.hpp"
#include "cosched/packs/model/bounds.hpp"
#include "cosched/packs/model/coschedule.hpp"
#include "cosched/packs/model/instance.hpp"
#include "cosched/packs/model/measures.hpp"

namespace cosched::packs::testing {

/// Throws when `coschedule` is none of this instance: as pack_costs, and where a pack has more
/// than k tasks or p processors.
inline void require_valid(const Instance& instance, const Coschedule& coschedule) {
  pack_costs(instance, coschedule.pack_of, coschedule.procs);
  for (const std::vector<int>& pack : packs_of(coschedule.pack_of)) {
    long long used = 0;
    for (const int i : pack) used += coschedule.procs[i];
    if (static_cast<int>(pack.size()) > instance.max_tasks() || used > instance.procs())
      throw std::runtime_error("a pack has too many tasks, or too many processors");
  }
}

inline constexpr double kRounding = 1e-12;  // of the sums of exhaustive search

/// Size m of a synthetic application: log-uniform in 2^10..2^14.
inline double random_size(Rng& rng) { return std::exp2(10 + 4 * rng.uniform()); }

/// Time of the sequential laws c m, c m log2 m, c m^2, c m^3, with c such that a mid-sized
/// application takes about as long under each law (else the cubic ones are all that matters).
inline double sequential_time(int law, double m) {
  constexpr double kMiddle = 4096;
  switch (law) {
    case 0:
      return m;
    case 1:
      return m * std::log2(m) / std::log2(kMiddle);
    case 2:
      return m * m / kMiddle;
    default:
      return m * m * m / (kMiddle * kMiddle);
  }
}

/// Overhead kappa(m, c) on c cores: log2 c, (log2 c)^2, c log2 c, (m/c) log2 c, sqrt(m/c),
/// m log2 c.
inline double overhead(int law, double m, double cores) {
  const double log = std::log2(cores);
  switch (law) {
    case 0:
      return log;
    case 1:
      return log * log;
    case 2:
      return cores * log;
    case 3:
      return m / cores * log;
    case 4:
      return std::sqrt(m / cores);
    default:
      return m * log;
  }
}

/// Workloads II and III of the paper: t(m, c) = f t(m, 1) + (1 - f) t(m, 1) / c + kappa(m, c) on c
/// cores, column q on q nodes of 8 cores, then made monotone.  f, laws and m at random.
inline Table speedup_workload(int tasks, int nodes, std::uint64_t seed) {
  constexpr double kSerial[] = {0, 0.04, 0.08, 0.16, 0.32};
  Rng rng(seed);
  Table table(tasks, nodes);
  for (int i = 0; i < tasks; ++i) {
    const double f = kSerial[rng.below(5)];
    const int law = static_cast<int>(rng.below(4)), kappa = static_cast<int>(rng.below(6));
    const double m = random_size(rng), alone = sequential_time(law, m);
    for (int q = 1; q <= nodes; ++q)
      table(i, q - 1) = f * alone + (1 - f) * alone / (8 * q) + overhead(kappa, m, 8 * q);
  }
  return monotone(table);
}

inline Table workload_ii(std::uint64_t seed) { return speedup_workload(65, 16, seed); }
inline Table workload_iii(std::uint64_t seed) { return speedup_workload(260, 32, seed); }

/// Times uniform in (0, 1], without any monotony.
inline Table wild_table(int tasks, int procs, std::uint64_t seed) {
  Rng rng(seed);
  Table table(tasks, procs);
  for (int i = 0; i < tasks; ++i)
    for (int q = 0; q < procs; ++q) table(i, q) = 1 - rng.uniform();
  return table;
}

/// Sequential times in (0, 1], each further processor saves a random part; then (1) and (2).
inline Table random_table(int tasks, int procs, std::uint64_t seed) {
  Rng rng(seed);
  Table table(tasks, procs);
  for (int i = 0; i < tasks; ++i) {
    double t = 1 - rng.uniform();
    for (int q = 0; q < procs; ++q) {
      table(i, q) = t;
      t *= 1 - 0.5 * rng.uniform();
    }
  }
  return monotone(table);
}

/// Times in {1, ..., 4} that do not increase: ties everywhere, super-linear speed-ups.
inline Table tied_table(int tasks, int procs, std::uint64_t seed) {
  Rng rng(seed);
  Table table(tasks, procs);
  for (int i = 0; i < tasks; ++i) {
    double t = static_cast<double>(rng.between(1, 4));
    for (int q = 0; q < procs; ++q) {
      t = std::min(t, static_cast<double>(rng.between(1, 4)) + 2 * rng.uniform());
      t = std::max(1.0, std::floor(t));
      table(i, q) = t;
    }
  }
  return table;
}

/// Times that do not increase, some of them at a stroke: caches that a task suddenly fits in.
inline Table super_linear_table(int tasks, int procs, std::uint64_t seed) {
  Rng rng(seed);
  Table table(tasks, procs);
  for (int i = 0; i < tasks; ++i) {
    double t = 1 - rng.uniform();
    for (int q = 0; q < procs; ++q) {
      table(i, q) = t;
      t *= rng.below(3) == 0 ? 0.3 * (1 - rng.uniform()) : 1 - 0.1 * rng.uniform();
    }
  }
  return table;
}

/// Any times, with counts on which a task cannot run: about a third, and never all of a task.
inline Table holed_table(int tasks, int procs, std::uint64_t seed) {
  Rng rng(seed);
  Table table(tasks, procs);
  for (int i = 0; i < tasks; ++i) {
    for (int q = 0; q < procs; ++q)
      table(i, q) = rng.below(3) == 0 ? kInfinity : static_cast<double>(rng.between(1, 6));
    table(i, static_cast<int>(rng.below(procs))) = 1 - rng.uniform();
  }
  return table;
}

/// Kinds of small_table: 0 random_table, the only one with both properties; 1 tied_table;
/// 2 wild_table; 3 super_linear_table; 4 holed_table.
inline constexpr int kTableKinds = 5;

inline Table small_table(int kind, int tasks, int procs, std::uint64_t seed) {
  constexpr Table (*kMake[kTableKinds])(int, int, std::uint64_t) = {
      random_table, tied_table, wild_table, super_linear_table, holed_table};
  return kMake[kind](tasks, procs, seed);
}

/// The 3-Partition instance of these integers, in (sum/4, sum/2), as k-in-p-CoSchedule (Theorem 2
/// of the paper), with k - 3 fillers a triple.  The optimum is n / k, one second a triple, exactly
/// when the integers make triples that add up to `sum`; else it is higher.
inline Instance partition_instance(const std::vector<int>& parts, int sum, int k) {
  const int n = static_cast<int>(parts.size()), fillers = n / 3 * (k - 3);
  const int procs = sum + (k - 3) * (sum + 1);
  Table table(n + fillers, procs);
  for (int i = 0; i < table.rows(); ++i)
    for (int q = 1; q <= procs; ++q) {
      if (i < n)
        table(i, q - 1) = q < parts[i] ? 1 + 1.0 / parts[i] : 1;
      else
        table(i, q - 1) = std::max(1.0, (sum + 1.0) / q);
    }
  return Instance(Times(table), k);
}

/// A solvable one: the optimum is exactly `triples`.
inline Instance three_partition(int triples, int sum, int k, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<int> parts;
  for (int triple = 0; triple < triples; ++triple)
    for (;;) {
      const int smallest = sum / 4 + 1, largest = (sum - 1) / 2;
      const int a = static_cast<int>(rng.between(smallest, largest));
      const int b = static_cast<int>(rng.between(smallest, largest));
      if (sum - a - b < smallest || sum - a - b > largest) continue;
      parts.insert(parts.end(), {a, b, sum - a - b});
      break;
    }
  rng.shuffle(parts);
  return partition_instance(parts, sum, k);
}

/// Least longest time of `tasks` from `first` on with `procs` processors, by trying every split
/// with the times as measured; infinite where they do not fit.
inline double exhaustive_pack(const Times& times, const std::vector<int>& tasks, std::size_t first,
                              int procs) {
  if (first == tasks.size()) return 0;
  double best = kInfinity;
  for (int q = 1; q <= procs; ++q)
    best = std::min(best, std::max(times.measured_time(tasks[first], q),
                                   exhaustive_pack(times, tasks, first + 1, procs - q)));
  return best;
}

/// Least cost of tasks i..n-1 added to `packs`, over all partitions.
inline double exhaustive_partition(const Instance& instance, int i,
                                   std::vector<std::vector<int>>& packs,
                                   std::vector<double>& price) {
  if (i == instance.tasks()) {
    double sum = 0;
    for (const auto& pack : packs) {
      int set = 0;
      for (const int task : pack) set |= 1 << task;
      if (price[set] < 0) price[set] = exhaustive_pack(instance.times(), pack, 0, instance.procs());
      sum += price[set];
    }
    return sum;
  }
  double best = kInfinity;
  for (std::size_t b = 0; b < packs.size(); ++b) {
    if (static_cast<int>(packs[b].size()) == instance.max_tasks()) continue;
    packs[b].push_back(i);
    best = std::min(best, exhaustive_partition(instance, i + 1, packs, price));
    packs[b].pop_back();
  }
  packs.push_back({i});
  best = std::min(best, exhaustive_partition(instance, i + 1, packs, price));
  packs.pop_back();
  return best;
}

/// The optimum by trying every partition and every split of the processors: the paper's first
/// exact method, for n <= 9 and small p, sharing no code with the library.
inline double exhaustive_optimum(const Instance& instance) {
  std::vector<std::vector<int>> packs;
  std::vector<double> price(std::size_t{1} << instance.tasks(), -1);
  return exhaustive_partition(instance, 0, packs, price);
}

}  // namespace cosched::packs::testing
