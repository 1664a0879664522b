#include "cosched/slurm/limits/test_counts.hpp"

namespace cosched::slurm {
namespace {

// A limit of 0 is none.
bool is_reached(int count, int limit) { return limit != 0 && count >= limit; }

}  // namespace

TestCounts::TestCounts(const Scenario& scenario)
    : test_limits_(scenario.settings().backfill.limits),
      count_by_partition_(scenario.machine().partitions.size()) {
  int user_count = 0;
  for (const Job& job : scenario.jobs()) user_count = std::max(user_count, job.user + 1);
  count_by_user_.resize(static_cast<std::size_t>(user_count));
  count_by_pair_.resize(count_by_user_.size() * count_by_partition_.size());
}

void TestCounts::begin_cycle() {
  for (std::vector<int>* counts : {&count_by_user_, &count_by_partition_, &count_by_pair_})
    std::fill(counts->begin(), counts->end(), 0);
}

bool TestCounts::can_test(const Job& job, int partition) const {
  return !is_reached(count_by_pair_[pair_index(job, partition)], test_limits_.user_and_partition) &&
         !is_reached(count_by_partition_[partition], test_limits_.partition) &&
         !is_reached(count_by_user_[job.user], test_limits_.user);
}

bool TestCounts::try_count_against_bf_max_job_limits(const Job& job, int partition) {
  if (!can_test(job, partition)) return false;
  ++count_by_pair_[pair_index(job, partition)];
  ++count_by_partition_[partition];
  ++count_by_user_[job.user];
  return true;
}

}  // namespace cosched::slurm
