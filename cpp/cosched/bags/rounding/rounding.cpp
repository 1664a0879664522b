#include "cosched/bags/rounding/rounding.hpp"

#include "cosched/core/errors.hpp"
#include "cosched/opt/min_cost_flow.hpp"

namespace cosched::bags::rounding {
namespace {

using std::to_string;

// How far the shares of a row may be from what they should sum to: tables from outside are rounded
// to six digits.
constexpr double kRowTolerance = 1e-6;

// Counts this close to an integer are that integer.  The second term is what doubles can tell apart
// at large counts.
double snap_tolerance(double value) { return kExactTolerance + 1e-15 * value; }

void check_row(const Instance& instance, const Table& x, int i) {
  double sum = 0;
  for (int j = 0; j < instance.machine_types(); ++j) {
    const bool closed = !instance.is_allowed(i, j) && x(i, j) != 0;
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

SlotGraph make_slot_graph(const Instance& instance, const Table& part) {
  SlotGraph graph;
  for (int j = 0; j < instance.machine_types(); ++j) {
    double slot_fill = 1;  // of the newest slot; a full one to begin with
    for (const int i : fractional_types(instance, part, j)) {
      double remaining_part = part(i, j);
      while (remaining_part > 0) {
        if (slot_fill >= 1) {
          slot_fill = 0;
          ++graph.slots;
        }
        graph.arcs.push_back({i, instance.types() + graph.slots - 1, 1, instance.joules(i, j)});
        graph.pair.emplace_back(i, j);
        const double free_tasks = 1 - slot_fill;
        // A remainder that is rounding does not open a slot of its own.
        const bool fits = remaining_part <= free_tasks + kSumTolerance;
        slot_fill = fits ? std::min(1.0, slot_fill + remaining_part) : 1;
        remaining_part = fits ? 0 : remaining_part - free_tasks;
      }
    }
  }
  const int sink = instance.types() + graph.slots;
  for (int s = 0; s < graph.slots; ++s) graph.arcs.push_back({instance.types() + s, sink, 1, 0});
  return graph;
}

}  // namespace

FractionalSplit split_fractions(const Instance& instance, const Table& x) {
  const int types = instance.types(), machines = instance.machine_types();
  if (x.rows() != types || x.cols() != machines)
    throw InvalidInstance("x has shape (" + to_string(x.rows()) + ", " + to_string(x.cols()) +
                          "): expected (" + to_string(types) + ", " + to_string(machines) + ")");
  FractionalSplit result{Counts(types, machines), Table(types, machines), {}};
  for (int i = 0; i < types; ++i) {
    check_row(instance, x, i);
    int largest = 0;
    for (int j = 1; j < machines; ++j)
      if (x(i, j) > x(i, largest)) largest = j;
    std::int64_t remaining_part = instance.count(i);
    double parts = 0;
    const auto round_entry = [&](int j, double value) {
      const double floor = std::floor(value + snap_tolerance(value));
      const double part = value - floor;
      result.whole_counts(i, j) = static_cast<std::int64_t>(floor);
      result.parts(i, j) = part <= snap_tolerance(value) ? 0 : part;
      remaining_part -= result.whole_counts(i, j);
    };
    for (int j = 0; j < machines; ++j) {
      if (j == largest) continue;
      round_entry(j, x(i, j));
      parts += result.parts(i, j);
    }
    round_entry(largest, std::max(static_cast<double>(remaining_part) - parts, 0.0));
    result.remaining.push_back(remaining_part);
  }
  return result;
}

Counts round_by_matching(const Instance& instance, const Table& x) {
  FractionalSplit fractional = split_fractions(instance, x);
  const SlotGraph graph = make_slot_graph(instance, fractional.parts);
  std::vector<std::int64_t> supply(instance.types() + graph.slots + 1, 0);
  std::copy(fractional.remaining.begin(), fractional.remaining.end(), supply.begin());
  supply.back() =
      -std::accumulate(fractional.remaining.begin(), fractional.remaining.end(), std::int64_t{0});
  const auto flow = opt::min_cost_flow(supply, graph.arcs);
  if (!flow) throw SolverError("Algorithm A: no b-matching; x is not a fractional assignment");
  for (std::size_t a = 0; a < graph.pair.size(); ++a)
    fractional.whole_counts(graph.pair[a].first, graph.pair[a].second) += (*flow)[a];
  return fractional.whole_counts;
}

Counts round_by_largest_part(const Instance& instance, const Table& x) {
  FractionalSplit fractional = split_fractions(instance, x);
  std::vector<int> order(instance.machine_types());
  for (int i = 0; i < instance.types(); ++i) {
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return fractional.parts(i, a) > fractional.parts(i, b); });
    for (std::int64_t k = 0; k < fractional.remaining[i]; ++k)
      ++fractional.whole_counts(i, order[k]);
  }
  return fractional.whole_counts;
}

}  // namespace cosched::bags::rounding
