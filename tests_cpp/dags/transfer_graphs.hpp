// Instances with transfers, and their optimum by complete enumeration.
#pragma once

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "cosched/core/numeric.hpp"
#include "cosched/core/rng.hpp"
#include "cosched/dags/model/instance.hpp"
#include "cosched/dags/model/paths.hpp"
#include "cosched/dags/model/plan.hpp"
#include "cosched/dags/model/time_grain.hpp"
#include "dags/graphs.hpp"

namespace cosched::dags::graphs {

/// The same tasks with data[k] bytes on the k-th edge, by (predecessor, successor).
inline Instance with_transfers(const Instance& plain, const std::vector<double>& data,
                               Links links) {
  std::vector<Edge> edges;
  for (int task = 0; task < plain.tasks(); ++task)
    for (const int next : plain.graph().successors(task)) edges.emplace_back(task, next);
  return {plain.times(), plain.graph(), plain.units(),
          Transfers(plain.graph(), plain.units(), edges, data, std::move(links))};
}

/// Random data on a random graph: some edges without, mean cost about `ccr` x mean time, matrices
/// that need not be symmetric, any of the memories.
inline Instance with_random_transfers(Rng& rng, const Instance& plain, double ccr) {
  const int types = plain.types();
  double sum = 0;
  int count = 0;
  for (const double time : plain.times())
    if (time < kInfinity) {
      sum += time;
      ++count;
    }
  const double mean = sum / count;
  std::vector<double> data;
  for (int edge = 0; edge < plain.graph().edges(); ++edge)
    data.push_back(rng.uniform() < 0.15 ? 0 : 2 * mean * ccr * rng.uniform());
  Links links{.bandwidth = Table(types, types, 1), .latency = Table(types, types), .memories = {}};
  for (int q = 0; q < types; ++q)
    for (int r = 0; r < types; ++r) {
      links.bandwidth(q, r) = 0.5 + 1.5 * rng.uniform();
      if (rng.below(3) == 0) links.latency(q, r) = 0.2 * mean * ccr * rng.uniform();
    }
  const std::uint64_t kind = rng.below(3);
  links.memories.kind = kind == 0   ? Memories::MemoryKind::host
                        : kind == 1 ? Memories::MemoryKind::unit
                                    : Memories::MemoryKind::listed;
  if (kind == 2)
    for (const int units : plain.units())
      for (int unit = 0; unit < units; ++unit)
        links.memories.memory_of_unit.push_back(static_cast<int>(rng.below(3)));
  return with_transfers(plain, data, std::move(links));
}

/// Every order of starts on every unit: some optimal schedule starts its tasks one by one, each as
/// soon as its data is there and its unit is idle.  Units that nothing tells apart are tried once.
inline double exhaustive(const Instance& instance) {
  struct Unit {
    Place place;
    std::int64_t memory;
    double idle = 0;
    bool used = false;
  };
  const Transfers& transfers = instance.transfers();
  std::vector<Unit> units;
  for (int type = 0; type < instance.types(); ++type)
    for (int unit = 0; unit < instance.units(type); ++unit)
      units.push_back({{type, unit}, transfers.has_data() ? transfers.memory({type, unit}) : 0});
  std::vector<std::vector<int>> edge_in(instance.tasks());
  int edge = 0;
  std::vector<double> least_times(instance.tasks(), kInfinity);
  for (int task = 0; task < instance.tasks(); ++task) {
    for (const int next : instance.graph().successors(task)) edge_in[next].push_back(edge++);
    for (int type = 0; type < instance.types(); ++type)
      least_times[task] = std::min(least_times[task], instance.time(task, type));
  }
  const std::vector<double> rank = compute_ranks(instance.graph(), least_times);
  double best = kInfinity;
  std::vector<double> ends(instance.tasks(), 0.0);
  std::vector<int> on(instance.tasks(), -1);
  const std::function<void(int, double, double)> search = [&](int placed, double last,
                                                              double end_of_all) {
    if (placed == instance.tasks()) best = std::min(best, end_of_all);
    for (int task = 0; task < instance.tasks(); ++task) {
      if (on[task] >= 0) continue;
      const auto before = instance.graph().predecessors(task);
      if (std::any_of(before.begin(), before.end(), [&](int i) { return on[i] < 0; })) continue;
      if (last + rank[task] >= best) return;  // it starts no earlier than the last
      for (std::size_t u = 0; u < units.size(); ++u) {
        if (!instance.can_run(task, units[u].place.type)) continue;
        const bool same = std::any_of(units.begin(), units.begin() + u, [&](const Unit& other) {
          return other.place.type == units[u].place.type &&
                 (other.memory == units[u].memory
                      ? other.idle <= units[u].idle
                      : !other.used && !units[u].used &&
                            transfers.links().memories.kind != Memories::MemoryKind::listed);
        });
        if (same) continue;
        double start = units[u].idle;
        for (int k = 0; k < before.size(); ++k) {
          const int i = before.first[k];
          const double cost =
              transfers.has_data()
                  ? transfers.cost(edge_in[task][k], units[on[i]].place, units[u].place)
                  : 0;
          start = std::max(start, ends[i] + cost);
        }
        if (start < last || start + rank[task] >= best) continue;
        const Unit saved = units[u];
        const double end = start + instance.time(task, units[u].place.type);
        units[u].idle = end;
        units[u].used = true;
        ends[task] = end;
        on[task] = static_cast<int>(u);
        search(placed + 1, start, std::max(end_of_all, end));
        on[task] = -1;
        units[u] = saved;
      }
    }
  };
  search(0, 0, 0);
  return best;
}

}  // namespace cosched::dags::graphs
