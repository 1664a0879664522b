#include "cosched/dags/hlp/bounds.hpp"

#include "cosched/core/interrupt.hpp"
#include "cosched/opt/matrix_game.hpp"

namespace cosched::dags::hlp {

double area_bound(const Instance& instance) {
  const AreaOptimum area = balance_loads(instance);
  // What the weights prove, not what x reaches: a bound in spite of rounding.
  double bound = 0;
  for (int task = 0; task < instance.tasks(); ++task) {
    double least = kInfinity;
    for (int type = 0; type < instance.types(); ++type)
      if (instance.can_run(task, type))
        least =
            std::min(least, instance.time(task, type) * area.weights[type] / instance.units(type));
    bound += least;
  }
  return bound;
}

double critical_path_bound(const Instance& instance) {
  std::vector<double> duration;
  for (int task = 0; task < instance.tasks(); ++task)
    duration.push_back(instance.time(task, instance.fastest(task)));
  const std::vector<double> end = earliest_ends(instance.graph(), duration);
  return *std::max_element(end.begin(), end.end());
}

double memory_bound(const Instance& instance) {
  constexpr int kPaths = 2000;  // tasks
  const Transfers& transfers = instance.transfers();
  if (!transfers.limited()) return 0;
  std::map<std::int64_t, double> capacity;
  for (int type = 0; type < instance.types(); ++type)
    for (int unit = 0; unit < instance.units(type); ++unit)
      capacity[transfers.memory({type, unit})] = transfers.capacity({type, unit});
  double room = 0;
  for (const auto& [memory, bytes] : capacity) room += bytes;
  if (room == kInfinity || room <= 0) return 0;
  const TaskGraph& graph = instance.graph();
  std::vector<double> least(instance.tasks());
  for (int task = 0; task < instance.tasks(); ++task)
    least[task] = instance.time(task, instance.fastest(task));
  double need = 0;                            // bytes x seconds
  std::vector<double> end(instance.tasks());  // of the longest path from the begin of a task
  for (int first = 0; first < instance.tasks(); ++first) {
    int edge = transfers.first_out(first);
    if (instance.tasks() <= kPaths && graph.successors(first).size() > 0) {
      check_interrupt();
      std::fill(end.begin(), end.end(), -kInfinity);
      end[first] = least[first];
      for (const int task : graph.order())
        for (const int next : graph.successors(task))
          end[next] = std::max(end[next], end[task] + least[next]);
    }
    for (const int next : graph.successors(first))
      need += transfers.data()[edge++] *
              (instance.tasks() <= kPaths ? end[next] : least[first] + least[next]);
  }
  return need / room * (1 - kExactTolerance);  // a bound in spite of rounding
}

namespace {

struct Assignment {
  double value = 0;  // of the weighted loads
  Table x;
  std::vector<double> loads;
};

// Every task on the type with the least weighted time p_jq w_q / m_q (equal: the least
// time, then the lowest type).
Assignment assign(const Instance& instance, const std::vector<double>& weights) {
  Assignment best{0, Table(instance.tasks(), instance.types()),
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

// A task that may move from the CPUs to the GPUs; loads p / m and g / k.
struct Movable {
  double key;  // -p / g: -infinity where the GPU needs no time
  int task;
  double cpu, gpu;
  bool operator<(const Movable& other) const {
    return key != other.key ? key < other.key : task < other.task;
  }
};

// Q = 2: a fractional knapsack.  Tasks move from the CPUs to the GPUs by decreasing
// p_cpu / p_gpu until the loads meet, one task in part.  It is found as a quantile is: by halves,
// O(n) on average.
AreaOptimum balance_two(const Instance& instance) {
  const double m = instance.units(0), k = instance.units(1);
  AreaOptimum area{0, {1, 0}, Table(instance.tasks(), 2)};
  std::vector<Movable> movable;
  movable.reserve(instance.tasks());
  double cpu = 0, gpu = 0;
  for (int task = 0; task < instance.tasks(); ++task) {
    const double p = instance.time(task, 0), g = instance.time(task, 1);
    const bool only_gpu = p == kInfinity;
    area.x(task, 0) = only_gpu ? 0 : 1;
    area.x(task, 1) = only_gpu ? 1 : 0;
    (only_gpu ? gpu : cpu) += only_gpu ? g / k : p / m;
    if (!only_gpu && p > 0 && g < kInfinity) movable.push_back({-p / g, task, p / m, g / k});
  }
  if (gpu > cpu) area.weights = {0, 1};                // one side alone, where nothing balances it
  auto first = movable.begin(), last = movable.end();  // those before `first` have moved
  while (last - first > 1) {
    const auto middle = first + (last - first) / 2;
    std::nth_element(first, middle, last);
    double less = 0, more = 0;
    for (auto item = first; item != middle; ++item) {
      less += item->cpu;
      more += item->gpu;
    }
    if (gpu + more >= cpu - less) {
      last = middle;
      continue;
    }
    cpu -= less;
    gpu += more;
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
