// Instances for the tests and benchmarks of the dags family.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "cosched/core/numeric.hpp"
#include "cosched/core/rng.hpp"
#include "cosched/dags/model/instance.hpp"
#include "cosched/dags/model/paths.hpp"
#include "cosched/dags/model/plan.hpp"
#include "cosched/dags/model/time_grain.hpp"

namespace cosched::dags::graphs {

inline Instance make(const std::vector<std::vector<double>>& times, const std::vector<Edge>& edges,
                     std::vector<int> units) {
  Table table(times.size(), times.empty() ? 0 : times[0].size());
  for (std::size_t i = 0; i < times.size(); ++i)
    for (std::size_t q = 0; q < times[i].size(); ++q) table(i, q) = times[i][q];
  const int n = static_cast<int>(times.size());
  return Instance(std::move(table), TaskGraph(n, edges), std::move(units));
}

struct RandomOptions {
  int tasks = 10, types = 2;
  double density = 0.3;   // of edges i -> j, i < j
  double cannot = 0.15;   // chance that a task cannot run on a type
  int most_units = 4;     // of each type
  bool integers = false;  // small integer times, zero included: many ties
};

inline Instance random(Rng& rng, const RandomOptions& options) {
  std::vector<std::vector<double>> times(options.tasks);
  std::vector<Edge> edges;
  for (int i = 0; i < options.tasks; ++i) {
    for (int q = 0; q < options.types; ++q)
      times[i].push_back(options.integers ? static_cast<double>(rng.below(5))
                                          : 0.1 + 10 * rng.uniform() * rng.uniform());
    const std::uint64_t sure = rng.below(options.types);
    for (int q = 0; q < options.types; ++q)
      if (q != static_cast<int>(sure) && rng.uniform() < options.cannot) times[i][q] = kInfinity;
    for (int j = 0; j < i; ++j)
      if (rng.uniform() < options.density) edges.emplace_back(j, i);
  }
  std::vector<int> units;
  for (int q = 0; q < options.types; ++q)
    units.push_back(static_cast<int>(rng.between(1, options.most_units)));
  return make(times, edges, units);
}

/// The same with data on most edges, random links (seldom infinitely fast) and memories; `ccr` is
/// about the ratio of a transfer to a task.
inline Instance with_transfers(Rng& rng, const Instance& instance, double ccr = 1) {
  const int types = instance.types();
  Links links{.bandwidth = Table(types, types), .latency = Table(types, types), .memories = {}};
  const double rate = rng.uniform() < 0.05 ? kInfinity : 1 / ccr;
  const double wait = rng.uniform() < 0.3 ? ccr : 0;
  for (int q = 0; q < types; ++q)
    for (int r = 0; r < types; ++r) {
      links.bandwidth(q, r) = rate * (0.5 + rng.uniform());
      links.latency(q, r) = wait * rng.uniform();
    }
  links.memories.kind = static_cast<Memories::MemoryKind>(rng.below(3));
  if (links.memories.kind == Memories::MemoryKind::listed)
    for (const int units : instance.units())
      for (int unit = 0; unit < units; ++unit)
        links.memories.memory_of_unit.push_back(static_cast<int>(rng.below(4)));
  std::vector<Edge> edges;
  std::vector<double> data;
  for (int task = 0; task < instance.tasks(); ++task)
    for (const int next : instance.graph().successors(task)) {
      edges.emplace_back(task, next);
      data.push_back(rng.uniform() < 0.15 ? 0 : 5 * rng.uniform());
    }
  return {instance.times(), instance.graph(), instance.units(),
          Transfers(instance.graph(), instance.units(), edges, data, std::move(links))};
}

/// A graph with data for this round of a test: sizes, ties and the ratio of communication vary.
inline Instance random_with_transfers(Rng& rng, int round) {
  RandomOptions options;
  options.tasks = 1 + round % 25;
  options.types = 1 + round % 4;
  options.density = round % 5 * 0.12;
  options.integers = round % 3 == 0;
  const double ccr = round % 4 == 0 ? 0.1 : round % 4 == 1 ? 1 : 5;
  return with_transfers(rng, random(rng, options), ccr);
}

/// Right-looking tiled Cholesky of t x t tiles; times in the proportions of the Chameleon
/// kernels on a K20, with relative noise.
inline Instance cholesky(int tiles, std::vector<int> units, double noise, std::uint64_t seed) {
  Rng rng(seed);
  constexpr double kTimes[4][2] = {{30, 10}, {55, 6}, {50, 3.5}, {90, 3.6}};
  std::vector<std::vector<double>> times;
  std::vector<Edge> edges;
  std::vector<std::vector<int>> writer(tiles, std::vector<int>(tiles, -1));
  const auto add = [&](int kernel, std::vector<std::pair<int, int>> tiles_used) {
    const int task = static_cast<int>(times.size());
    times.emplace_back();
    for (const double time : kTimes[kernel])
      times.back().push_back(time * (1 + noise * (2 * rng.uniform() - 1)));
    for (const auto& [i, j] : tiles_used)
      if (writer[i][j] >= 0) edges.emplace_back(writer[i][j], task);
    writer[tiles_used.back().first][tiles_used.back().second] = task;
  };
  for (int k = 0; k < tiles; ++k) {
    add(0, {{k, k}});
    for (int i = k + 1; i < tiles; ++i) add(1, {{k, k}, {i, k}});
    for (int i = k + 1; i < tiles; ++i) {
      add(2, {{i, k}, {i, i}});
      for (int j = k + 1; j < i; ++j) add(3, {{i, k}, {j, k}, {i, j}});
    }
  }
  return make(times, edges, std::move(units));
}

/// Fork-join of the paper: p phases of `width` tasks, CPU times N(p, p/4), acceleration
/// U[0.1, 0.5] for 5% of a phase, else U[0.5, 50].
inline Instance fork_join(int phases, int width, std::vector<int> units, std::uint64_t seed) {
  Rng rng(seed);
  const auto normal = [&] {
    for (;;) {
      const double z =
          std::sqrt(-2 * std::log(1 - rng.uniform())) * std::cos(6.283185307179586 * rng.uniform());
      if (const double time = phases + z * phases / 4.0; time > 0) return time;
    }
  };
  std::vector<std::vector<double>> times;
  std::vector<Edge> edges;
  const auto add = [&](double low, double high) {
    const double time = normal();
    times.push_back({time, time / (low + (high - low) * rng.uniform())});
    return static_cast<int>(times.size()) - 1;
  };
  int join = add(0.5, 50);
  for (int phase = 0; phase < phases; ++phase) {
    std::vector<int> parallel;
    for (int k = 0; k < width; ++k)
      parallel.push_back(k < width / 20 ? add(0.1, 0.5) : add(0.5, 50));
    const int fork = join;
    join = add(0.5, 50);
    for (const int task : parallel) {
      edges.emplace_back(fork, task);
      edges.emplace_back(task, join);
    }
  }
  return make(times, edges, std::move(units));
}

/// Theorem 1: HEFT is (m/k)(1 - (m/(m+k))^m) on it, the optimum at most km/(m+k).
inline Instance theorem1(int m, int k) {
  std::vector<std::vector<double>> times;
  const double r = static_cast<double>(m) / (m + k);
  const double gpu = k / (static_cast<double>(m) * m) * std::pow(r, m);
  for (int i = 1; i <= m; ++i) {
    for (int a = 0; a < k; ++a) times.push_back({std::pow(r, i), std::pow(r, i)});
    for (int b = 0; b < m; ++b) times.push_back({std::pow(r, i), gpu});
  }
  return make(times, {}, {m, k});
}

/// Theorem 2 (m = k): task 0 = A, then B1, then B2.
inline Instance theorem2(int m) {
  const int b = 2 * m + 1;
  std::vector<std::vector<double>> times{{m * b / (m - 1.0), kInfinity}};
  std::vector<Edge> edges;
  for (int i = 0; i < b; ++i) times.push_back({2 * m - 1.0, 1});
  for (int i = 0; i < b; ++i) times.push_back({1, 2 * m - 1.0});
  for (int i = 1; i <= b; ++i)
    for (int j = b + 1; j <= 2 * b; ++j) edges.emplace_back(i, j);
  return make(times, edges, {m, m});
}

/// Theorem 4: ER-LS makes m sqrt(m) of it, the optimum is m sqrt(k).
inline Instance theorem4(int m, int k) {
  std::vector<std::vector<double>> times;
  std::vector<Edge> edges;
  for (int a = 0; a < k; ++a) times.push_back({std::sqrt(m), std::sqrt(m)});
  for (int b = 0; b < m; ++b) {
    times.push_back({std::sqrt(m), std::sqrt(k)});
    if (b > 0) edges.emplace_back(k + b - 1, k + b);
  }
  return make(times, edges, {m, k});
}

}  // namespace cosched::dags::graphs
