// The least weighted completion of jobs that may start within windows, by exhaustive search.
#pragma once

#include <algorithm>
#include <vector>

#include "cosched/core/numeric.hpp"
#include "cosched/moldable/search/patterns.hpp"
#include "cosched/moldable/search/time_prices.hpp"

namespace cosched::moldable::testing {

/// The least sum w C of the jobs of `rest` in every order on every count, each as early as the one
/// before it, its window and processors that become free at these times let it; infinite where
/// there is none.
inline double exhaustive_within(const Instance& instance,
                                const std::vector<std::vector<Choice>>& choices,
                                const search::StartWindows& windows, search::JobSet rest,
                                const std::vector<double>& free) {
  if (rest == 0) return 0;
  double best = kInfinity;
  for (int job = 0; job < instance.jobs(); ++job)
    if (rest >> job & 1)
      for (const Choice& choice : choices[job]) {
        std::vector<double> later = free;
        const double start = std::max(windows.first[job], later[choice.procs - 1]);
        if (start > windows.last[job]) continue;
        const double end = start + choice.time;
        for (double& time : later) time = std::max(time, start);
        std::fill_n(later.begin(), choice.procs, end);
        std::sort(later.begin(), later.end());
        best = std::min(best, instance.weight(job) * end +
                                  exhaustive_within(instance, choices, windows,
                                                    rest & ~(search::JobSet{1} << job), later));
      }
  return best;
}

}  // namespace cosched::moldable::testing
