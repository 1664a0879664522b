#include "cosched/slurm/plan/cycle_tracer.hpp"

#include <gtest/gtest.h>

#include "cosched/slurm/plan/backfill_cycle.hpp"
#include "cosched/slurm/select/select.hpp"
#include "cosched/slurm/trace/trace_recorder.hpp"
#include "support/slurm_scenarios.hpp"

namespace cosched::slurm {
namespace {

// One cycle at second 10 of a machine where job 0 runs from second 0 on the lowest nodes.
class TracedCycle {
 public:
  TracedCycle(Machine machine, std::vector<Job> jobs,
              const std::map<std::string, double>& parameters = {})
      : scenario_(std::move(machine), std::move(jobs), to_settings(parameters)),
        controller_(scenario_, -60, {}),
        select_(scenario_, controller_.allocations(), 0),
        cycle_(clocks_, controller_, select_, &recorder_) {
    const int nodes = scenario_.machine().nodes;
    controller_.start({0, 0}, choice_from(0, scenario_.job(0).nodes, nodes), 0, Scheduler::main);
    for (int job = 1; job < static_cast<int>(scenario_.jobs().size()); ++job)
      controller_.submit(job, 0);
    cycle_.run(10);
  }
  const CycleTrace& trace() const { return recorder_.cycles().back(); }

 private:
  Scenario scenario_;
  Clocks clocks_;
  ControllerState controller_;
  Select select_;
  TraceRecorder recorder_{TraceSelection{}};
  BackfillCycle cycle_;
};

Nodes list_of(const NodeBits& nodes) { return nodes.to_list(); }

TEST(SlurmCycleTracer, WritesTheQueueTheTestsAndTheNodeSpaceOfACycle) {
  // Job 0 has three of four nodes until 300; job 1 wants all four, 2 would run past its begin, 3
  // ends before it.
  const TracedCycle cycle(plain_machine(4), {plain_job(0, 3, 300), plain_job(0, 4, 100),
                                             plain_job(0, 1, 400), plain_job(0, 1, 200)});
  const CycleTrace& trace = cycle.trace();
  EXPECT_EQ(trace.number, 1);
  EXPECT_EQ(trace.begin_time, 10);
  EXPECT_EQ(trace.window_end, 86400);
  EXPECT_EQ(trace.end, CycleEnd::end_of_queue);
  EXPECT_EQ(trace.job_test_count, 3);
  ASSERT_EQ(trace.queue.size(), 3u);
  EXPECT_EQ(trace.queue[0].job, 1);
  EXPECT_EQ(trace.queue[2].job, 3);
  ASSERT_EQ(trace.jobs.size(), 3u);

  const TracedJob& first = trace.jobs[0];
  EXPECT_EQ(first.verdict, Verdict::reserved);
  EXPECT_EQ(first.begin, 300);
  EXPECT_EQ(first.end, 360);
  ASSERT_EQ(first.tests.size(), 1u);
  EXPECT_EQ(first.tests[0].from, 10);
  EXPECT_EQ(first.tests[0].later_start, kNever);
  EXPECT_EQ(list_of(first.tests[0].avail_nodes), (Nodes{0, 1, 2, 3}));
  EXPECT_EQ(first.tests[0].begin, 300);
  EXPECT_EQ(list_of(first.tests[0].select_nodes), (Nodes{0, 1, 2, 3}));

  // From now on no node is left to job 2 for 400 s: it is tested again from the reservation's end.
  const TracedJob& second = trace.jobs[1];
  ASSERT_EQ(second.tests.size(), 2u);
  EXPECT_EQ(second.tests[0].next, NextTest::at_later_start);
  EXPECT_EQ(second.tests[0].later_start, 360);
  EXPECT_EQ(second.tests[0].begin, kNever);
  EXPECT_EQ(second.tests[1].from, 360);
  EXPECT_EQ(second.tests[1].next, NextTest::none);
  EXPECT_EQ(second.verdict, Verdict::reserved);
  EXPECT_EQ(second.begin, 360);
  EXPECT_EQ(list_of(second.nodes), (Nodes{3}));

  const TracedJob& third = trace.jobs[2];
  EXPECT_EQ(third.verdict, Verdict::started);
  EXPECT_EQ(third.started_job, 3);
  EXPECT_EQ(third.begin, 10);
  EXPECT_EQ(third.end, 210);
  EXPECT_EQ(list_of(third.nodes), (Nodes{3}));

  ASSERT_EQ(trace.node_space.size(), 4u);
  EXPECT_EQ(trace.node_space[0].begin, 0);
  EXPECT_EQ(trace.node_space[1].begin, 300);
  EXPECT_EQ(trace.node_space[1].end, 360);
  EXPECT_EQ(list_of(trace.node_space[1].nodes), Nodes{});
  EXPECT_EQ(list_of(trace.node_space[2].nodes), (Nodes{0, 1, 2}));
  EXPECT_EQ(trace.node_space[3].end, 86400);
}

TEST(SlurmCycleTracer, SaysWhyAJobHasNoReservationAndWhyTheCycleEnds) {
  // Job 1 would begin after the window; the cycle ends before job 3.
  const TracedCycle cycle(
      plain_machine(4),
      {plain_job(0, 3, 300), plain_job(0, 4, 100), plain_job(0, 1, 60), plain_job(0, 1, 60)},
      {{"bf_window", 240}, {"bf_max_job_test", 2}});
  const CycleTrace& trace = cycle.trace();
  ASSERT_EQ(trace.jobs.size(), 2u);
  EXPECT_EQ(trace.jobs[0].verdict, Verdict::after_window);
  EXPECT_EQ(trace.jobs[1].verdict, Verdict::started);
  EXPECT_EQ(trace.end, CycleEnd::max_job_test);
}

TEST(SlurmCycleTracer, KeepsNothingWithoutASink) {
  CycleTracer tracer(nullptr);
  tracer.begin_cycle(1, 0);
  EXPECT_FALSE(tracer.is_on());
  tracer.begin_job({0, 0, 1.0}, 0);
  tracer.end_cycle(CycleEnd::end_of_queue, 1, 0, {});
}

}  // namespace
}  // namespace cosched::slurm
