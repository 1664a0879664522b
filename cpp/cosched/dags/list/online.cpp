#include "cosched/dags/list/online.hpp"

#include "cosched/core/interrupt.hpp"
#include "cosched/core/rng.hpp"
#include "cosched/dags/list/idle_units.hpp"
#include "cosched/dags/list/list_rules.hpp"

namespace cosched::dags::list {
namespace {

using std::to_string;

void require_arrivals(const TaskGraph& graph, const Arrivals& order) {
  const int n = graph.tasks();
  if (static_cast<int>(order.size()) != n)
    throw InvalidInstance("order has " + to_string(order.size()) + " entries: expected the " +
                          to_string(n) + " task numbers");
  std::vector<char> arrived(n, 0);
  for (int k = 0; k < n; ++k) {
    const int task = order[k];
    const std::string name = "order[" + to_string(k) + "] = " + to_string(task);
    if (task < 0 || task >= n)
      throw InvalidInstance(name + ": expected a task number in 0.." + to_string(n - 1));
    if (arrived[task]) throw InvalidInstance(name + ": the task arrives twice");
    for (const int before : graph.predecessors(task))
      if (!arrived[before])
        throw InvalidInstance(name + " arrives before its predecessor " + to_string(before));
    arrived[task] = 1;
  }
}

template <class Rule>
Plan run_online(const Instance& instance, const Arrivals& order, Rule choose_type) {
  if (!order.empty()) require_arrivals(instance.graph(), order);
  IdleUnits units(instance);
  int placed_tasks = 0;
  for (const int task : order.empty() ? instance.graph().order() : order) {
    if (placed_tasks % 4096 == 0) check_interrupt();
    ++placed_tasks;
    const int type = choose_type(task, units);
    units.place(task, type, units.earliest_start(task, type));
  }
  return units.plan();
}

// Type of least p_q / weight_q, lowest on equality.
int least_weighted(const Instance& instance, int task, const std::vector<double>& weight) {
  int best = -1;
  double least = kInfinity;
  for (int type = 0; type < instance.types(); ++type)
    if (const double value = instance.time(task, type) / weight[type]; value < least) {
      least = value;
      best = type;
    }
  return best;
}

std::vector<double> weights(const Instance& instance, double (*of_units)(double)) {
  std::vector<double> weight;
  for (const int units : instance.units()) weight.push_back(of_units(units));
  return weight;
}

Plan by_weights(const Instance& instance, const Arrivals& order, double (*of_units)(double)) {
  return run_online(instance, order,
                    [&, weight = weights(instance, of_units)](int task, const IdleUnits&) {
                      return least_weighted(instance, task, weight);
                    });
}

}  // namespace

Plan r1_ls(const Instance& instance, const Arrivals& order) {
  return by_weights(instance, order, [](double m) { return m; });
}

Plan r2_ls(const Instance& instance, const Arrivals& order) {
  return by_weights(instance, order, [](double m) { return std::sqrt(m); });
}

Plan r3_ls(const Instance& instance, const Arrivals& order) {
  return by_weights(instance, order, [](double) { return 1.0; });
}

Plan greedy(const Instance& instance, const Arrivals& order) { return r3_ls(instance, order); }

Plan er_ls(const Instance& instance, const Arrivals& order) {
  if (instance.types() != 2)
    throw InvalidInstance("er-ls is defined for 2 resource types, the instance has " +
                          to_string(instance.types()));
  const auto weight = weights(instance, [](double m) { return std::sqrt(m); });
  return run_online(instance, order, [&](int task, const IdleUnits& units) {
    const double p_cpu = instance.time(task, 0), p_gpu = instance.time(task, 1);
    if (p_cpu >= units.earliest_start(task, 1).time + p_gpu && p_gpu < kInfinity)
      return 1;                                     // Step 1
    return least_weighted(instance, task, weight);  // Step 2: R2
  });
}

Plan eft(const Instance& instance, const Arrivals& order) {
  return run_online(instance, order, [&](int task, const IdleUnits& units) {
    int best = -1;
    double least_end = kInfinity;
    for (int type = 0; type < instance.types(); ++type) {
      if (!instance.can_run(task, type)) continue;
      const double end_here = units.earliest_start(task, type).time + instance.time(task, type);
      if (end_here <= least_end) {
        least_end = end_here;
        best = type;
      }
    }
    return best;
  });
}

Plan qa(const Instance& instance) {
  const auto weight = weights(instance, [](double m) { return std::sqrt(m); });
  Allocation allocation;
  for (int task = 0; task < instance.tasks(); ++task)
    allocation.push_back(least_weighted(instance, task, weight));
  return list_schedule(instance, allocation, std::vector<double>(instance.tasks(), 0.0));
}

Plan random_types(const Instance& instance, std::uint64_t seed, const Arrivals& order) {
  Rng rng(seed);
  return run_online(instance, order, [&](int task, const IdleUnits&) {
    std::vector<int> possible;
    for (int type = 0; type < instance.types(); ++type)
      if (instance.can_run(task, type)) possible.push_back(type);
    return possible[rng.below(possible.size())];
  });
}

}  // namespace cosched::dags::list
