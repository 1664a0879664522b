#include "cosched/slurm/select/end_batches.hpp"

#include <gtest/gtest.h>

#include "support/show_on_failure.hpp"
#include "support/slurm_scenarios.hpp"

namespace cosched::slurm {
namespace {

TEST(SlurmEndBatches, JobsThatHaveANodeThereEachOnceInOrderOfTheirEnds) {
  Rng rng(5);
  constexpr int kMachine = 150, kRunning = 200;  // three words of nodes, four of jobs
  for (int round = 0; round < 30; ++round) {
    SHOW_ON_FAILURE(round);
    std::vector<Job> jobs;
    for (int job = 0; job < kRunning; ++job) jobs.push_back(plain_job(0, 1, rng.between(1, 900)));
    const Scenario scenario = scenario_of(plain_machine(kMachine), jobs);
    Allocations allocations(scenario);
    for (int job = 0; job < kRunning; ++job) {
      const auto first = static_cast<int>(rng.below(kMachine));
      const int most_jobs = rng.below(3) ? 1 : kMachine - first;
      const int count = static_cast<int>(rng.between(1, most_jobs));
      allocations.start(job, choice_from(first, first + count, kMachine), 0);
    }
    RunningByEnd order;
    order.refresh(allocations);
    const auto node = static_cast<int>(rng.below(kMachine - 5));
    const NodeBits avail = nodes_from(node, node + 5, kMachine);
    const Second from = rng.between(0, 400);
    const Second later = rng.below(2) ? kNever : rng.between(400, 900);
    Nodes before;
    Nodes then;
    Nodes ended;
    for (const int job : allocations.running_jobs())
      if (allocations.nodes(job).intersects(avail) && allocations.expected_end(job) <= later)
        (allocations.expected_end(job) < from ? before : then).push_back(job);
    const auto note = [&](const RunningByEnd::RunningJob& ending) { ended.push_back(ending.job); };
    EndBatches batches(order, avail, {.from = from, .later_start = later});
    batches.for_each_ended(note);
    EXPECT_EQ(ended, before);
    ended.clear();
    while (batches.next_batch(note) >= 0) continue;
    EXPECT_EQ(ended, then);
  }
}

}  // namespace
}  // namespace cosched::slurm
