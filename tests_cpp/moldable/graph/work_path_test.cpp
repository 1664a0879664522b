#include "cosched/moldable/graph/work_path.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "cosched/moldable/check/validate.hpp"
#include "cosched/moldable/graph/heads_and_tails.hpp"

namespace cosched::moldable::graph {
namespace {

Instance chain(const Table& times, int machines, const std::vector<Edge>& edges) {
  const int jobs = static_cast<int>(times.rows());
  return Instance(Times(times), std::vector<double>(jobs, 1.0), {}, machines)
      .with_precedence(std::make_shared<const TaskGraph>(jobs, edges));
}

TEST(WorkPath, RigidJobsAreTheLargerOfWorkAndPath) {
  // 3 + 3 s one after the other on one of two processors, 4 s beside: work 5 s, path 6 s.
  const Instance path = chain(Table{{3}, {3}, {4}}, 2, {{0, 1}});
  EXPECT_NEAR(work_and_path(path).value, 6, 1e-9);
  const Instance work = chain(Table{{3}, {3}, {8}}, 2, {{0, 1}});
  EXPECT_NEAR(work_and_path(work).value, 8, 1e-9);
}

TEST(WorkPath, TradesTimeAgainstWork) {
  // Two jobs before one: all on one processor work 9/2, path 6; all on two work 12/2, path 4.
  const Instance instance = chain(Table{{4, 2.5}, {3, 2}, {2, 1.5}}, 2, {{0, 2}, {1, 2}});
  const WorkPath bound = work_and_path(instance);
  EXPECT_TRUE(bound.complete);
  EXPECT_NEAR(bound.value, 54.0 / 11, 1e-8);
  EXPECT_NEAR(check::certified_bound(instance, bound.certificate), bound.value, 1e-8);
  EXPECT_NEAR(heads_and_tails(instance, bound.value), 5.5, 1e-8);
}

TEST(WorkPath, ReleasesAreOnThePath) {
  const Instance instance =
      Instance(Times(Table{{3}, {2}}), {1, 1}, {5, 0}, 2)
          .with_precedence(std::make_shared<const TaskGraph>(2, std::vector<Edge>{{0, 1}}));
  const WorkPath bound = work_and_path(instance);
  EXPECT_NEAR(bound.value, 10, 1e-9);
  EXPECT_NEAR(check::certified_bound(instance, bound.certificate), 10, 1e-8);
}

TEST(WorkPath, AReleaseIsThatOfItsJob) {
  const Instance instance =
      Instance(Times(Table{{3}, {2}}), {1, 1}, {0, 5}, 2)
          .with_precedence(std::make_shared<const TaskGraph>(2, std::vector<Edge>{{0, 1}}));
  EXPECT_NEAR(work_and_path(instance).value, 7, 1e-9);
}

TEST(WorkPath, CountsBetweenFewAndManyAreMixed) {
  // 12 s of other work; two in a row, on two and three: path 6.2 + 2.6 x, work 7.65 - 0.25 x.
  const std::initializer_list<double> job{8, 4.4, 3.1, 2.5}, other{3, 3, 3, 3};
  const Instance instance = chain(Table{job, job, other, other, other, other}, 4, {{0, 1}});
  EXPECT_NEAR(work_and_path(instance).value, 6.2 + 2.6 * 1.45 / 2.85, 1e-8);
}

TEST(WorkPath, AResourceThatIsScarceDecides) {
  std::vector<Resource> resources;
  resources.push_back({.name = "memory", .capacity = 4, .need = Matrix<double>{{4}, {3}, {1}}});
  const Instance instance =
      chain(Table{{3}, {3}, {4}}, 8, {{0, 1}})
          .with_sharing(std::make_shared<const Sharing>(3, resources, std::nullopt, std::nullopt));
  // (4 * 3 + 3 * 3 + 1 * 4) / 4
  EXPECT_NEAR(work_and_path(instance).value, 6.25, 1e-8);
}

TEST(WorkPathCheck, RefusesWhatProvesNothing) {
  const Instance instance = chain(Table{{3}, {3}, {4}}, 2, {{0, 1}});
  const WorkPathCertificate good = work_and_path(instance).certificate;
  WorkPathCertificate bad = good;
  bad.weights[0] += 0.5;
  EXPECT_THROW(check::certified_bound(instance, bad), SolverError);
  bad = good;
  bad.task_flow[2] += 1;  // more begins than the path's weight
  EXPECT_THROW(check::certified_bound(instance, bad), SolverError);
  bad = good;
  bad.edge_flow.push_back({1, 0, 0.1});
  EXPECT_THROW(check::certified_bound(instance, bad), SolverError);
}

}  // namespace
}  // namespace cosched::moldable::graph
