#include "cosched/slurm/select/will_run_cache.hpp"

#include <gtest/gtest.h>

#include "cosched/slurm/select/candidates.hpp"
#include "cosched/slurm/select/node_choice.hpp"
#include "cosched/slurm/select/select.hpp"
#include "support/show_on_failure.hpp"
#include "support/slurm_scenarios.hpp"

namespace cosched::slurm {
namespace {

using Parameters = std::map<std::string, double>;

constexpr int kAnswerNodes = 9, kJobs = 60;

// Of a few shapes, in one of two partitions.
Job random_job(Rng& rng, bool shared) {
  Job job = plain_job(0, static_cast<int>(rng.between(1, 3)), 60 * rng.between(1, 5), 10,
                      static_cast<int>(rng.below(2)));
  if (!shared) return job;
  job.cpus = job.request.tasks = static_cast<int>(rng.between(1, 2)) * job.nodes;
  job.request.memory = rng.between(0, 2) * 20;
  job.request.gpus = rng.below(3) == 0 ? 1 : 0;
  job.request.max_nodes = rng.below(2) == 0 ? job.nodes : kAnyNodes;
  return job;
}

Scenario random_scenario(Rng& rng, bool shared, const Parameters& parameters) {
  Machine machine = tiers_of(std::vector<int>(kAnswerNodes, 4), {1, 2});
  machine.node_memory.assign(kAnswerNodes, 100);
  machine.node_gpus = {{0, 0, 0, 2, 2, 1, 0, 0, 2}};
  machine.node_weight = {1, 1, 1, 2, 2, 2, 1, 1, 1};
  if (!shared) machine = plain_machine(kAnswerNodes);
  machine.partitions.resize(2, machine.partitions[0]);
  std::vector<Job> jobs;
  for (int job = 0; job < kJobs; ++job) jobs.push_back(random_job(rng, shared));
  return scenario_of(machine, jobs, parameters);
}

// The same questions to one that remembers what it answered and to one that does not, while jobs
// start and end.
struct Both {
  Both(const Scenario& of, Rng& chance)
      : scenario(of),
        rng(chance),
        allocations(scenario),
        remembers(scenario, allocations, 7),
        forgets(scenario, allocations, 7, false) {
    for (NodeBits& set : sets) set = some_nodes(rng, kAnswerNodes);
  }

  const NodeBits& nodes() {
    return rng.below(2) ? sets[static_cast<std::size_t>(rng.below(3))] : allocations.up_nodes();
  }
  QueueEntry entry() {
    const int job = static_cast<int>(rng.below(kJobs));
    return {job, scenario.job(job).partition};
  }

  void ask() {
    const QueueEntry tried = entry();
    const NodeBits& on = nodes();
    const Second from = now + (rng.below(2) ? 0 : 60 * rng.between(0, 3));
    const Select::StartWindow time{now, rng.below(4) == 0, from,
                                   rng.below(2) ? kNever : from + 60 * rng.between(0, 3)};
    const auto first = remembers.will_run(tried, on, time),
               second = forgets.will_run(tried, on, time);
    ASSERT_EQ(first.has_value(), second.has_value());
    if (!first) return;
    EXPECT_EQ(first->begin, second->begin);
    EXPECT_EQ(first->nodes->to_list(), second->nodes->to_list());
    EXPECT_EQ(remembers.could_run(tried, on), forgets.could_run(tried, on));
  }

  void start() {
    const QueueEntry tried = entry();
    if (allocations.has_started(tried.job)) return;
    const NodeBits& on = nodes();
    const Loan<NodeChoice> first = remembers.select_now(tried, on),
                           second = forgets.select_now(tried, on);
    ASSERT_EQ(static_cast<bool>(first), static_cast<bool>(second));
    if (!first) return;
    EXPECT_EQ(first->nodes.to_list(), second->nodes.to_list());
    allocations.start(tried.job, *first, now);
  }

  void end() {
    if (allocations.running_jobs().empty()) return;
    const auto index = rng.below(allocations.running_jobs().size());
    const int job = allocations.running_jobs()[index];
    allocations.end(job, now);
    if (rng.below(2)) allocations.complete_epilog(job);
  }

  void step() {
    now += rng.below(8) ? 0 : static_cast<Second>(rng.below(40));
    switch (rng.below(12)) {
      case 0:
        return start();
      case 1:
        return end();
      default:
        return ask();
    }
  }

  const Scenario& scenario;
  Rng& rng;
  Allocations allocations;
  Select remembers, forgets;
  NodeBits sets[3];
  Second now = 0;
};

TEST(SlurmWillRunCache, AreWhatATestWouldSay) {
  Rng rng(3);
  const std::vector<std::pair<bool, Parameters>> kinds{
      {true, {{"cons_tres", 1}}},
      {true, {{"cons_tres", 1}, {"since_24", 1}}},
      {true, {{"cons_tres", 1}, {"PreemptType", 1}, {"PreemptMode", 3}}},
      {false, {{"cons_tres", 1}}},
      {false, {{"cons_tres", 1}, {"since_24", 1}}},
      {false, {}}};
  for (int round = 0; round < 30; ++round)
    for (const auto& [shared, parameters] : kinds) {
      SHOW_ON_FAILURE(round);
      SHOW_ON_FAILURE(parameters);
      const Scenario scenario = random_scenario(rng, shared, parameters);
      Both both(scenario, rng);
      for (int step = 0; step < 300; ++step) both.step();
    }
}

TEST(SlurmWillRunCache, HoldWhileNothingStartsOrEnds) {
  WillRunCache answers(nodes_from(1, 4, 4));
  const NodeBits nodes = nodes_from(0, 3, 4);
  const Weights weights{1, 2, 3, 4}, others{1, 3, 2, 4};  // node 3 is none of the question's
  const WillRunCache::Question question{0, 0, false, false, 0, 0, nodes};
  WillRunCache::Answer& fresh = answers.find(question, 1, weights);
  EXPECT_TRUE(fresh.empty());
  answers.store(fresh, 5, nodes, others);
  EXPECT_EQ(WillRunCache::preceding_job(answers.find(question, 1, weights)), 5);
  EXPECT_TRUE(answers.find(question, 1, others).empty());
  Weights loaded_weights = weights;
  NodeBits loaded_nodes(4);
  answers.load(answers.find(question, 1, loaded_weights), loaded_nodes, loaded_weights);
  EXPECT_EQ(loaded_weights, others);
  EXPECT_EQ(loaded_nodes, nodes);
  EXPECT_TRUE(answers.find({1, 0, false, false, 0, 0, nodes}, 1, weights).empty());
  EXPECT_TRUE(answers.find(question, 2, weights).empty());
}

}  // namespace
}  // namespace cosched::slurm
