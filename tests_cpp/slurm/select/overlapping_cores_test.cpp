#include "cosched/slurm/select/overlapping_cores.hpp"

#include <gtest/gtest.h>

#include "cosched/slurm/select/candidates.hpp"
#include "cosched/slurm/select/core_map.hpp"
#include "cosched/slurm/select/free_resources.hpp"
#include "cosched/slurm/select/gang.hpp"
#include "cosched/slurm/select/node_choice.hpp"
#include "support/slurm_scenarios.hpp"

namespace cosched::slurm {
namespace {

// A job of the partition holds cores [first, last) of two nodes of four.
struct AllocatedCores {
  int partition, first, last;
};

// Where jobs hold these cores, another job looks for some.
class Looking {
 public:
  Looking(Machine machine, const Job& job, const std::vector<AllocatedCores>& allocated)
      : scenario_(suspending(std::move(machine), {of_last(job, 0)})), map_(scenario_) {
    for (const auto& [partition, first, last] : allocated) {
      map_.allocate(partition, nodes_from(first, last, 8));
      for (int core = first; core < last; ++core) busy_.push_back({core / 4, 1, memory});
    }
  }
  // The cores that it finds; none: too few.
  Nodes find(int part) {
    FreeResources free(scenario_.machine());
    free.allocate({busy_, {}});
    NodeChoice choice(2);
    Weights weights(2);
    OverlappingCores overlap(scenario_);
    const bool is_enough =
        overlap.choose({0, part}, nodes_from(0, 2, 2), free, map_, weights, choice);
    if (is_enough) {
      EXPECT_EQ(choice.partition, part);
      EXPECT_EQ(choice.nodes.to_list().size(), choice.shares.nodes.size());
    }
    return is_enough ? choice.cores.to_list() : Nodes{};
  }

  std::int64_t memory = 0;

 private:
  static Job of_last(Job job, int part) {
    job.partition = part;
    return job;
  }
  Scenario scenario_;
  CoreMap map_;
  std::vector<Share> busy_;
};

const std::vector<int> two_nodes{4, 4};

TEST(SlurmOverlap, IdleCoresFirst) {
  Looking looking(
      tiers_of(two_nodes, {1, 2}), shared_job(2),
      {{.partition = 0, .first = 0, .last = 3}, {.partition = 1, .first = 4, .last = 5}});
  EXPECT_EQ(looking.find(1), (Nodes{5, 6}));
}

TEST(SlurmOverlap, ElseThoseOfLowerTiers) {
  const std::vector<AllocatedCores> allocated{{.partition = 0, .first = 0, .last = 4},
                                              {.partition = 1, .first = 4, .last = 6}};
  EXPECT_EQ(Looking(tiers_of(two_nodes, {1, 2}), shared_job(5), allocated).find(1),
            (Nodes{0, 1, 2, 3, 6}));
  EXPECT_EQ(Looking(tiers_of(two_nodes, {1, 2}), shared_job(7), allocated).find(1), Nodes{});
  EXPECT_EQ(Looking(tiers_of(two_nodes, {1, 2}), shared_job(3), allocated).find(0), Nodes{});
  EXPECT_EQ(Looking(tiers_of(two_nodes, {1, 1}), shared_job(3), allocated).find(1), Nodes{});
}

TEST(SlurmOverlap, NotThoseOfPartitionsThatAreOff) {
  Machine machine = tiers_of(two_nodes, {1, 1, 2});
  machine.partitions[0].preempt_mode = 0;
  EXPECT_EQ(
      Looking(machine, shared_job(4),
              {{.partition = 0, .first = 0, .last = 4}, {.partition = 1, .first = 4, .last = 8}})
          .find(2),
      (Nodes{4, 5, 6, 7}));
  EXPECT_EQ(
      Looking(machine, shared_job(5),
              {{.partition = 0, .first = 0, .last = 4}, {.partition = 1, .first = 4, .last = 8}})
          .find(2),
      Nodes{});
}

TEST(SlurmOverlap, FewPartitionsLoseCoresTheLowestFirst) {
  // As the lowest has too few, the middle one is spared alone.
  const Machine machine = tiers_of(two_nodes, {2, 1, 3});
  EXPECT_EQ(
      Looking(machine, shared_job(4),
              {{.partition = 0, .first = 0, .last = 4}, {.partition = 1, .first = 4, .last = 8}})
          .find(2),
      (Nodes{4, 5, 6, 7}));
  EXPECT_EQ(
      Looking(machine, shared_job(4),
              {{.partition = 1, .first = 0, .last = 4}, {.partition = 0, .first = 4, .last = 8}})
          .find(2),
      (Nodes{0, 1, 2, 3}));
  EXPECT_EQ(
      Looking(machine, shared_job(5),
              {{.partition = 0, .first = 0, .last = 4}, {.partition = 1, .first = 4, .last = 8}})
          .find(2),
      (Nodes{0, 1, 2, 3, 4}));
}

TEST(SlurmOverlap, MemoryHasToBeFree) {
  Machine machine = tiers_of(two_nodes, {1, 2});
  machine.node_memory = {100, 100};
  Job job = shared_job(2);
  job.request.memory = 60;
  const auto looking = [&](std::int64_t each) {
    Machine smaller = machine;
    smaller.node_memory = {100 - 4 * each, 100 - 4 * each};
    return Looking(
               smaller, job,
               {{.partition = 0, .first = 0, .last = 4}, {.partition = 0, .first = 4, .last = 8}})
        .find(1);
  };
  EXPECT_EQ(looking(10), (Nodes{0, 1}));
  EXPECT_EQ(looking(11), Nodes{});
}

TEST(SlurmOverlap, WholeNodesSuspendNobody) {
  Job job = shared_job(4);
  job.request.is_exclusive = true;
  const Machine machine = tiers_of(two_nodes, {1, 2});
  EXPECT_EQ(Looking(machine, job, {{.partition = 0, .first = 0, .last = 1}}).find(1),
            (Nodes{4, 5, 6, 7}));
  EXPECT_EQ(
      Looking(machine, job,
              {{.partition = 0, .first = 0, .last = 1}, {.partition = 0, .first = 4, .last = 5}})
          .find(1),
      Nodes{});
}

}  // namespace
}  // namespace cosched::slurm
