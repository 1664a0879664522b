// The loads alone.
#include "cosched/dags/hlp/area.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "cosched/core/numeric.hpp"
#include "cosched/core/rng.hpp"
#include "cosched/dags/hlp/bounds.hpp"
#include "cosched/dags/hlp/hlp.hpp"
#include "cosched/dags/hlp/hlp_model.hpp"
#include "cosched/dags/hlp/ordinary_scale.hpp"
#include "dags/graphs.hpp"
#include "support/show_dags.hpp"

namespace cosched::dags {
namespace {

TEST(BalanceLoads, MatchesTheLpWithoutEdges) {
  Rng rng(14);
  for (int round = 0; round < 100; ++round) {
    SHOW_ON_FAILURE(round);
    graphs::RandomOptions options;
    options.tasks = 1 + round % 30;
    options.types = 2 + round % 3;
    options.density = 0;
    options.integers = round % 5 == 0;
    const Instance instance = graphs::random(rng, options);
    SHOW_ON_FAILURE(instance);
    const hlp::AreaOptimum area = hlp::balance_loads(instance);
    double longest = 0, bound = 0;
    for (int task = 0; task < instance.tasks(); ++task) {
      longest = std::max(longest, instance.time(task, instance.fastest_type(task)));
      double best_load = kInfinity;
      for (int type = 0; type < instance.types(); ++type)
        if (instance.can_run(task, type))
          best_load = std::min(
              best_load, instance.time(task, type) * area.weights[type] / instance.units(type));
      bound += best_load;
    }
    EXPECT_NEAR(bound, area.value, 1e-9 * area.value);  // its weights prove it
    EXPECT_GE(hlp::hlp(instance, hlp::HlpMethod::glpk).value,
              std::max(area.value, longest) * (1 - 1e-7));
  }
}

// The knapsack as one writes it with a sorted list: the same tasks move, one in part.
TEST(BalanceLoads, TwoTypesMoveByDecreasingAcceleration) {
  Rng rng(16);
  for (int round = 0; round < 200; ++round) {
    SHOW_ON_FAILURE(round);
    graphs::RandomOptions options;
    options.tasks = 1 + static_cast<int>(rng.below(400));
    options.density = 0;
    options.integers = round % 2 == 0;
    const Instance instance = graphs::random(rng, options);
    SHOW_ON_FAILURE(instance);
    std::vector<std::pair<double, int>> order;
    std::vector<double> gpu_share(instance.tasks(), 0.0);
    double cpu = 0, gpu = 0;
    for (int task = 0; task < instance.tasks(); ++task) {
      const double p = instance.time(task, 0), g = instance.time(task, 1);
      if (p == kInfinity) {
        gpu += g / instance.units(1);
        gpu_share[task] = 1;
      } else {
        cpu += p / instance.units(0);
        if (p > 0 && g < kInfinity) order.emplace_back(-p / g, task);
      }
    }
    std::sort(order.begin(), order.end());
    for (const auto& [ratio, task] : order) {
      if (gpu >= cpu) break;
      const double p = instance.time(task, 0) / instance.units(0);
      const double g = instance.time(task, 1) / instance.units(1);
      gpu_share[task] = std::min(1.0, (cpu - gpu) / (p + g));
      cpu -= gpu_share[task] * p;
      gpu += gpu_share[task] * g;
    }
    const hlp::AreaOptimum area = hlp::balance_loads(instance);
    EXPECT_NEAR(area.value, std::max(cpu, gpu), 1e-12 * (1 + area.value));
    for (int task = 0; task < instance.tasks(); ++task) {
      EXPECT_NEAR(area.x(task, 1), gpu_share[task], 1e-9) << round << " " << task;
      EXPECT_EQ(area.x(task, 0) + area.x(task, 1), 1);
    }
  }
}

}  // namespace
}  // namespace cosched::dags
