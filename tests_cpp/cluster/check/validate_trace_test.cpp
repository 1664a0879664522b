#include "cosched/cluster/check/validate_trace.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "cosched/core/errors.hpp"

namespace cosched::cluster::check {
namespace {

// One node.  Job 0 runs alone, is paused for job 1, resumes with a penalty of 20 s.
Instance instance() {
  return Instance(Jobs{.submit = {0, 10},
                       .tasks = {1, 1},
                       .cpu = {1, 0.5},
                       .memory = {0.6, 0.6},
                       .runtime = {30, 20},
                       .estimate = {}},
                  2);
}

struct TracedRun {
  Trace trace;
  SimulationOutcome outcome{2};
  TracedRun() {
    const int node = trace.add_mapping({0});
    trace.add(0, node, 0, 10, 1, 1, RowCause::start);
    trace.add(1, node, 10, 30, 1, 1, RowCause::start);
    trace.add(0, node, 30, 50, 1, 0, RowCause::resume);
    trace.add(0, node, 50, 70, 1, 1, RowCause::go_on);
    outcome.start = {0, 10};
    outcome.end = {70, 30};
    outcome.preemptions = {1, 0};
  }
};

std::string breach(const std::function<void(TracedRun&)>& spoil, bool exclusive = false) {
  TracedRun run;
  spoil(run);
  try {
    validate_trace(instance(), run.trace, run.outcome, {20, exclusive});
  } catch (const InvalidSchedule& error) {
    return error.what();
  }
  return "valid";
}

void expect_breach(const std::function<void(TracedRun&)>& spoil, const std::string& text) {
  const std::string message = breach(spoil);
  EXPECT_NE(message.find(text), std::string::npos) << message;
}

TEST(ValidateTrace, AcceptsARightTrace) {
  EXPECT_EQ(breach([](TracedRun&) {}), "valid");
  EXPECT_EQ(breach([](TracedRun&) {}, true), "valid");
}

TEST(ValidateTrace, NamesTheBreach) {
  expect_breach([](TracedRun& s) { s.outcome.migrations.pop_back(); }, "another number of jobs");
  expect_breach([](TracedRun& s) { s.trace.job[0] = 5; }, "job 5: there are 2");
  expect_breach([](TracedRun& s) { s.trace.mapping[0] = 3; }, "unknown mapping");
  expect_breach([](TracedRun& s) { s.trace.node[0] = 2; }, "uses node 2 of 2");
  expect_breach(
      [](TracedRun& s) {
        s.trace.mapping[0] = s.trace.add_mapping({0, 1});
      },
      "2 nodes for 1 tasks");
  expect_breach([](TracedRun& s) { s.trace.end[0] = -1; }, "ends at -1");
  expect_breach([](TracedRun& s) { s.trace.yield[0] = 1.1; }, "yield 1.1");
  expect_breach([](TracedRun& s) { s.trace.start[1] = 5; }, "before its submission");
  expect_breach([](TracedRun& s) { s.trace.start[2] = 9; }, "begins while it runs already");
  expect_breach([](TracedRun& s) { s.trace.cause[2] = RowCause::go_on; }, "follows a gap");
  expect_breach([](TracedRun& s) { s.trace.cause[3] = RowCause::move; }, "move to the same nodes");
  expect_breach([](TracedRun& s) { s.trace.mapping[3] = s.trace.add_mapping({1}); },
                "is on other nodes");
  expect_breach([](TracedRun& s) { s.trace.cause[3] = RowCause::start; }, "second start");
  expect_breach([](TracedRun& s) { s.trace.progress[2] = 1; }, "has progress 1: expected 0");
  expect_breach([](TracedRun& s) { s.trace.end[3] = 71; }, "gets 31 s of its 30 s");
  expect_breach([](TracedRun& s) { s.outcome.end[0] = 71; }, "ends at 70 s, not at 71");
  expect_breach([](TracedRun& s) { s.outcome.start[1] = 11; }, "starts at 10 s, not at 11");
  expect_breach([](TracedRun& s) { s.outcome.migrations[1] = 1; }, "reported are 0 and 1");
  expect_breach(
      [](TracedRun& s) {
        s.trace.job.pop_back();
        s.trace.end[2] = 80;
      },
      "goes on after its penalty");
}

TEST(ValidateTrace, SeesOverusedNodes) {
  // Both jobs at once on one node: memory 1.2.
  const auto together = [](double cpu, double memory, bool exclusive) {
    const Instance jobs(Jobs{.submit = {0, 0},
                             .tasks = {1, 1},
                             .cpu = {cpu, cpu},
                             .memory = {memory, memory},
                             .runtime = {10, 10},
                             .estimate = {}},
                        1);
    Trace trace;
    const int node = trace.add_mapping({0});
    for (const int job : {0, 1}) trace.add(job, node, 0, 10, 1, 1, RowCause::start);
    SimulationOutcome outcome(2);
    outcome.end = {10, 10};
    try {
      validate_trace(jobs, trace, outcome, {0, exclusive});
    } catch (const InvalidSchedule& error) {
      return std::string(error.what());
    }
    return std::string("valid");
  };
  EXPECT_NE(together(0.5, 0.6, false).find("memory 1.2"), std::string::npos);
  EXPECT_NE(together(0.6, 0.5, false).find("CPU shares of 1.2"), std::string::npos);
  EXPECT_EQ(together(0.5, 0.5, false), "valid");
  EXPECT_NE(together(0.5, 0.5, true).find("2 tasks"), std::string::npos);
}

TEST(ValidateTrace, AJobThatNeverRunsIsMissed) {
  Trace trace;
  trace.add(0, trace.add_mapping({0}), 0, 30, 1, 1, RowCause::start);
  SimulationOutcome outcome(2);
  outcome.end = {30, 0};
  EXPECT_THROW(validate_trace(instance(), trace, outcome, {}), InvalidSchedule);
}

}  // namespace
}  // namespace cosched::cluster::check
