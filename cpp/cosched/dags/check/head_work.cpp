#include "cosched/dags/check/head_work.hpp"

namespace cosched::dags::check {

double completion_time(std::vector<HeadWork> work, int units) {
  std::sort(work.begin(), work.end(),
            [](const HeadWork& a, const HeadWork& b) { return a.head > b.head; });
  double sum = 0, completion = 0;
  for (const auto& [head, time] : work) {
    sum += time / units;
    completion = std::max(completion, head + sum);
  }
  return completion;
}

}  // namespace cosched::dags::check
