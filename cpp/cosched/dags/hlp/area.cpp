#include "cosched/dags/hlp/area.hpp"

#include "cosched/core/interrupt.hpp"
#include "cosched/opt/matrix_game.hpp"

namespace cosched::dags::hlp {

double area_bound(const Instance& instance) {
  const AreaOptimum optimum = balance_loads(instance);
  // What the weights prove, not what x reaches: a bound in spite of rounding.
  double bound = 0;
  for (int task = 0; task < instance.tasks(); ++task) {
    double least = kInfinity;
    for (int type = 0; type < instance.types(); ++type)
      if (instance.can_run(task, type))
        least = std::min(least,
                         instance.time(task, type) * optimum.weights[type] / instance.units(type));
    bound += least;
  }
  return bound;
}

namespace {

struct LoadAssignment {
  double value = 0;  // of the weighted loads
  Table x;
  std::vector<double> loads;
};

// Every task on the type with the least weighted time p_jq w_q / m_q (equal: the least
// time, then the lowest type).
LoadAssignment assign(const Instance& instance, const std::vector<double>& weights) {
  LoadAssignment best{0, Table(instance.tasks(), instance.types()),
                      std::vector<double>(instance.types(), 0.0)};
  for (int task = 0; task < instance.tasks(); ++task) {
    int best_type = -1;
    double least = kInfinity;
    for (int type = 0; type < instance.types(); ++type) {
      if (!instance.can_run(task, type)) continue;
      const double value = instance.time(task, type) * weights[type] / instance.units(type);
      if (value < least ||
          (value == least && instance.time(task, type) < instance.time(task, best_type))) {
        least = value;
        best_type = type;
      }
    }
    best.value += least;
    best.x(task, best_type) = 1;
    best.loads[best_type] += instance.time(task, best_type) / instance.units(best_type);
  }
  return best;
}

// A task that may move from the CPUs to the GPUs, with its loads p / m and g / k.
struct MovableTask {
  double key;  // -p / g; -infinity where the GPU needs no time
  int task;
  double cpu, gpu;
  bool operator<(const MovableTask& other) const {
    return key != other.key ? key < other.key : task < other.task;
  }
};

// Q = 2: a fractional knapsack.  Tasks move from the CPUs to the GPUs by decreasing
// p_cpu / p_gpu until the loads meet, one task in part.  That task is found by bisection with
// std::nth_element, as a quantile is: O(n) on average.
AreaOptimum balance_two(const Instance& instance) {
  const double m = instance.units(0), k = instance.units(1);
  AreaOptimum area{0, {1, 0}, Table(instance.tasks(), 2)};
  std::vector<MovableTask> movable;
  movable.reserve(instance.tasks());
  double cpu = 0, gpu = 0;
  for (int task = 0; task < instance.tasks(); ++task) {
    const double p = instance.time(task, 0), g = instance.time(task, 1);
    const bool only_gpu = p == kInfinity;
    area.x(task, 0) = only_gpu ? 0 : 1;
    area.x(task, 1) = only_gpu ? 1 : 0;
    if (only_gpu)
      gpu += g / k;
    else
      cpu += p / m;
    if (!only_gpu && p > 0 && g < kInfinity) movable.push_back({-p / g, task, p / m, g / k});
  }
  if (gpu > cpu) area.weights = {0, 1};  // one load is the greater even when no task moves
  auto first = movable.begin(), end = movable.end();  // tasks before `first` have moved
  while (end - first > 1) {
    const auto middle = first + (end - first) / 2;
    std::nth_element(first, middle, end);
    double cpu_moved = 0, gpu_added = 0;
    for (auto item = first; item != middle; ++item) {
      cpu_moved += item->cpu;
      gpu_added += item->gpu;
    }
    if (gpu + gpu_added >= cpu - cpu_moved) {
      end = middle;
      continue;
    }
    cpu -= cpu_moved;
    gpu += gpu_added;
    for (; first != middle; ++first) {
      area.x(first->task, 0) = 0;
      area.x(first->task, 1) = 1;
    }
  }
  if (first != movable.end() && gpu <= cpu) {  // equal at once: prices from the first task
    const double p = first->cpu, g = first->gpu;
    const double part = std::min(1.0, (cpu - gpu) / (p + g));
    cpu -= part * p;
    gpu += part * g;
    area.x(first->task, 0) = 1 - part;
    area.x(first->task, 1) = part;
    // p w_cpu = g w_gpu at the task where the loads meet.
    if (gpu >= cpu || part < 1) area.weights = {g / (p + g), p / (p + g)};
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
    check_interrupt();
    LoadAssignment assignment = assign(instance, weights);
    if (assignment.value > bound) {
      bound = assignment.value;
      area.weights = weights;
    }
    game.add_column(assignment.loads);
    points.push_back(std::move(assignment.x));
    game.solve();
    constexpr double kGap = 1e-3 * kExactTolerance;  // what is built on the bound needs no slack
    if (leq(game.value(), bound, kGap)) break;
    weights = game.prices();
  }
  area.x = Table(instance.tasks(), types);
  for (std::size_t t = 0; t < points.size(); ++t)
    if (game.combination()[t] > 0) area.x.add(game.combination()[t], points[t]);
  area.value = game.value();
  return area;
}

}  // namespace

AreaOptimum balance_loads(const Instance& instance) {
  return instance.types() == 2 ? balance_two(instance) : balance_many(instance);
}

}  // namespace cosched::dags::hlp
