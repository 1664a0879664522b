#include "cosched/slurm/limits/limits.hpp"

#include <algorithm>

namespace cosched::slurm {

TestCounts::TestCounts(const Scenario& scenario)
    : limits_(scenario.settings().backfill.limits), by_part_(scenario.machine().parts.size()) {
  int users = 0;
  for (const Job& job : scenario.jobs()) users = std::max(users, job.user + 1);
  by_user_.resize(static_cast<std::size_t>(users));
  by_both_.resize(by_user_.size() * by_part_.size());
}

void TestCounts::reset() {
  for (auto* counts : {&by_user_, &by_part_, &by_both_})
    std::fill(counts->begin(), counts->end(), 0);
}

bool TestCounts::admits(const Job& job, int part) const {
  const auto partition = static_cast<std::size_t>(part);
  const auto user = static_cast<std::size_t>(job.user);
  const int both = by_both_[user * by_part_.size() + partition];
  const auto reached = [](int count, int limit) { return limit != 0 && count >= limit; };
  return !reached(both, limits_.user_and_partition) &&
         !reached(by_part_[partition], limits_.partition) && !reached(by_user_[user], limits_.user);
}

bool TestCounts::admit(const Job& job, int part) {
  if (!admits(job, part)) return false;
  const auto partition = static_cast<std::size_t>(part);
  const auto user = static_cast<std::size_t>(job.user);
  ++by_both_[user * by_part_.size() + partition], ++by_part_[partition], ++by_user_[user];
  return true;
}

}  // namespace cosched::slurm
