#include "cosched/slurm/state/journal.hpp"

#include <gtest/gtest.h>

#include "support/slurm_scenarios.hpp"

namespace cosched::slurm {
namespace {

constexpr RecordOptions kReasons{.with_reasons = true};
constexpr RecordOptions kPlans{.with_plans = true};

// Three jobs of a minute on two nodes of two cores, and what they have.
struct JournalSite {
  Scenario scenario = scenario_of(shared_machine({2, 2}), std::vector<Job>(3, shared_job(2, 60)));
  Allocations allocations{scenario};

  void start(Journal& journal, int job, const NodeChoice& choice, double time,
             Scheduler scheduler) {
    allocations.start(job, choice, to_second(time));
    journal.note_start({job, 0}, time, scheduler, allocations);
  }
};

std::vector<Action> actions_of(const Outcome& outcome) {
  std::vector<Action> actions;
  for (const DecisionNote& note : outcome.notes) actions.push_back(note.action);
  return actions;
}

LimitRule rule_of(Limit::Kind kind) {
  return {.limit = {.kind = kind, .tres = kNode, .value = 1}, .is_of_qos = true, .counter = 0};
}

TEST(SlurmJournal, AStartHasItsInstantItsSecondAndItsNodes) {
  JournalSite site;
  Journal journal(3, {});
  site.start(journal, 1, shares_from({{0, 1}, {1, 2}}, 2), 5.75, Scheduler::backfill);
  const Outcome outcome = std::move(journal).outcome();
  EXPECT_EQ(outcome.start_exact[1], 5.75);
  EXPECT_EQ(outcome.start[1], 5);
  EXPECT_EQ(outcome.nodes[1], (Nodes{0, 1}));
  EXPECT_EQ(outcome.cores[1], (Nodes{1, 2}));
  EXPECT_EQ(outcome.scheduler[1], static_cast<int>(Scheduler::backfill));
  EXPECT_TRUE(std::isnan(outcome.start[0]));
  EXPECT_TRUE(outcome.notes.empty());
}

TEST(SlurmJournal, AReasonForAStartSaysWhoAndUntilWhen) {
  JournalSite site;
  Journal journal(3, kReasons);
  site.start(journal, 0, shares_from({{0, 2}}, 2), 5.75, Scheduler::main);
  const Outcome outcome = std::move(journal).outcome();
  ASSERT_EQ(outcome.notes.size(), 1U);
  EXPECT_EQ(outcome.notes[0].action, Action::start_main);
  EXPECT_EQ(outcome.notes[0].start, 5);
  EXPECT_EQ(outcome.notes[0].end, 65);
}

TEST(SlurmJournal, ARequeuedJobHasNoStartAndNoPause) {
  JournalSite site;
  Journal journal(3, {});
  site.start(journal, 0, shares_from({{0, 1}}, 2), 5, Scheduler::main);
  site.start(journal, 1, shares_from({{1, 1}}, 2), 5, Scheduler::main);
  journal.note_switch(0, 10, true);
  journal.note_switch(1, 11, true);
  journal.note_end(0, 20, true);
  journal.note_requeue(0);
  const Outcome outcome = std::move(journal).outcome();
  EXPECT_EQ(outcome.restarts, (std::vector<int>{1, 0, 0}));
  EXPECT_TRUE(std::isnan(outcome.start[0]));
  EXPECT_TRUE(std::isnan(outcome.end_exact[0]));
  EXPECT_TRUE(outcome.nodes[0].empty());
  ASSERT_EQ(outcome.pauses.size(), 1U);
  EXPECT_EQ(outcome.pauses[0].job, 1);
}

TEST(SlurmJournal, AResumedJobEndsItsLastPause) {
  Journal journal(3, kReasons);
  journal.note_switch(0, 10, true);
  journal.note_switch(1, 11, true);
  journal.note_switch(0, 12.5, false);
  journal.note_switch(0, 20, true);
  journal.note_switch(0, 25, false);
  const Outcome outcome = std::move(journal).outcome();
  ASSERT_EQ(outcome.pauses.size(), 3U);
  EXPECT_EQ(outcome.pauses[0].end, 12.5);
  EXPECT_TRUE(std::isnan(outcome.pauses[1].end));
  EXPECT_EQ(outcome.pauses[2].end, 25);
  EXPECT_EQ(actions_of(outcome),
            (std::vector<Action>{Action::suspend, Action::suspend, Action::resume, Action::suspend,
                                 Action::resume}));
}

TEST(SlurmJournal, AnEndSaysWhetherTheJobWasKilled) {
  Journal journal(2, kReasons);
  journal.note_end(0, 9.5, false);
  journal.note_end(1, 9.5, true);
  const Outcome outcome = std::move(journal).outcome();
  EXPECT_EQ(outcome.end[0], 9);
  EXPECT_EQ(outcome.end_exact[0], 9.5);
  EXPECT_EQ(outcome.is_killed, (std::vector<int>{0, 1}));
  EXPECT_EQ(actions_of(outcome), (std::vector<Action>{Action::finish, Action::timeout}));
}

TEST(SlurmJournal, EqualReasonsThatFollowEachOtherAreNotedOnce) {
  Journal journal(2, kReasons);
  journal.note_wait(0, 1, Action::wait_resources);
  journal.note_wait(0, 2, Action::wait_resources);
  journal.note_wait(1, 2, Action::wait_resources);  // another job
  journal.note_wait(0, 3, Action::wait_priority);
  journal.note_wait(0, 4, Action::wait_resources);
  const Outcome outcome = std::move(journal).outcome();
  EXPECT_EQ(actions_of(outcome),
            (std::vector<Action>{Action::wait_resources, Action::wait_resources,
                                 Action::wait_priority, Action::wait_resources}));
}

TEST(SlurmJournal, APlanIsAReasonWhenItsBeginChanges) {
  Journal journal(1, kReasons);
  const NodeBits nodes = nodes_from(0, 1, 2);
  journal.note_plan({0, 0}, 1, 100, 160, nodes);
  journal.note_plan({0, 0}, 2, 100, 160, nodes);
  journal.note_plan({0, 0}, 3, 90, 150, nodes);
  const Outcome outcome = std::move(journal).outcome();
  ASSERT_EQ(outcome.notes.size(), 2U);
  EXPECT_EQ(outcome.notes[0].start, 100);
  EXPECT_EQ(outcome.notes[1].start, 90);
  EXPECT_TRUE(outcome.notes[1].nodes.empty());
}

TEST(SlurmJournal, PlansAreNotedInEachCycleWithTheirNodes) {
  Journal journal(1, kPlans);
  journal.note_plan({0, 0}, 1, 100, 160, nodes_from(0, 1, 2));
  journal.note_plan({0, 0}, 2, 100, 160, nodes_from(1, 2, 2));
  journal.note_wait(0, 3, Action::wait_resources);  // a reason, which nobody asked for
  const Outcome outcome = std::move(journal).outcome();
  ASSERT_EQ(outcome.notes.size(), 2U);
  EXPECT_EQ(outcome.notes[0].nodes, Nodes{0});
  EXPECT_EQ(outcome.notes[1].nodes, Nodes{1});
  EXPECT_EQ(outcome.notes[1].partition, 0);
  EXPECT_EQ(outcome.notes[1].end, 160);
}

TEST(SlurmJournal, AnotherLimitIsAnotherReason) {
  Journal journal(1, kReasons);
  journal.note_limit(0, 1, rule_of(Limit::Kind::user));
  journal.note_limit(0, 2, rule_of(Limit::Kind::user));
  journal.note_limit(0, 3, rule_of(Limit::Kind::job));
  const Outcome outcome = std::move(journal).outcome();
  ASSERT_EQ(outcome.notes.size(), 2U);
  EXPECT_EQ(outcome.notes[0].limit, "QOSMaxNodePerUserLimit");
  EXPECT_EQ(outcome.notes[1].limit, "QOSMaxNodePerJobLimit");
}

TEST(SlurmJournal, JobsThatALimitKeptToTheEndAreListedWithTheLastOne) {
  JournalSite site;
  Journal journal(3, {});
  journal.note_limit(0, 1, rule_of(Limit::Kind::user));
  journal.note_limit(1, 1, rule_of(Limit::Kind::user));
  journal.note_limit(1, 2, rule_of(Limit::Kind::job));
  site.start(journal, 0, shares_from({{0, 1}}, 2), 5, Scheduler::main);
  const Outcome outcome = std::move(journal).outcome();
  ASSERT_EQ(outcome.blocked_by_limit.size(), 1U);
  EXPECT_EQ(outcome.blocked_by_limit[0].first, 1);
  EXPECT_EQ(outcome.blocked_by_limit[0].second, "QOSMaxNodePerJobLimit");
}

}  // namespace
}  // namespace cosched::slurm
