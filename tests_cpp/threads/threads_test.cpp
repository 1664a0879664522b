// Eight threads solve, bound and validate with the same instances of all five families: every
// answer is the one that a single thread gives, and ThreadSanitizer (`make tsan`) sees no race.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <future>
#include <vector>

#include "cosched/bags/algorithms.hpp"
#include "cosched/bags/energy_lp.hpp"
#include "cosched/bags/front.hpp"
#include "cosched/bags/plan.hpp"
#include "cosched/bags/ttb_best.hpp"
#include "cosched/bags/validate.hpp"
#include "cosched/cluster/batch.hpp"
#include "cosched/cluster/dfrs.hpp"
#include "cosched/cluster/stretch_bound.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/core/validate.hpp"
#include "cosched/dags/check/requirements.hpp"
#include "cosched/dags/hlp/bounds.hpp"
#include "cosched/dags/hlp/hlp.hpp"
#include "cosched/dags/list/heft.hpp"
#include "cosched/dags/search/hlp_best.hpp"
#include "cosched/moldable/baselines.hpp"
#include "cosched/moldable/best.hpp"
#include "cosched/moldable/bounds.hpp"
#include "cosched/moldable/dual_approx.hpp"
#include "cosched/moldable/minsum_bound.hpp"
#include "cosched/moldable/validate.hpp"
#include "cosched/packs/bounds.hpp"
#include "cosched/packs/exact.hpp"
#include "cosched/packs/heuristics.hpp"
#include "cosched/packs/local_search.hpp"
#include "cosched/packs/validate.hpp"
#include "dags/graphs.hpp"
#include "support/bags_instances.hpp"
#include "support/cluster_instances.hpp"
#include "support/packs_instances.hpp"

namespace cosched {
namespace {

constexpr int kThreads = 8;
constexpr int kRounds = 3;

using Answers = std::vector<double>;

// `work` in eight threads at once, several times each; all answers are those of `work()` here.
void expect_the_same(const std::function<Answers()>& work) {
  const Answers alone = work();
  ASSERT_FALSE(alone.empty());
  std::promise<void> start;
  const std::shared_future<void> started = start.get_future().share();
  std::vector<std::future<std::vector<Answers>>> threads;
  for (int k = 0; k < kThreads; ++k)
    threads.push_back(std::async(std::launch::async, [&work, started] {
      started.wait();
      std::vector<Answers> found;
      for (int round = 0; round < kRounds; ++round) found.push_back(work());
      return found;
    }));
  start.set_value();
  for (auto& thread : threads)
    for (const Answers& found : thread.get()) EXPECT_EQ(found, alone);
}

TEST(Threads, Packs) {
  const packs::Instance instance(Times(packs::testing::random_table(9, 5, 3)), 3);
  expect_the_same([&] {
    Answers found;
    const auto keep = [&](const packs::Coschedule& coschedule) {
      packs::validate(instance, packs::to_schedule(instance.times(), coschedule));
      found.push_back(coschedule.cost);
    };
    keep(packs::sequential(instance));
    keep(packs::pack_approx(instance, true));
    keep(packs::pack_by_pack(instance, packs::nine_epsilons()));
    keep(packs::random_pack(instance, 9, 1));
    keep(packs::local_search(instance, 1, 20'000).coschedule);
    keep(packs::optimal(instance).coschedule);
    found.push_back(packs::column_bound(instance).value);
    found.push_back(packs::area_bound(instance));
    return found;
  });
}

// GLPK keeps its state by thread.
TEST(Threads, PacksByGlpk) {
  const packs::Instance instance(Times(packs::testing::random_table(4, 3, 5)), 2);
  expect_the_same([&] {
    const packs::ExactResult found = packs::ilp(instance);
    return Answers{found.coschedule.cost, found.bound};
  });
}

TEST(Threads, Dags) {
  const dags::Instance instance = dags::graphs::cholesky(4, {3, 1}, 0.2, 1);
  expect_the_same([&] {
    Answers found;
    const auto keep = [&](const dags::Plan& plan) {
      validate(plan.schedule(), dags::check::requirements(instance));
      found.push_back(plan.makespan());
    };
    keep(dags::list::heft(instance));
    dags::search::BestOptions options;
    options.evaluations = 50;
    const dags::search::BestResult best = dags::search::hlp_best(instance, options);
    keep(best.plan);
    found.push_back(best.bound.value);
    found.push_back(dags::hlp::hlp(instance).value);
    found.push_back(dags::hlp::hlp(instance, dags::hlp::Method::glpk).value);
    found.push_back(dags::hlp::area_bound(instance));
    found.push_back(dags::hlp::critical_path_bound(instance));
    return found;
  });
}

TEST(Threads, Moldable) {
  const moldable::Instance instance(Times(packs::testing::random_table(12, 6, 7)),
                                    std::vector<double>(12, 1.5));
  expect_the_same([&] {
    Answers found;
    const auto keep = [&](const moldable::Placement& placement) {
      moldable::validate(instance, moldable::to_schedule(instance, placement));
      found.push_back(moldable::makespan(placement));
      found.push_back(moldable::weighted_completion(instance, placement));
    };
    keep(moldable::gang(instance));
    keep(moldable::list_graham(instance, moldable::ListOrder::saf));
    const moldable::DualApproximation dual = moldable::dual_approximation(instance);
    keep(dual.schedule.placement);
    found.push_back(dual.bound);
    moldable::BestOptions options;
    options.work = 20'000;
    const moldable::BestResult best = moldable::demt_best(instance, options);
    keep(best.front.points()[best.chosen].placement);
    found.push_back(moldable::minsum_bound(instance));
    found.push_back(moldable::minsum_bound_glpk(instance));
    found.push_back(moldable::dual_approximation_bound(instance, 0.01));
    return found;
  });
}

TEST(Threads, Bags) {
  bags::testing::Shape shape;
  shape.types = 4;
  shape.machine_types = 3;
  shape.idle = true;
  const bags::Instance instance = bags::testing::random_instance(shape, 11);
  expect_the_same([&] {
    Answers found;
    const auto keep = [&](const bags::Plan& plan) {
      const bags::Timetable times = bags::timetable(instance, plan);
      bags::Rows rows;
      for (const auto& run : plan.runs) {
        rows.task_type.push_back(run.task_type);
        rows.machine_type.push_back(run.machine_type);
        rows.machine.push_back(run.machine);
        rows.count.push_back(run.count);
      }
      rows.start = times.start;
      rows.end = times.end;
      bags::validate(instance, rows);
      found.push_back(plan.profit_rate);
    };
    keep(bags::ttb(instance, 0.01));
    keep(bags::ttb_exact(instance));
    keep(bags::tms(instance));
    keep(bags::ttb_best(instance).plan);
    found.push_back(bags::least_makespan(instance));
    found.push_back(bags::best_rate(instance, bags::Cut::long_tasks).rate);
    found.push_back(bags::profit_lp(instance).rate);
    return found;
  });
}

TEST(Threads, Cluster) {
  Rng rng(5);
  const cluster::Instance instance(cluster::testing::random_jobs(rng), 6);
  const auto policy = cluster::parse_policy_name("GreedyPM */per/opt=min/minvt=600");
  ASSERT_TRUE(policy);
  expect_the_same([&] {
    Answers found;
    for (const cluster::Outcome& outcome :
         {cluster::fcfs(instance), cluster::easy(instance),
          cluster::run_dfrs(instance, *policy)})  // told to a checker while it runs
      found.insert(found.end(), outcome.end.begin(), outcome.end.end());
    found.push_back(cluster::max_stretch_bound(instance).value);
    return found;
  });
}

// A limit belongs to the thread that set it.
TEST(Threads, LimitsOfOneThreadStopNoOther) {
  const packs::Instance instance(Times(packs::testing::workload_ii(1)), 8);
  std::vector<std::future<bool>> threads;
  for (int k = 0; k < kThreads; ++k)
    threads.push_back(std::async(std::launch::async, [&instance, k] {
      const std::optional<double> limit = k % 2 == 0 ? std::optional<double>(0.0) : std::nullopt;
      return packs::local_search(instance, 1, 20'000, limit).complete;
    }));
  for (int k = 0; k < kThreads; ++k) EXPECT_EQ(threads[k].get(), k % 2 == 1) << k;
}

}  // namespace
}  // namespace cosched
