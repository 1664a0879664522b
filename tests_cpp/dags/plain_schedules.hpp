// Schedulers straight from their definitions, for the tests of the fast ones.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "cosched/core/numeric.hpp"
#include "cosched/core/rng.hpp"
#include "cosched/core/validate.hpp"
#include "cosched/dags/check/requirements.hpp"
#include "cosched/dags/check/validate_memory.hpp"
#include "cosched/dags/list/cpop.hpp"
#include "cosched/dags/list/heft.hpp"
#include "cosched/dags/list/peft.hpp"
#include "cosched/dags/list/ranks.hpp"
#include "cosched/dags/model/instance.hpp"
#include "cosched/dags/model/paths.hpp"
#include "cosched/dags/model/plan.hpp"
#include "cosched/dags/model/time_grain.hpp"

namespace cosched::dags::plain {

inline void expect_valid(const Instance& instance, const Plan& plan) {
  EXPECT_NO_THROW(validate(plan.schedule(), check::requirements(instance)));
}

/// Whether the task is not done, and all its predecessors are.
inline bool is_ready(const Instance& instance, const std::vector<char>& done, int task) {
  for (const int before : instance.graph().predecessors(task))
    if (!done[before]) return false;
  return !done[task];
}

inline Allocation random_allocation(const Instance& instance, Rng& rng) {
  Allocation allocation;
  for (int task = 0; task < instance.tasks(); ++task) {
    int type;
    do type = static_cast<int>(rng.below(instance.types()));
    while (!instance.can_run(task, type));
    allocation.push_back(type);
  }
  return allocation;
}

/// When all that a task needs is on a unit, by the rules that validate() checks, every edge looked
/// at.
inline double ready_on(const Requirements& need, const Plan& plan, int task, int type, int unit) {
  double ready = 0;
  for (std::size_t edge = 0; edge < need.edges.size(); ++edge) {
    const auto [before, after] = need.edges[edge];
    if (after != task) continue;
    const double moving = need.transfer ? need.transfer(static_cast<int>(edge), plan.kind[before],
                                                        plan.unit[before], type, unit)
                                        : 0;
    ready = std::max(ready, plan.end[before] + moving);
  }
  return ready;
}

/// HEFT: every gap of every unit.
inline Plan heft(const Instance& instance) {
  const std::vector<double> rank = list::heft_ranks(instance);
  std::vector<int> order = instance.graph().order();
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return rank[a] > rank[b]; });
  const Requirements need = check::requirements(instance);
  Plan plan(instance.tasks());
  std::vector<int> placed;
  for (const int task : order) {
    double best_end = kInfinity, best_start = 0;
    int best_type = -1, best_unit = -1;
    for (int type = 0; type < instance.types(); ++type) {
      if (!instance.can_run(task, type)) continue;
      const double p = instance.time(task, type);
      for (int unit = 0; unit < instance.units(type); ++unit) {
        std::vector<std::pair<double, double>> busy;
        for (const int other : placed)
          if (plan.kind[other] == type && plan.unit[other] == unit)
            busy.emplace_back(plan.start[other], plan.end[other]);
        std::sort(busy.begin(), busy.end());
        double start = ready_on(need, plan, task, type, unit);
        for (const auto& [from, to] : busy) {
          if (start + p <= from) break;
          start = std::max(start, to);
        }
        const double end = start + p;
        if (end < best_end || (end == best_end && type > best_type)) {
          best_end = end;
          best_start = start;
          best_type = type;
          best_unit = unit;
        }
      }
    }
    plan.set(task, best_type, best_unit, best_start, best_end);
    placed.push_back(task);
  }
  return plan;
}

}  // namespace cosched::dags::plain
