// Eight threads solve, bound and validate with the same instances of all five families: every
// answer is the one that a single thread gives, and ThreadSanitizer (`make tsan`) sees no race.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <future>
#include <vector>

#include "cosched/bags/check/validate.hpp"
#include "cosched/bags/energy/glpk_programmes.hpp"
#include "cosched/bags/energy/walk.hpp"
#include "cosched/bags/model/instance.hpp"
#include "cosched/bags/rounding/baselines.hpp"
#include "cosched/bags/rounding/ttb.hpp"
#include "cosched/bags/search/ttb_best.hpp"
#include "cosched/cluster/batch/backfilling.hpp"
#include "cosched/cluster/bound/stretch_bound.hpp"
#include "cosched/cluster/dfrs/dfrs.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/core/validate.hpp"
#include "cosched/dags/check/requirements.hpp"
#include "cosched/dags/check/validate_memory.hpp"
#include "cosched/dags/hlp/area.hpp"
#include "cosched/dags/hlp/bounds.hpp"
#include "cosched/dags/hlp/hlp.hpp"
#include "cosched/dags/hlp/hlp_model.hpp"
#include "cosched/dags/hlp/ordinary_scale.hpp"
#include "cosched/dags/list/cpop.hpp"
#include "cosched/dags/list/heft.hpp"
#include "cosched/dags/list/peft.hpp"
#include "cosched/dags/list/ranks.hpp"
#include "cosched/dags/search/hlp_best.hpp"
#include "cosched/moldable/bounds/makespan.hpp"
#include "cosched/moldable/check/validate.hpp"
#include "cosched/moldable/dual/list_graham.hpp"
#include "cosched/moldable/list/standard.hpp"
#include "cosched/moldable/minsum/bound.hpp"
#include "cosched/moldable/search/demt_best.hpp"
#include "cosched/packs/check/validate.hpp"
#include "cosched/packs/columns/column_bound.hpp"
#include "cosched/packs/columns/task_groups.hpp"
#include "cosched/packs/exact/ilp.hpp"
#include "cosched/packs/exact/optimal.hpp"
#include "cosched/packs/exact/pairs.hpp"
#include "cosched/packs/heuristic/baselines.hpp"
#include "cosched/packs/heuristic/best_cuts.hpp"
#include "cosched/packs/heuristic/first_fit.hpp"
#include "cosched/packs/heuristic/least_idle.hpp"
#include "cosched/packs/heuristic/longest_first.hpp"
#include "cosched/packs/heuristic/make_pack.hpp"
#include "cosched/packs/heuristic/pack_approx.hpp"
#include "cosched/packs/heuristic/pack_by_pack.hpp"
#include "cosched/packs/model/bounds.hpp"
#include "cosched/packs/model/instance.hpp"
#include "cosched/packs/search/local_search.hpp"
#include "cosched/packs/search/subset_programme.hpp"
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
      std::vector<Answers> answers;
      for (int round = 0; round < kRounds; ++round) answers.push_back(work());
      return answers;
    }));
  start.set_value();
  for (auto& thread : threads)
    for (const Answers& answers : thread.get()) EXPECT_EQ(answers, alone);
}

TEST(Threads, Packs) {
  const packs::Instance instance(Times(packs::testing::random_table(9, 5, 3)), 3);
  expect_the_same([&] {
    Answers answers;
    const auto keep = [&](const packs::Coschedule& coschedule) {
      packs::check::validate(instance, packs::to_schedule(instance, coschedule));
      answers.push_back(coschedule.cost);
    };
    keep(packs::heuristic::sequential(instance));
    keep(packs::heuristic::pack_approx(instance, true));
    keep(packs::heuristic::pack_by_pack(instance, packs::heuristic::nine_epsilons()));
    keep(packs::heuristic::random_pack(instance, 9, 1));
    keep(packs::search::local_search(instance, 1, 20'000).coschedule);
    keep(packs::exact::optimal(instance).coschedule);
    answers.push_back(packs::columns::column_bound(instance).value);
    answers.push_back(packs::area_bound(instance));
    return answers;
  });
}

// GLPK keeps its state by thread.
TEST(Threads, PacksByGlpk) {
  const packs::Instance instance(Times(packs::testing::random_table(4, 3, 5)), 2);
  expect_the_same([&] {
    const packs::ExactResult result = packs::exact::ilp(instance);
    return Answers{result.coschedule.cost, result.bound};
  });
}

TEST(Threads, Dags) {
  const dags::Instance instance = dags::graphs::cholesky(4, {3, 1}, 0.2, 1);
  expect_the_same([&] {
    Answers answers;
    const auto keep = [&](const dags::Plan& plan) {
      validate(plan.schedule(), dags::check::requirements(instance));
      answers.push_back(plan.makespan());
    };
    keep(dags::list::heft(instance));
    dags::search::HlpBestOptions options;
    options.evaluations = 50;
    const dags::search::HlpBestResult best = dags::search::hlp_best(instance, options);
    keep(best.plan);
    answers.push_back(best.windows_bound.value);
    answers.push_back(dags::hlp::hlp(instance).value);
    answers.push_back(dags::hlp::hlp(instance, dags::hlp::HlpMethod::glpk).value);
    answers.push_back(dags::hlp::area_bound(instance));
    answers.push_back(dags::hlp::critical_path_bound(instance));
    return answers;
  });
}

TEST(Threads, Moldable) {
  const moldable::Instance instance(Times(packs::testing::random_table(12, 6, 7)),
                                    std::vector<double>(12, 1.5));
  expect_the_same([&] {
    Answers answers;
    const auto keep = [&](const moldable::Placement& placement) {
      moldable::check::validate(instance, moldable::to_schedule(instance, placement));
      answers.push_back(moldable::makespan(placement));
      answers.push_back(moldable::weighted_completion(instance, placement));
    };
    keep(moldable::list::gang(instance));
    keep(moldable::dual::list_graham(instance, moldable::dual::ListOrder::saf));
    const moldable::dual::DualApproximation dual = moldable::dual::dual_approximation(instance);
    keep(dual.schedule.placement);
    answers.push_back(dual.bound);
    moldable::search::DemtBestOptions options;
    options.work = 20'000;
    const moldable::search::DemtBestResult best = moldable::search::demt_best(instance, options);
    keep(best.front.points()[best.chosen_point].placement);
    answers.push_back(moldable::minsum::bound(instance));
    answers.push_back(moldable::minsum::bound_by_glpk(instance));
    answers.push_back(moldable::dual::dual_approximation_bound(instance, 0.01));
    return answers;
  });
}

TEST(Threads, Bags) {
  bags::testing::Shape shape;
  shape.types = 4;
  shape.machine_types = 3;
  shape.idle = true;
  const bags::Instance instance = bags::testing::random_instance(shape, 11);
  expect_the_same([&] {
    Answers answers;
    const auto keep = [&](const bags::BagPlan& plan) {
      const bags::Timetable times = bags::make_timetable(instance, plan);
      bags::check::ScheduleRows rows;
      for (const auto& run : plan.runs) {
        rows.task_type.push_back(run.task_type);
        rows.machine_type.push_back(run.machine_type);
        rows.machine.push_back(run.machine);
        rows.count.push_back(run.count);
      }
      rows.start = times.start;
      rows.end = times.end;
      bags::check::validate(instance, rows);
      answers.push_back(plan.profit_rate);
    };
    keep(bags::rounding::ttb(instance, 0.01));
    keep(bags::rounding::ttb_exact(instance));
    keep(bags::rounding::tms(instance));
    keep(bags::search::ttb_best(instance).plan);
    answers.push_back(bags::energy::least_makespan(instance));
    answers.push_back(bags::energy::best_rate(instance, bags::energy::Cut::long_tasks).rate);
    answers.push_back(bags::energy::solve_profit_by_glpk(instance).rate);
    return answers;
  });
}

TEST(Threads, Cluster) {
  Rng rng(5);
  const cluster::Instance instance(cluster::testing::random_jobs(rng), 6);
  const auto policy = cluster::dfrs::parse_policy_name("GreedyPM */per/opt=min/minvt=600");
  ASSERT_TRUE(policy);
  expect_the_same([&] {
    Answers answers;
    for (const cluster::SimulationOutcome& outcome :
         {cluster::batch::fcfs(instance), cluster::batch::easy(instance),
          cluster::dfrs::run_dfrs(instance, *policy)})  // told to a checker while it runs
      answers.insert(answers.end(), outcome.end.begin(), outcome.end.end());
    answers.push_back(cluster::bound::max_stretch_bound(instance).value);
    return answers;
  });
}

// A limit belongs to the thread that set it.
TEST(Threads, LimitsOfOneThreadStopNoOther) {
  const packs::Instance instance(Times(packs::testing::workload_ii(1)), 8);
  std::vector<std::future<bool>> threads;
  for (int k = 0; k < kThreads; ++k)
    threads.push_back(std::async(std::launch::async, [&instance, k] {
      const std::optional<double> limit = k % 2 == 0 ? std::optional<double>(0.0) : std::nullopt;
      return packs::search::local_search(instance, 1, 20'000, limit).is_complete;
    }));
  for (int k = 0; k < kThreads; ++k) EXPECT_EQ(threads[k].get(), k % 2 == 1) << k;
}

}  // namespace
}  // namespace cosched
