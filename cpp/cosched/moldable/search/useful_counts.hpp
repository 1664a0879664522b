// The counts of each job that a search tries.
#pragma once

#include "cosched/moldable/model/instance.hpp"

namespace cosched::moldable::search {

struct UsefulCountParams {
  /// On so many machines or fewer no count is left out, nor any count below `all_counts`.
  int all_machines = 64, all_counts = 16;
  /// Larger counts are at least this factor apart.
  double count_ratio = 1.1;
};

/// For each job, by increasing count: the counts on which it is faster than on all smaller ones;
/// where there are many machines the larger of them some ten percent apart.  Never empty.
std::vector<std::vector<int>> useful_counts(const Instance& instance,
                                            const UsefulCountParams& params = {});

}  // namespace cosched::moldable::search
