#include "cosched/cluster/model/instance.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "cosched/core/errors.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::cluster {
namespace {

Jobs two_jobs() { return {{0, 5}, {1, 2}, {1, 0.5}, {0.5, 1}, {10, 20}, {}}; }

std::string rejection(const std::function<void(Jobs&)>& spoil, int nodes = 4) {
  Jobs jobs = two_jobs();
  spoil(jobs);
  try {
    Instance(jobs, nodes);
  } catch (const InvalidInstance& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ClusterInstance, RejectsBadEntriesByColumnRowAndValue) {
  EXPECT_EQ(rejection([](Jobs&) {}), "accepted");
  EXPECT_NE(rejection([](Jobs& j) { j.submit[1] = NAN; }).find("jobs.submit[1] = nan"),
            std::string::npos);
  EXPECT_NE(rejection([](Jobs& j) { j.submit[0] = -1; }).find("jobs.submit[0] = -1"),
            std::string::npos);
  EXPECT_NE(rejection([](Jobs& j) { j.runtime[1] = kInfinity; }).find("jobs.runtime[1] = inf"),
            std::string::npos);
  EXPECT_NE(rejection([](Jobs& j) { j.tasks[1] = 0; }).find("jobs.tasks[1] = 0"),
            std::string::npos);
  EXPECT_NE(rejection([](Jobs& j) { j.cpu[0] = 1.5; }).find("jobs.cpu[0] = 1.5"),
            std::string::npos);
  EXPECT_NE(rejection([](Jobs& j) { j.memory[0] = 0; }).find("jobs.memory[0] = 0"),
            std::string::npos);
  EXPECT_NE(rejection([](Jobs& j) {
              j.estimate = {1, NAN};
            }).find("jobs.estimate[1]"),
            std::string::npos);
  EXPECT_EQ(rejection([](Jobs& j) { j.estimate = {1, kInfinity}; }), "accepted");
  EXPECT_NE(rejection([](Jobs& j) {
              j.estimate = {1, -kInfinity};
            }).find("or inf for no limit"),
            std::string::npos);
  EXPECT_NE(rejection([](Jobs& j) { j.cpu.pop_back(); }).find("jobs.cpu has 1 rows"),
            std::string::npos);
  EXPECT_NE(rejection([](Jobs& j) { j = {}; }).find("no rows"), std::string::npos);
  EXPECT_NE(rejection([](Jobs&) {}, 0).find("nodes = 0"), std::string::npos);
  EXPECT_NE(rejection([](Jobs&) {}, kMaxNodes + 1).find("at most"), std::string::npos);
  EXPECT_EQ(rejection([](Jobs&) {}, kMaxNodes), "accepted");
}

TEST(ClusterInstance, OrdersBySubmissionThenNumber) {
  const Instance instance(
      {{5, 0, 5, 0}, {1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}, {}}, 1);
  EXPECT_EQ(instance.order(), (std::vector<int>{1, 3, 0, 2}));
  EXPECT_DOUBLE_EQ(instance.total_work(), 4);
}

TEST(ClusterInstance, SaysWhichJobCannotRun) {
  const Instance instance(Jobs{.submit = {0, 0},
                               .tasks = {3, 9},
                               .cpu = {1, 1},
                               .memory = {0.5, 0.4},
                               .runtime = {1, 1},
                               .estimate = {}},
                          4);
  EXPECT_THROW(require_batch_fits(instance), InfeasibleError);
  EXPECT_THROW(require_memory_fits(instance), InfeasibleError);  // 2 a node: 8 < 9
  const Instance fits(
      Jobs{
          .submit = {0}, .tasks = {8}, .cpu = {1}, .memory = {0.4}, .runtime = {1}, .estimate = {}},
      4);
  EXPECT_NO_THROW(require_memory_fits(fits));
  EXPECT_THROW(require_batch_fits(fits), InfeasibleError);
}

TEST(ClusterInstance, BoundedStretch) {
  EXPECT_DOUBLE_EQ(bounded_stretch(0, 5, 1), 1);   // both below 10 s
  EXPECT_DOUBLE_EQ(bounded_stretch(0, 40, 5), 4);  // run time counts as 10 s
  EXPECT_DOUBLE_EQ(bounded_stretch(100, 300, 100), 2);
  EXPECT_DOUBLE_EQ(bounded_stretch(100, 300, 100, 400), 1);
}

}  // namespace
}  // namespace cosched::cluster
