// Random job streams, and a plain MCB8, for the tests and benchmarks of cluster.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "cosched/cluster/model/instance.hpp"
#include "cosched/core/rng.hpp"

namespace cosched::cluster::testing {

inline Instance one_node_jobs(std::vector<std::pair<double, double>> submit_runtime, int nodes = 1,
                              double cpu = 1, double memory = 1) {
  Jobs jobs;
  for (const auto& [submit, runtime] : submit_runtime) {
    jobs.submit.push_back(submit);
    jobs.tasks.push_back(1);
    jobs.cpu.push_back(cpu);
    jobs.memory.push_back(memory);
    jobs.runtime.push_back(runtime);
  }
  return Instance(std::move(jobs), nodes);
}

struct StreamShape {
  int jobs = 40;
  int nodes = 6;
  double mean_gap = 100;      // between submissions; many gaps are 0
  double mean_runtime = 400;  // a few run times are 0
  bool unsorted = false;
};

/// Integer times, so that many things happen at once; cpu in {0.25, 0.5, 1}, memory tenths.
inline Jobs random_jobs(Rng& rng, const StreamShape& shape = {}) {
  Jobs jobs;
  double now = 0;
  for (int j = 0; j < shape.jobs; ++j) {
    if (rng.below(3) > 0)
      now += static_cast<double>(rng.below(static_cast<std::uint64_t>(3 * shape.mean_gap) + 1));
    const bool wide = rng.below(3) == 0;
    jobs.submit.push_back(now);
    jobs.tasks.push_back(1 + static_cast<int>(wide ? rng.below(shape.nodes) : rng.below(2)));
    const double cpus[] = {0.25, 0.5, 1};
    jobs.cpu.push_back(cpus[rng.below(3)]);
    jobs.memory.push_back(0.1 * static_cast<double>(rng.between(1, rng.below(4) == 0 ? 10 : 4)));
    const bool brief = rng.below(4) == 0;
    const double longest = brief ? 20 : 2 * shape.mean_runtime;
    jobs.runtime.push_back(static_cast<double>(rng.below(static_cast<std::uint64_t>(longest))));
    // Under- and overestimates.
    jobs.estimate.push_back(
        static_cast<double>(rng.below(2 * static_cast<std::uint64_t>(longest))));
  }
  if (shape.unsorted) {
    std::vector<int> order(jobs.size());
    for (int j = 0; j < jobs.size(); ++j) order[j] = j;
    rng.shuffle(order);
    Jobs mixed = jobs;
    for (int j = 0; j < jobs.size(); ++j) mixed.submit[j] = jobs.submit[order[j]];
    jobs = mixed;
  }
  for (int& tasks : jobs.tasks) tasks = std::min(tasks, shape.nodes);
  return jobs;
}

/// MCB8 as one first writes it from section 4.3: two vectors of tasks, sorted in each call,
/// scanned from the front for the first that fits, which is erased.  Node lists by item, or
/// nothing if some task finds no node.
inline std::vector<std::vector<int>> plain_mcb8(const std::vector<int>& tasks,
                                                const std::vector<double>& cpu,
                                                const std::vector<double>& memory, int nodes,
                                                std::vector<std::vector<int>> placed = {}) {
  const int n = static_cast<int>(tasks.size());
  placed.resize(n);
  std::vector<double> cpu_load(nodes, 0.0), memory_load(nodes, 0.0);
  std::vector<int> lists[2];  // items, one entry a task: CPU-heavy, memory-heavy
  for (int i = 0; i < n; ++i) {
    for (const int node : placed[i]) {
      cpu_load[node] += cpu[i];
      memory_load[node] += memory[i];
    }
    if (!placed[i].empty()) continue;
    auto& list = lists[cpu[i] > memory[i] ? 0 : 1];
    list.insert(list.end(), tasks[i], i);
  }
  for (const double load : cpu_load)
    if (load > 1 + 1e-12) return {};
  for (auto& list : lists)
    std::stable_sort(list.begin(), list.end(), [&](int a, int b) {
      return std::max(cpu[a], memory[a]) > std::max(cpu[b], memory[b]);
    });
  for (int node = 0; node < nodes; ++node) {
    for (bool has_next_pass = true; has_next_pass;) {
      has_next_pass = false;
      const int first = cpu_load[node] <= memory_load[node] ? 0 : 1;
      for (const int which : {first, 1 - first}) {
        auto& list = lists[which];
        const auto at = std::find_if(list.begin(), list.end(), [&](int i) {
          return cpu_load[node] + cpu[i] <= 1 + 1e-12 && memory_load[node] + memory[i] <= 1 + 1e-12;
        });
        if (at == list.end()) continue;
        placed[*at].push_back(node);
        cpu_load[node] += cpu[*at];
        memory_load[node] += memory[*at];
        list.erase(at);
        has_next_pass = true;
        break;
      }
    }
  }
  if (!lists[0].empty() || !lists[1].empty()) return {};
  return placed;
}

}  // namespace cosched::cluster::testing
