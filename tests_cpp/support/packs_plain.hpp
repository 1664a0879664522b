// The paper's algorithms of packs, written down plainly: what tests compare with and benchmarks
// measure against.  They share no code with the library.
#pragma once

#include <algorithm>
#include <numeric>
#include <queue>
#include <vector>

#include "cosched/packs/model/bounds.hpp"
#include "cosched/packs/model/coschedule.hpp"
#include "cosched/packs/model/instance.hpp"
#include "cosched/packs/model/measures.hpp"

namespace cosched::packs::testing {

/// Algorithm 4.2 with a priority queue: the longest task is popped and pushed again.
inline std::vector<int> one_pack_by_queue(const Times& times, const std::vector<int>& tasks,
                                          int procs) {
  struct Entry {
    double time;
    int task, place;
    bool operator<(const Entry& other) const {
      return time < other.time || (time == other.time && task > other.task);
    }
  };
  std::priority_queue<Entry> queue;
  std::vector<int> sigma(tasks.size(), 1);
  for (std::size_t k = 0; k < tasks.size(); ++k)
    queue.push({times(tasks[k], 1), tasks[k], static_cast<int>(k)});
  for (int idle_procs = procs - static_cast<int>(tasks.size()); idle_procs > 0; --idle_procs) {
    Entry longest = queue.top();
    queue.pop();
    longest.time = times(longest.task, ++sigma[longest.place]);
    queue.push(longest);
  }
  return sigma;
}

/// Least q with t_i(q) <= length, p + 1 when there is none.
inline int need(const Times& times, int task, double length) {
  const double* row = times.row(task);
  return static_cast<int>(std::partition_point(row, row + times.procs(),
                                               [length](double t) { return t > length; }) -
                          row) +
         1;
}

/// The same optimum by selection: bisection on the length over the doubles themselves, with the
/// least processors of every task by bisection on its row.
inline std::vector<int> one_pack_by_selection(const Times& times, const std::vector<int>& tasks,
                                              int procs) {
  const auto fits = [&](double length) {
    std::int64_t asked = 0;
    for (const int i : tasks) {
      const int q = need(times, i, length);
      if (q > procs) return false;
      asked += q;
    }
    return asked <= procs;
  };
  double low = 0, high = 0;
  for (const int i : tasks) high = std::max(high, times(i, 1));
  for (double middle = high / 2; low < middle && middle < high; middle = low + (high - low) / 2)
    (fits(middle) ? high : low) = middle;
  std::vector<int> sigma;
  for (const int i : tasks) sigma.push_back(need(times, i, high));
  return sigma;
}

/// pack-by-pack(epsilon) as section 5 has it: the whole list and V anew at every step.
inline Packs plain_pack_by_pack(const Instance& instance, double epsilon) {
  const Times& times = instance.times();
  std::vector<int> sigma(instance.tasks()), list(instance.tasks());
  for (int i = 0; i < instance.tasks(); ++i) sigma[i] = times.fewest(i);
  std::iota(list.begin(), list.end(), 0);
  Packs packs;
  while (!list.empty()) {
    std::stable_sort(list.begin(), list.end(), [&](int i, int j) {
      const double a = times(i, sigma[i]), b = times(j, sigma[j]);
      return a > b || (a == b && i < j);
    });
    const double threshold = (1 - epsilon) * times(list[0], sigma[list[0]]);
    std::size_t close = 0;
    long long asked = 0;
    for (; close < list.size() && times(list[close], sigma[list[close]]) >= threshold; ++close)
      asked += sigma[list[close]];
    if (asked < instance.procs()) {
      ++sigma[list[0]];
      continue;
    }
    std::vector<int> pack;
    int free = instance.procs();
    for (std::size_t v = 0; v < close && static_cast<int>(pack.size()) < instance.max_tasks() &&
                            sigma[list[v]] <= free;
         ++v) {
      pack.push_back(list[v]);
      free -= sigma[list[v]];
    }
    list.erase(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(pack.size()));
    packs.push_back(pack);
  }
  return packs;
}

/// The best over `epsilons`, every pack on its optimal processors by one_pack_by_queue.
inline Coschedule plain_pack_by_pack(const Instance& instance,
                                     const std::vector<double>& epsilons) {
  Coschedule best;
  for (const double epsilon : epsilons) {
    const Packs packs = plain_pack_by_pack(instance, epsilon);
    std::vector<int> procs(instance.tasks());
    for (const std::vector<int>& pack : packs) {
      const std::vector<int> sigma = one_pack_by_queue(instance.times(), pack, instance.procs());
      for (std::size_t k = 0; k < pack.size(); ++k)
        procs[pack[k]] = instance.times().used(pack[k], sigma[k]);
    }
    Coschedule coschedule = with_procs(instance, packs, procs);
    if (best.pack_of.empty() || coschedule.cost < best.cost) best = std::move(coschedule);
  }
  return best;
}

}  // namespace cosched::packs::testing
