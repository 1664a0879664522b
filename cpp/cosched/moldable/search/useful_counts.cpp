#include "cosched/moldable/search/useful_counts.hpp"

#include "cosched/core/interrupt.hpp"

namespace cosched::moldable::search {

std::vector<std::vector<int>> useful_counts(const Instance& instance,
                                            const UsefulCountParams& params) {
  std::vector<std::vector<int>> counts(instance.jobs());
  const int max_count = instance.useful_machines();
  constexpr std::int64_t kPollStepsPerCount = 20;  // a nanosecond each
  Poll poll;
  for (int i = 0; i < instance.jobs(); ++i) {
    int count = instance.fewest_procs(i);
    while (count > 0) {
      counts[i].push_back(count);
      poll.count(kPollStepsPerCount);
      const bool leaves_none_out = max_count <= params.all_machines || count < params.all_counts;
      const int slower_count =
          leaves_none_out ? count : static_cast<int>(count * params.count_ratio);
      if (slower_count > max_count) break;
      count = instance.next_faster_procs(i, slower_count);
    }
    const int fastest = instance.gamma(i, instance.least_time(i));
    if (counts[i].back() < fastest) counts[i].push_back(fastest);
  }
  return counts;
}

}  // namespace cosched::moldable::search
