#include <algorithm>
#include <utility>
#include <vector>

#include "cosched/core/errors.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/dags/hlp_structured.hpp"
#include "cosched/opt/matrix_game.hpp"

namespace cosched::dags {
namespace {

struct Assignment {
  double value = 0;  // of the weighted loads
  Table x;
  std::vector<double> loads;
};

// Every task on the type with the least weighted time p_jq w_q / m_q (equal: the least
// time, then the lowest type).
Assignment assign(const Instance& instance, const std::vector<double>& weights) {
  Assignment best{0, Table::Zero(instance.tasks(), instance.types()),
                  std::vector<double>(instance.types(), 0.0)};
  for (int task = 0; task < instance.tasks(); ++task) {
    int choice = -1;
    double least = kInfinity;
    for (int type = 0; type < instance.types(); ++type) {
      if (!instance.can_run(task, type)) continue;
      const double value = instance.time(task, type) * weights[type] / instance.units(type);
      if (value < least ||
          (value == least && instance.time(task, type) < instance.time(task, choice))) {
        least = value;
        choice = type;
      }
    }
    best.value += least;
    best.x(task, choice) = 1;
    best.loads[choice] += instance.time(task, choice) / instance.units(choice);
  }
  return best;
}

// Q = 2: a fractional knapsack.  Tasks move from the CPUs to the GPUs by decreasing
// p_cpu / p_gpu until the loads meet, one task in part.
AreaOptimum balance_two(const Instance& instance) {
  const double m = instance.units(0), k = instance.units(1);
  AreaOptimum area{0, {0, 0}, Table::Zero(instance.tasks(), 2)};
  std::vector<std::pair<double, int>> movable;  // (-p_cpu / p_gpu, task)
  double cpu = 0, gpu = 0;
  for (int task = 0; task < instance.tasks(); ++task) {
    const double p = instance.time(task, 0), g = instance.time(task, 1);
    const bool only_gpu = p == kInfinity;
    area.x(task, only_gpu ? 1 : 0) = 1;
    (only_gpu ? gpu : cpu) += only_gpu ? g / k : p / m;
    // -infinity where the GPU needs no time
    if (!only_gpu && p > 0 && g < kInfinity) movable.emplace_back(-p / g, task);
  }
  std::sort(movable.begin(), movable.end());
  area.weights = {1, 0};  // the CPUs alone, while nothing balances them
  if (gpu > cpu) area.weights = {0, 1};
  for (const auto& [ratio, task] : movable) {
    if (gpu > cpu) break;  // equal at once: prices still come from the first task
    const double p = instance.time(task, 0) / m, g = instance.time(task, 1) / k;
    // p w_cpu = g w_gpu at the task where the loads meet.
    const double part = std::min(1.0, (cpu - gpu) / (p + g));
    cpu -= part * p;
    gpu += part * g;
    area.x(task, 0) = 1 - part;
    area.x(task, 1) = part;
    if (gpu >= cpu || part < 1) area.weights = {g / (p + g), p / (p + g)};
    if (part < 1) break;
  }
  area.value = std::max(cpu, gpu);
  return area;
}

AreaOptimum balance_many(const Instance& instance) {
  const int types = instance.types();
  opt::MatrixGame game(types);
  std::vector<Table> points;
  std::vector<double> weights(types, 1.0 / types);
  AreaOptimum area;
  double bound = -kInfinity;
  for (int round = 0; round < 1000; ++round) {
    Assignment found = assign(instance, weights);
    if (found.value > bound) {
      bound = found.value;
      area.weights = weights;
    }
    game.add_column(found.loads);
    points.push_back(std::move(found.x));
    game.solve();
    if (leq(game.value(), bound, 1e-3 * kExactTolerance)) break;
    weights = game.prices();
  }
  area.x = Table::Zero(instance.tasks(), types);
  for (std::size_t t = 0; t < points.size(); ++t)
    if (game.combination()[t] > 0) area.x += game.combination()[t] * points[t];
  area.value = game.value();
  return area;
}

}  // namespace

AreaOptimum balance_loads(const Instance& instance) {
  return instance.types() == 2 ? balance_two(instance) : balance_many(instance);
}

}  // namespace cosched::dags
