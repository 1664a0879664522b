#include "cosched/cluster/bound/stretch_bound.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "cosched/cluster/batch/backfilling.hpp"
#include "cosched/cluster/dfrs/dfrs.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/lp/glpk.hpp"
#include "support/cluster_instances.hpp"
#include "support/show_cluster.hpp"

namespace cosched::cluster::bound {
namespace {

using testing::one_node_jobs;
using testing::random_jobs;
using testing::StreamShape;

// Linear System (1) of the paper at a given S, with an overload z of the capacity: S is
// feasible iff the least z is at most 1.
double least_overload(const Instance& instance, double stretch) {
  const Jobs& jobs = instance.jobs();
  std::set<double> points;
  std::vector<double> deadline;
  for (int j = 0; j < instance.size(); ++j) {
    deadline.push_back(jobs.submit[j] + stretch * std::max(jobs.runtime[j], 10.0));
    points.insert(jobs.submit[j]);
    points.insert(deadline[j]);
  }
  const std::vector<double> border(points.begin(), points.end());
  lp::Model model;
  const int overload = model.add_column(1);
  for (int j = 0; j < instance.size(); ++j)
    model.add_row(jobs.runtime[j], jobs.runtime[j]);  // (1a), in seconds
  for (std::size_t t = 0; t + 1 < border.size(); ++t) {
    const double length = border[t + 1] - border[t];
    const int row = model.add_row(-kInfinity, 0);  // (1e)
    model.add_entry(row, overload, -instance.nodes() * length);
    for (int j = 0; j < instance.size(); ++j) {
      if (jobs.submit[j] > border[t] || deadline[j] < border[t + 1]) continue;  // (1b), (1c)
      const int column = model.add_column(0, 0, length);                        // (1d)
      model.add_entry(j, column, 1);
      model.add_entry(row, column, jobs.cpu[j] * jobs.tasks[j]);
    }
  }
  const auto solution = lp::solve_glpk(model);
  EXPECT_EQ(solution.status, lp::Status::optimal);
  return solution.objective;
}

TEST(StretchBound, HandExamples) {
  EXPECT_DOUBLE_EQ(max_stretch_bound(one_node_jobs({{0, 100}})).value, 1);
  // Two jobs of 100 s at once on one node: the second ends at 200.  With fractional sharing
  // both could end at 200, but one at 100 and one at 200 is no better: S = 2.
  EXPECT_NEAR(max_stretch_bound(one_node_jobs({{0, 100}, {0, 100}})).value, 2, 1e-9);
  // A short job at 50 must be let through: the long one ends at 120.
  EXPECT_NEAR(max_stretch_bound(one_node_jobs({{0, 100}, {50, 20}})).value, 1.2, 1e-9);
  // Short jobs count as 10 s: 1 s of work does not hurt until 10 of them pile up.
  EXPECT_NEAR(max_stretch_bound(one_node_jobs({{0, 5}, {0, 5}, {0, 5}})).value, 1.5, 1e-9);
  EXPECT_DOUBLE_EQ(max_stretch_bound(one_node_jobs({{0, 5}, {0, 5}})).value, 1);
  EXPECT_DOUBLE_EQ(max_stretch_bound(one_node_jobs({{0, 0}, {3, 0}})).value, 1);
  // All together need no more than 1.0055, the short ones what they do.
  const Instance with_long(Jobs{.submit = {2, 0, 0},
                                .tasks = {1, 1, 1},
                                .cpu = {1, 0.5, 1},
                                .memory = {1, 1, 1},
                                .runtime = {3381, 25, 8},
                                .estimate = {}},
                           1);
  EXPECT_NEAR(max_stretch_bound(with_long).value, 41.0 / 35, 1e-9);
  // A job wider than the machine cannot run at full speed.
  EXPECT_NEAR(max_stretch_bound(Instance(Jobs{.submit = {0},
                                              .tasks = {6},
                                              .cpu = {1},
                                              .memory = {0.1},
                                              .runtime = {100},
                                              .estimate = {}},
                                         4))
                  .value,
              1.5, 1e-9);
}

TEST(StretchBound, IsTheLeastFeasibleStretchOfTheLp) {
  Rng rng(10);
  int rounds_above_one = 0;
  for (int round = 0; round < 150; ++round) {
    SHOW_ON_FAILURE(round);
    StreamShape shape;
    shape.jobs = 2 + static_cast<int>(rng.below(20));
    shape.nodes = 1 + static_cast<int>(rng.below(4));
    shape.mean_gap = static_cast<double>(1 + rng.below(200));
    Jobs jobs = random_jobs(rng, shape);
    jobs.tasks[0] = rng.below(3) ? 1 : 2 * shape.nodes;  // wider than the machine at times
    jobs.runtime[0] *= rng.below(2) ? 1 : 30;            // of some, the work alone counts
    const Instance instance(jobs, shape.nodes);
    SHOW_ON_FAILURE(instance);
    const double bound = max_stretch_bound(instance).value;
    EXPECT_LE(least_overload(instance, bound * (1 + 1e-7)), 1 + 1e-9) << "infeasible above it";
    if (bound > 1 + 1e-6) {
      ++rounds_above_one;
      EXPECT_GT(least_overload(instance, bound * (1 - 1e-6)), 1 + 1e-12) << "feasible below it";
    }
  }
  EXPECT_GT(rounds_above_one, 75);
}

TEST(StretchBound, NoScheduleBeatsIt) {
  Rng rng(12);
  for (int round = 0; round < 30; ++round) {
    SHOW_ON_FAILURE(round);
    StreamShape shape;
    shape.jobs = 60;
    shape.mean_gap = static_cast<double>(20 + rng.below(150));
    const Instance instance(random_jobs(rng, shape), shape.nodes);
    SHOW_ON_FAILURE(instance);
    const double bound = max_stretch_bound(instance).value;
    const auto max_stretch = [&](const SimulationOutcome& outcome) {
      const std::vector<double> job_stretches = stretches(instance, outcome.end);
      return *std::max_element(job_stretches.begin(), job_stretches.end());
    };
    EXPECT_GE(max_stretch(batch::easy(instance)), bound * (1 - 1e-9));
    dfrs::SimulationOptions free_moves;
    free_moves.penalty = 0;
    for (const char* name : {"GreedyPM */per/opt=min", "MCB8 */opt=min", "/stretch-per/opt=max"})
      EXPECT_GE(max_stretch(dfrs::run_dfrs(instance, *dfrs::parse_policy_name(name), free_moves)),
                bound * (1 - 1e-9))
          << name;
  }
}

TEST(StretchBound, ScalesWithTimeAndMachine) {
  Rng rng(13);
  StreamShape shape;
  shape.jobs = 200;
  shape.mean_gap = 40;
  Jobs jobs = random_jobs(rng, shape);
  for (double& runtime : jobs.runtime) runtime += 10;  // so that scaling is exact
  const Instance instance(jobs, shape.nodes);
  SHOW_ON_FAILURE(instance);
  const double bound = max_stretch_bound(instance).value;
  EXPECT_GT(bound, 1.1);
  Jobs slower_jobs = jobs;
  for (int j = 0; j < jobs.size(); ++j) {
    slower_jobs.submit[j] *= 8;
    slower_jobs.runtime[j] *= 8;
  }
  EXPECT_NEAR(max_stretch_bound(Instance(slower_jobs, shape.nodes)).value, bound, 1e-9 * bound);
  for (int& tasks : jobs.tasks) tasks *= 3;
  EXPECT_NEAR(max_stretch_bound(Instance(jobs, 3 * shape.nodes)).value, bound, 1e-9 * bound);
}

TEST(StretchBound, LateAndFractionalTimesAreNoOthers) {
  // Seconds since 1970, of which doubles have 2^-22.
  Rng rng(17);
  StreamShape shape;
  shape.jobs = 300;
  for (int round = 0; round < 10; ++round) {
    SHOW_ON_FAILURE(round);
    Jobs jobs = random_jobs(rng, shape);
    for (int j = 0; j < jobs.size(); ++j) {
      jobs.submit[j] = std::floor(jobs.submit[j]) + std::floor(8 * rng.uniform()) / 8;
      jobs.runtime[j] += rng.uniform();
    }
    const double bound = max_stretch_bound(Instance(jobs, shape.nodes)).value;
    for (double& submit : jobs.submit) submit += 1.6e9;
    EXPECT_EQ(max_stretch_bound(Instance(jobs, shape.nodes)).value, bound);
  }
}

}  // namespace
}  // namespace cosched::cluster::bound
