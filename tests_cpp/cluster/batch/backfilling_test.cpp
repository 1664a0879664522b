#include "cosched/cluster/batch/backfilling.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "cosched/cluster/check/validate_trace.hpp"
#include "cosched/core/errors.hpp"
#include "cosched/core/numeric.hpp"
#include "support/cluster_instances.hpp"
#include "support/show_cluster.hpp"

namespace cosched::cluster::batch {
namespace {

using testing::random_jobs;
using testing::StreamShape;

// The textbook, with everything recomputed at every instant.
struct Textbook {
  const Instance& instance;
  bool backfill, requested;
  std::vector<double> start, end;
  std::vector<int> queue, running;
  std::size_t submitted = 0;

  const Jobs& jobs() const { return instance.jobs(); }
  double estimate(int j) const { return requested ? jobs().estimate[j] : jobs().runtime[j]; }
  int free_nodes() const {
    int free = instance.nodes();
    for (const int j : running) free -= jobs().tasks[j];
    return free;
  }
  void begin(int j, double now) {
    start[j] = now;
    end[j] = now + jobs().runtime[j];
    running.push_back(j);
  }
  void pass(double now) {
    while (!queue.empty() && jobs().tasks[queue[0]] <= free_nodes()) {
      begin(queue[0], now);
      queue.erase(queue.begin());
    }
    if (!backfill || queue.empty()) return;
    std::map<double, int> releases;  // expected end -> nodes
    for (const int j : running) releases[std::max(now, start[j] + estimate(j))] += jobs().tasks[j];
    int free_then = free_nodes();  // expected at the shadow time
    double shadow = now;
    for (const auto& [time, nodes] : releases) {
      if (free_then >= jobs().tasks[queue[0]]) break;
      free_then += nodes;
      shadow = time;
    }
    int extra = free_then - jobs().tasks[queue[0]];
    for (std::size_t k = 1; k < queue.size();) {
      const int j = queue[k];
      const bool in_time = estimate(j) < kInfinity && now + estimate(j) <= shadow;
      if (jobs().tasks[j] > free_nodes() || !(in_time || jobs().tasks[j] <= extra)) {
        ++k;
        continue;
      }
      if (!in_time) extra -= jobs().tasks[j];
      begin(j, now);
      queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(k));
    }
  }
  void run() {
    start.assign(instance.size(), -1);
    end = start;
    for (;;) {
      double now = kInfinity;
      for (const int j : running) now = std::min(now, end[j]);
      if (submitted < instance.order().size())
        now = std::min(now, jobs().submit[instance.order()[submitted]]);
      if (now == kInfinity) return;
      running.erase(
          std::remove_if(running.begin(), running.end(), [&](int j) { return end[j] <= now; }),
          running.end());
      for (;
           submitted < instance.order().size() && jobs().submit[instance.order()[submitted]] <= now;
           ++submitted)
        queue.push_back(instance.order()[submitted]);
      pass(now);
    }
  }
};

void expect_textbook(const Instance& instance) {
  Textbook fcfs_book{instance, false, false, {}, {}, {}, {}};
  fcfs_book.run();
  const SimulationOutcome outcome = fcfs(instance);
  EXPECT_EQ(outcome.start, fcfs_book.start);
  EXPECT_EQ(outcome.end, fcfs_book.end);
  for (const bool requested : {false, true}) {
    Textbook easy_book{instance, true, requested, {}, {}, {}, {}};
    easy_book.run();
    const SimulationOutcome easy_outcome =
        easy(instance, requested ? Estimates::requested : Estimates::perfect);
    EXPECT_EQ(easy_outcome.start, easy_book.start) << requested;
    check::validate_trace(instance, batch_trace(instance, easy_outcome), easy_outcome, {0, true});
  }
}

TEST(Batch, EqualsTheTextbookOnRandomStreams) {
  Rng rng(1);
  for (int round = 0; round < 300; ++round) {
    StreamShape shape;
    shape.jobs = 1 + static_cast<int>(rng.below(60));
    shape.nodes = 1 + static_cast<int>(rng.below(10));
    shape.mean_gap = static_cast<double>(rng.below(300));
    shape.unsorted = rng.below(4) == 0;
    const Instance instance(random_jobs(rng, shape), shape.nodes);
    SHOW_ON_FAILURE(instance);
    expect_textbook(instance);
  }
}

TEST(Batch, EqualsTheTextbookWithLongQueues) {
  Rng rng(2);
  StreamShape shape;
  shape.jobs = 600;
  shape.mean_gap = 10;
  const Instance instance(random_jobs(rng, shape), shape.nodes);
  SHOW_ON_FAILURE(instance);
  expect_textbook(instance);
}

TEST(Batch, EqualsTheTextbookWithJobsThatHaveNoLimit) {
  Rng rng(3);
  for (int round = 0; round < 300; ++round) {
    StreamShape shape;
    shape.jobs = 1 + static_cast<int>(rng.below(40));
    shape.nodes = 1 + static_cast<int>(rng.below(6));
    shape.mean_gap = static_cast<double>(rng.below(60));
    Jobs jobs = random_jobs(rng, shape);
    jobs.estimate = jobs.runtime;
    for (double& estimate : jobs.estimate)
      if (rng.below(3) == 0) estimate = kInfinity;
    const Instance instance(std::move(jobs), shape.nodes);
    SHOW_ON_FAILURE(instance);
    expect_textbook(instance);
  }
}

// 4 nodes; A runs on 3 until 100; B needs 4: reserved for 100.
Instance reservation_instance(Jobs additional_jobs) {
  Jobs jobs{.submit = {0, 1},
            .tasks = {3, 4},
            .cpu = {1, 1},
            .memory = {1, 1},
            .runtime = {100, 50},
            .estimate = {}};
  for (int j = 0; j < additional_jobs.size(); ++j) {
    jobs.submit.push_back(additional_jobs.submit[j]);
    jobs.tasks.push_back(additional_jobs.tasks[j]);
    jobs.cpu.push_back(1);
    jobs.memory.push_back(1);
    jobs.runtime.push_back(additional_jobs.runtime[j]);
  }
  return Instance(std::move(jobs), 4);
}

TEST(Easy, BackfillsWhatEndsAtTheShadowTimeButNotAfter) {
  const Instance instance = reservation_instance({{10, 10}, {1, 1}, {}, {}, {91, 90}, {}});
  const SimulationOutcome outcome = easy(instance);
  EXPECT_EQ(outcome.start, (std::vector<double>{0, 100, 150, 10}));
  EXPECT_EQ(fcfs(instance).start, (std::vector<double>{0, 100, 150, 150}));
}

TEST(Easy, ExtraNodesAreUsedUp) {
  // 6 nodes: A on 4 until 100, B needs 5, so one node is extra at 100.
  Jobs jobs{.submit = {0, 1, 2, 3},
            .tasks = {4, 5, 1, 1},
            .cpu = {1, 1, 1, 1},
            .memory = {1, 1, 1, 1},
            .runtime = {100, 50, 500, 500},
            .estimate = {}};
  const SimulationOutcome outcome = easy(Instance(jobs, 6));
  EXPECT_EQ(outcome.start, (std::vector<double>{0, 100, 2, 150}));
}

TEST(Easy, AJobThatOutlivesItsEstimateIsExpectedToEndNow) {
  // A's estimate runs out at 50: from then on B's reservation is "now", and C (est. 30)
  // would delay it; before, at 10, C fits before 50.
  Jobs jobs{.submit = {0, 1, 60},
            .tasks = {3, 4, 1},
            .cpu = {1, 1, 1},
            .memory = {1, 1, 1},
            .runtime = {100, 50, 30},
            .estimate = {50, 50, 30}};
  EXPECT_EQ(easy(Instance(jobs, 4), Estimates::requested).start,
            (std::vector<double>{0, 100, 150}));
  jobs.submit[2] = 10;
  EXPECT_EQ(easy(Instance(jobs, 4), Estimates::requested).start, (std::vector<double>{0, 100, 10}));
}

TEST(Easy, AJobWithoutALimitIsNeverInTime) {
  // A runs on 3 of 4 nodes without a limit; B needs 4 and C 1: C would keep B waiting for good.
  const double no_limit = kInfinity;
  Jobs jobs{.submit = {0, 0, 0, 5},
            .tasks = {3, 4, 1, 1},
            .cpu = {1, 1, 1, 1},
            .memory = {1, 1, 1, 1},
            .runtime = {100, 50, 30, 30},
            .estimate = {no_limit, 50, no_limit, 30}};
  const SimulationOutcome outcome = easy(Instance(jobs, 4), Estimates::requested);
  EXPECT_EQ(outcome.start, (std::vector<double>{0, 100, 150, 5}));
  DecisionLog log;
  easy(Instance(jobs, 4), Estimates::requested, &log);
  const auto row = std::find_if(log.begin(), log.end(), [](const Decision& decision) {
    return decision.reason == Reason::backfill_in_time;
  });
  EXPECT_EQ(explain(*row, jobs),
            "backfilled: ends, and job 1 waits for a job without a time limit");
}

TEST(Easy, NeedsEstimatesAndJobsThatFit) {
  const Instance instance = reservation_instance({});
  EXPECT_THROW(easy(instance, Estimates::requested), InvalidInstance);
  Jobs wide{.submit = {0}, .tasks = {5}, .cpu = {1}, .memory = {1}, .runtime = {1}, .estimate = {}};
  EXPECT_THROW(fcfs(Instance(wide, 4)), InfeasibleError);
  EXPECT_THROW(easy(Instance(wide, 4)), InfeasibleError);
}

TEST(Batch, TheLogSaysWhy) {
  DecisionLog log;
  easy(reservation_instance({{10, 10}, {1, 1}, {}, {}, {91, 90}, {}}), Estimates::perfect, &log);
  std::vector<std::pair<int, Reason>> starts;
  for (const Decision& row : log)
    if (row.action == JobAction::start) starts.emplace_back(row.job, row.reason);
  EXPECT_EQ(starts, (std::vector<std::pair<int, Reason>>{{0, Reason::head_of_queue},
                                                         {3, Reason::backfill_in_time},
                                                         {1, Reason::head_of_queue},
                                                         {2, Reason::head_of_queue}}));
  log.clear();
  easy(reservation_instance({{10}, {1}, {}, {}, {91}, {}}), Estimates::perfect, &log);
  const auto waits = std::find_if(log.begin(), log.end(), [](const Decision& row) {
    return row.action == JobAction::wait && row.job == 2;
  });
  ASSERT_NE(waits, log.end());
  EXPECT_EQ(waits->reason, Reason::reservation);
  EXPECT_EQ(waits->other, 1);
  EXPECT_EQ(waits->value, 100);
  for (const Decision& row : log) EXPECT_FALSE(explain(row, Jobs{}).empty());
  log.clear();
  fcfs(reservation_instance({}), &log);
  EXPECT_EQ(log.size(), 5u);  // start, wait, finish, start, finish
  log.clear();
  fcfs(reservation_instance({{10}, {1}, {}, {}, {91}, {}}), &log);
  const auto behind = std::find_if(log.begin(), log.end(), [](const Decision& row) {
    return row.action == JobAction::wait && row.job == 2;
  });
  ASSERT_NE(behind, log.end());
  EXPECT_EQ(behind->reason, Reason::behind_queue);
}

TEST(Batch, UnderutilisationOfAHandExample) {
  // 4 nodes, A on 3 in [0,100), B on 4 in [100,150), submitted at 1: demand is 7 > 4 nodes in
  // [1,100), so one node is wasted for 99 s; work is 300 + 200.
  const Instance instance = reservation_instance({});
  EXPECT_NEAR(underutilisation(instance, easy(instance)), 99.0 / 500, 1e-12);
}

}  // namespace
}  // namespace cosched::cluster::batch
