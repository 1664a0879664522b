#include "cosched/dags/hlp_best.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/core/rng.hpp"
#include "cosched/dags/heft.hpp"
#include "cosched/dags/list_rules.hpp"
#include "cosched/dags/trade_off.hpp"

namespace cosched::dags {
namespace {

// The best plan so far, and the best allocation as OLS sees it.
struct Best {
  Plan plan;
  double makespan = kInfinity;
  Allocation allocation;
  Plan ols_plan;
  double ols_makespan = kInfinity;

  void offer(Plan other) {
    const double end = other.makespan();
    if (end >= makespan) return;
    makespan = end;
    plan = std::move(other);
  }
  void offer_allocation(const Instance& instance, const Allocation& candidate) {
    Plan built = ols(instance, candidate);
    const double end = built.makespan();
    if (end < ols_makespan) {
      ols_makespan = end;
      allocation = candidate;
      ols_plan = built;
    }
    offer(std::move(built));
  }
};

// The paper's rounding, except that `type` takes every task of which it has at least `share`,
// and no other that another type could take.
Allocation biased_rounding(const Instance& instance, const Table& x, int type, double share) {
  Table biased = x;
  for (int task = 0; task < instance.tasks(); ++task)
    biased(task, type) = x(task, type) >= share - kExactTolerance ? 2 : -1;
  return round_allocation(instance.times(), biased);
}

// The instance in which a task only has the types of which it holds at least `share`.
Instance restricted(const Instance& instance, const Table& x, double share) {
  Table times = instance.times();
  for (int task = 0; task < instance.tasks(); ++task)
    for (int type = 0; type < instance.types(); ++type)
      if (x(task, type) < std::min(share, x.row(task).maxCoeff())) times(task, type) = kInfinity;
  return {std::move(times), instance.graph(), instance.units()};
}

// Tasks that decide the makespan: from a last task back to one that ends where it starts, a
// predecessor or the task before it on its unit.
std::vector<int> deciding_chain(const Instance& instance, const Plan& plan) {
  std::vector<int> order(instance.tasks());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return std::tuple(plan.kind[a], plan.unit[a], plan.start[a], plan.end[a], a) <
           std::tuple(plan.kind[b], plan.unit[b], plan.start[b], plan.end[b], b);
  });
  std::vector<int> before(instance.tasks(), -1);
  for (std::size_t k = 1; k < order.size(); ++k)
    if (plan.kind[order[k]] == plan.kind[order[k - 1]] &&
        plan.unit[order[k]] == plan.unit[order[k - 1]])
      before[order[k]] = order[k - 1];

  std::vector<int> chain;
  int task =
      static_cast<int>(std::max_element(plan.end.begin(), plan.end.end()) - plan.end.begin());
  for (int steps = 0; task >= 0 && steps < instance.tasks(); ++steps) {
    chain.push_back(task);
    int next = -1;
    for (const int predecessor : instance.graph().predecessors(task))
      if (plan.end[predecessor] == plan.start[task]) next = predecessor;
    if (next < 0 && before[task] >= 0 && plan.end[before[task]] == plan.start[task])
      next = before[task];
    task = next;
  }
  return chain;
}

class LocalSearch {
 public:
  LocalSearch(const Instance& instance, const Table& x, Best& best, std::uint64_t seed)
      : instance_(instance), best_(best), rng_(seed) {
    for (int task = 0; task < instance.tasks(); ++task)
      if (x.row(task).maxCoeff() < 1 - 1e-6) fractional_.push_back(task);
  }

  void run(int evaluations) {
    Allocation current = best_.allocation;
    double makespan = best_.ols_makespan;
    std::vector<int> chain = deciding_chain(instance_, best_.ols_plan);
    for (int k = 0; k < evaluations; ++k) {
      check_interrupt();
      Allocation next = current;
      if (!change(next, chain)) continue;
      Plan plan = ols(instance_, next);
      const double end = plan.makespan();
      if (end > makespan) continue;
      makespan = end;
      current = std::move(next);
      chain = deciding_chain(instance_, plan);
      best_.offer(std::move(plan));
    }
  }

 private:
  // One task, or more with halving probability, goes to another type that can run it.
  bool change(Allocation& allocation, const std::vector<int>& chain) {
    bool changed = false;
    do {
      const std::vector<int>& pool =
          fractional_.empty() || rng_.uniform() < 0.5 ? chain : fractional_;
      const int task = pool[rng_.below(pool.size())];
      std::vector<int> others;
      for (int type = 0; type < instance_.types(); ++type)
        if (type != allocation[task] && instance_.can_run(task, type)) others.push_back(type);
      if (others.empty()) continue;
      allocation[task] = others[rng_.below(others.size())];
      changed = true;
    } while (rng_.uniform() < 0.5);
    return changed;
  }

  const Instance& instance_;
  Best& best_;
  Rng rng_;
  std::vector<int> fractional_;
};

int default_evaluations(const Instance& instance) {
  const double size = instance.tasks() + static_cast<double>(instance.graph().edges());
  return static_cast<int>(std::min(2000.0, std::max(50.0, 4e6 / size)));
}

// Steps 2 to 4; may be left by an exception of check_interrupt().
void improve(const Instance& instance, const Table& x, const BestOptions& options, Best& best) {
  // With two types, a share of one type is the rest of the other's.
  for (int type = 0; type < (instance.types() == 2 ? 1 : instance.types()); ++type)
    for (int k = 1; k <= 19; ++k)
      best.offer_allocation(instance, biased_rounding(instance, x, type, 0.05 * k));
  const std::vector<double> rank = ranks(instance.graph(), fractional_durations(instance, x));
  for (const double share : {0.01, 0.1, 0.3})
    best.offer(insertion_schedule(restricted(instance, x, share), rank));
  LocalSearch search(instance, x, best, options.seed);
  search.run(options.evaluations >= 0 ? options.evaluations : default_evaluations(instance));
}

}  // namespace

BestResult hlp_best(const Instance& instance, const BestOptions& options, const Table* x) {
  const ScopedTimeLimit limit(options.time_limit);
  Plan by_heft = unhurried([&] { return heft(instance); });
  BestResult result;
  if (!x) {
    result.relaxation = hlp_so_far(instance);
    result.complete = result.relaxation.complete;
    x = &result.relaxation.x;
  }
  Best best;
  unhurried([&] { best.offer_allocation(instance, round_allocation(instance.times(), *x)); });
  best.offer(std::move(by_heft));
  if (result.complete)
    result.complete = finishes_within(std::nullopt, [&] { improve(instance, *x, options, best); });
  result.plan = std::move(best.plan);
  return result;
}

}  // namespace cosched::dags
