#include "cosched/bags/rounding/rounding.hpp"

#include <functional>
#include <queue>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/order.hpp"
#include "cosched/opt/min_cost_flow.hpp"

namespace cosched::bags::rounding {
namespace {

using std::to_string;

constexpr double kRowTolerance = 1e-6;

double snap(double value) { return 1e-9 + 1e-15 * value; }

void check_row(const Instance& instance, const Table& x, int i) {
  double sum = 0;
  for (int j = 0; j < instance.machine_types(); ++j) {
    const bool closed = !instance.allowed(i, j) && x(i, j) != 0;
    if (!(x(i, j) >= 0) || x(i, j) == kInfinity || closed)
      throw InvalidInstance(
          "x[" + to_string(i) + ", " + to_string(j) + "] = " + to_text(x(i, j)) +
          (closed ? ": expected 0, the pair is closed" : ": expected a finite number >= 0"));
    sum += x(i, j);
  }
  const auto n = static_cast<double>(instance.count(i));
  if (std::abs(sum - n) > kRowTolerance * std::max(n, 1.0))
    throw InvalidInstance("x[" + to_string(i) + "] sums to " + to_text(sum) + ": expected counts[" +
                          to_string(i) + "] = " + to_string(instance.count(i)));
}

// Task types with a fractional part on machine type j, in order of falling ETC; ties: the lowest.
std::vector<int> fractional_types(const Instance& instance, const Table& part, int j) {
  std::vector<int> order;
  for (int i = 0; i < instance.types(); ++i)
    if (part(i, j) > 0) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return instance.etc(a, j) > instance.etc(b, j); });
  return order;
}

// The bipartite graph B(x): nodes 0..T-1 are task types, then a node a slot, then the sink.
struct SlotGraph {
  std::vector<opt::FlowArc> arcs;         // type -> slot, then slot -> sink
  std::vector<std::pair<int, int>> pair;  // (i, j) of the arcs type -> slot
  int slots = 0;
};

SlotGraph slot_graph(const Instance& instance, const Table& part) {
  SlotGraph graph;
  for (int j = 0; j < instance.machine_types(); ++j) {
    double filled = 1;  // of the newest slot; a full one to begin with
    for (const int i : fractional_types(instance, part, j)) {
      double rest = part(i, j);
      while (rest > 0) {
        if (filled >= 1) {
          filled = 0;
          ++graph.slots;
        }
        graph.arcs.push_back({i, instance.types() + graph.slots - 1, 1, instance.joules(i, j)});
        graph.pair.emplace_back(i, j);
        const double room = 1 - filled;
        // A remainder that is rounding does not open a slot of its own.
        const bool fits = rest <= room + 1e-12;
        filled = fits ? std::min(1.0, filled + rest) : 1;
        rest = fits ? 0 : rest - room;
      }
    }
  }
  const int sink = instance.types() + graph.slots;
  for (int s = 0; s < graph.slots; ++s) graph.arcs.push_back({instance.types() + s, sink, 1, 0});
  return graph;
}

}  // namespace

Split split(const Instance& instance, const Table& x) {
  const int types = instance.types(), machines = instance.machine_types();
  if (x.rows() != types || x.cols() != machines)
    throw InvalidInstance("x has shape (" + to_string(x.rows()) + ", " + to_string(x.cols()) +
                          "): expected (" + to_string(types) + ", " + to_string(machines) + ")");
  Split result{Counts(types, machines), Table(types, machines), {}};
  for (int i = 0; i < types; ++i) {
    check_row(instance, x, i);
    int largest = 0;
    for (int j = 1; j < machines; ++j)
      if (x(i, j) > x(i, largest)) largest = j;
    std::int64_t rest = instance.count(i);
    double parts = 0;
    const auto take = [&](int j, double value) {
      const double floor = std::floor(value + snap(value));
      const double part = value - floor;
      result.whole(i, j) = static_cast<std::int64_t>(floor);
      result.part(i, j) = part <= snap(value) ? 0 : part;
      rest -= result.whole(i, j);
    };
    for (int j = 0; j < machines; ++j) {
      if (j == largest) continue;
      take(j, x(i, j));
      parts += result.part(i, j);
    }
    take(largest, std::max(static_cast<double>(rest) - parts, 0.0));
    result.left.push_back(rest);
  }
  return result;
}

Counts round_by_matching(const Instance& instance, const Table& x) {
  Split pieces = split(instance, x);
  const SlotGraph graph = slot_graph(instance, pieces.part);
  std::vector<std::int64_t> supply(instance.types() + graph.slots + 1, 0);
  std::copy(pieces.left.begin(), pieces.left.end(), supply.begin());
  supply.back() = -std::accumulate(pieces.left.begin(), pieces.left.end(), std::int64_t{0});
  const auto flow = opt::min_cost_flow(supply, graph.arcs);
  if (!flow) throw SolverError("Algorithm A: no b-matching; x is not a fractional assignment");
  for (std::size_t a = 0; a < graph.pair.size(); ++a)
    pieces.whole(graph.pair[a].first, graph.pair[a].second) += (*flow)[a];
  return pieces.whole;
}

Counts round_by_largest_part(const Instance& instance, const Table& x) {
  Split pieces = split(instance, x);
  std::vector<int> order(instance.machine_types());
  for (int i = 0; i < instance.types(); ++i) {
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return pieces.part(i, a) > pieces.part(i, b); });
    for (std::int64_t k = 0; k < pieces.left[i]; ++k) ++pieces.whole(i, order[k]);
  }
  return pieces.whole;
}

double water_level(const std::vector<double>& loads, double work) {
  std::vector<double> below = loads;  // S
  for (;;) {
    const double sum = std::accumulate(below.begin(), below.end(), 0.0);
    const double level = (sum + work) / static_cast<double>(below.size());
    const auto end =
        std::remove_if(below.begin(), below.end(), [&](double load) { return load >= level; });
    // Dropping a load >= level lowers the level; where all of S is at it, it is the level.
    if (end == below.end() || end == below.begin()) return level;
    below.erase(end, below.end());
  }
}

std::vector<std::int64_t> spread(std::vector<double>& loads, std::int64_t count, double length) {
  check_interrupt();
  const double level = water_level(loads, static_cast<double>(count) * length);
  std::vector<std::int64_t> taken(loads.size(), 0);
  std::int64_t left = count;
  for (std::size_t k = 0; k < loads.size() && left > 0; ++k) {
    // Rounded down by more than the division's rounding error: one task less at once is LPT too.
    const double room = (level - loads[k]) / length;
    const double whole = std::floor(room * (1 - 1e-12) - 1e-9);
    if (whole < 1) continue;
    taken[k] = whole < static_cast<double>(left) ? static_cast<std::int64_t>(whole) : left;
    left -= taken[k];
  }
  const auto end_of = [&](std::size_t k) {
    return loads[k] + static_cast<double>(taken[k]) * length;
  };
  using Slot = std::pair<double, std::size_t>;
  std::vector<Slot> slots;
  for (std::size_t k = 0; k < loads.size(); ++k) slots.emplace_back(end_of(k), k);
  std::priority_queue<Slot, std::vector<Slot>, std::greater<>> free(std::greater<>{},
                                                                    std::move(slots));
  Poll poll;
  for (; left > 0; --left) {
    poll.count(50);
    const std::size_t k = free.top().second;
    free.pop();
    ++taken[k];
    free.emplace(end_of(k), k);
  }
  for (std::size_t k = 0; k < loads.size(); ++k) loads[k] = end_of(k);
  return taken;
}

std::vector<int> longest_first(const Instance& instance, int j) {
  return sorted_numbers(instance.types(),
                        [&](int a, int b) { return instance.etc(a, j) > instance.etc(b, j); });
}

namespace {

using std::to_string;

void check_counts(const Instance& instance, const Counts& counts) {
  if (counts.rows() != instance.types() || counts.cols() != instance.machine_types())
    throw InvalidInstance("counts has shape (" + to_string(counts.rows()) + ", " +
                          to_string(counts.cols()) + "): expected (" + to_string(instance.types()) +
                          ", " + to_string(instance.machine_types()) + ")");
  for (int i = 0; i < instance.types(); ++i) {
    std::int64_t left = instance.count(i);
    for (int j = 0; j < instance.machine_types(); ++j) {
      const std::int64_t n = counts(i, j);
      if (n < 0 || n > left || (n > 0 && !instance.allowed(i, j)))
        throw InvalidInstance("counts[" + to_string(i) + ", " + to_string(j) +
                              "] = " + to_string(n) + ": expected 0.." +
                              to_string(instance.allowed(i, j) ? left : 0) + " of the " +
                              to_string(instance.count(i)) + " tasks");
      left -= n;
    }
    if (left > 0)
      throw InvalidInstance("counts[" + to_string(i) + "] leaves " + to_string(left) + " of " +
                            to_string(instance.count(i)) + " tasks without a machine type");
  }
}

std::vector<std::int64_t> column(const Counts& counts, int j) {
  std::vector<std::int64_t> result(counts.rows());
  for (std::ptrdiff_t i = 0; i < counts.rows(); ++i) result[i] = counts(i, j);
  return result;
}

}  // namespace

Plan make_plan(const Instance& instance, const Counts& counts) {
  check_counts(instance, counts);
  Plan plan;
  plan.counts = counts;
  for (int j = 0; j < instance.machine_types(); ++j) {
    std::vector<std::vector<Run>> of_machine(instance.machines(j));
    plan.loads.push_back(assign_locally(
        instance, j, column(counts, j), [&](int i, const std::vector<std::int64_t>& taken) {
          for (std::size_t k = 0; k < taken.size(); ++k)
            if (taken[k] > 0) of_machine[k].push_back({i, j, static_cast<int>(k), taken[k]});
        }));
    for (const std::vector<Run>& runs : of_machine)
      plan.runs.insert(plan.runs.end(), runs.begin(), runs.end());
  }
  return evaluated(instance, std::move(plan));
}

double profit_rate_of(const Instance& instance, const Counts& counts) {
  const double joules = joules_of(instance, counts);
  double makespan = instance.least_period(joules);
  for (int j = 0; j < instance.machine_types(); ++j)
    for (const double load :
         assign_locally(instance, j, column(counts, j), [](int, const auto&) {}))
      makespan = std::max(makespan, load);
  return instance.profit_rate(joules, makespan);
}

}  // namespace cosched::bags::rounding
