#include "cosched/dags/list/insertion.hpp"

namespace cosched::dags::list {

Arrival arrival(const Instance& instance, const Plan& plan, int task, int type) {
  const TaskGraph::Range before = instance.graph().predecessors(task);
  const Transfers& transfers = instance.transfers();
  Arrival found;
  if (transfers.free()) {
    for (const int i : before) found.elsewhere = std::max(found.elsewhere, plan.end[i]);
    return found;
  }
  const int* edges = transfers.in_edges(task);
  std::int64_t latest = kNoMemory;  // from where the last data comes
  double others = 0;                // when all that is not there has come
  for (int k = 0; k < before.size(); ++k) {
    const int i = before.first[k];
    const std::int64_t memory = transfers.memory({plan.kind[i], plan.unit[i]});
    const double remote = plan.end[i] + transfers.remote(edges[k], plan.kind[i], type);
    if (memory == latest) {
      found.elsewhere = std::max(found.elsewhere, remote);
    } else if (remote > found.elsewhere || latest == kNoMemory) {
      others = found.elsewhere;
      found.elsewhere = remote;
      latest = memory;
    } else {
      others = std::max(others, remote);
    }
  }
  found.home = others;
  for (const int i : before)
    if (transfers.memory({plan.kind[i], plan.unit[i]}) == latest)
      found.home = std::max(found.home, plan.end[i]);
  if (transfers.holds_all(latest, type))
    found.elsewhere = found.home;
  else if (found.home < found.elsewhere)
    found.memory = latest;
  return found;
}

double arrival_at(const Instance& instance, const Plan& plan, int task, Place place) {
  const TaskGraph::Range before = instance.graph().predecessors(task);
  const Transfers& transfers = instance.transfers();
  double ready = 0;
  for (int k = 0; k < before.size(); ++k) {
    const int i = before.first[k];
    const double cost = transfers.free() ? 0
                                         : transfers.cost(transfers.in_edges(task)[k],
                                                          {plan.kind[i], plan.unit[i]}, place);
    ready = std::max(ready, plan.end[i] + cost);
  }
  return ready;
}

int useful_units(const Instance& instance, int type) {
  const bool given = !instance.transfers().free() &&
                     instance.transfers().links().memories.kind == Memories::Kind::given;
  return given ? instance.units(type) : std::min(instance.units(type), instance.tasks());
}

std::vector<double> ranks_with_transfers(const Instance& instance,
                                         const std::vector<double>& duration) {
  const TaskGraph& graph = instance.graph();
  const Transfers& transfers = instance.transfers();
  if (transfers.free()) return ranks(graph, duration);
  std::vector<double> rank(graph.tasks());
  for (auto it = graph.order().rbegin(); it != graph.order().rend(); ++it) {
    double after = 0;
    int edge = transfers.first_out(*it);
    for (const int next : graph.successors(*it))
      after = std::max(after, transfers.mean_cost(edge++) + rank[next]);
    rank[*it] = duration[*it] + after;
  }
  return rank;
}

void Timeline::occupy(double start, double end) {
  auto gap =
      std::partition_point(gaps_.begin(), gaps_.end(), [&](const Gap& g) { return g.end < end; });
  if (start < gap->begin) return;  // a task without length, on a joint
  const Gap before{gap->begin, start}, after{end, gap->end};
  if (!(before.begin < before.end)) add_joint(start);
  if (!(after.begin < after.end)) add_joint(end);
  if (before.begin < before.end && after.begin < after.end) {
    *gap = before;
    gaps_.insert(gap + 1, after);
  } else if (before.begin < before.end) {
    *gap = before;
  } else if (after.begin < after.end) {
    *gap = after;
  } else {
    gaps_.erase(gap);
  }
}

void Timeline::clear() {
  gaps_.assign(1, {0, kInfinity});
  joints_.clear();
}

void Timeline::add_joint(double time) {
  joints_.insert(std::upper_bound(joints_.begin(), joints_.end(), time), time);
}

Insertion::Insertion(const Instance& instance)
    : instance_(instance), plan_(instance.tasks()), units_(instance.types()) {
  for (int type = 0; type < instance.types(); ++type)
    units_[type].resize(useful_units(instance, type));
}

// All units of a type need the same time, so the earliest start wins.
Choice Insertion::best_on(int task, int type, const Arrival& ready) const {
  const double duration = instance_.time(task, type);
  const std::vector<Timeline>& units = units_[type];
  const int count = static_cast<int>(units.size());
  double first = kInfinity;
  int chosen = -1;
  const auto look = [&](int unit, double start) {
    if (start < first || (start == first && unit < chosen)) {
      first = start;
      chosen = unit;
    }
  };
  if (ready.memory != kNoMemory)
    instance_.transfers().each_unit(type, ready.memory, [&](int unit) {
      if (unit < count) look(unit, units[unit].earliest(ready.home, duration));
    });
  // On the units above this is no earlier than what they have offered.
  if (first >= ready.elsewhere)
    for (int unit = 0; unit < count; ++unit) {
      const double start = units[unit].earliest(ready.elsewhere, duration);
      look(unit, start);
      if (start == ready.elsewhere) break;
    }
  return {first + duration, first, type, chosen};
}

Choice Insertion::best(int task, const Allocation* allocation) const {
  Choice best;
  const bool alike = instance_.transfers().free();  // of the types: all data is everywhere
  Arrival ready;
  if (alike) ready = arrival(instance_, plan_, task, 0);
  for (int type = 0; type < instance_.types(); ++type) {
    if (!instance_.can_run(task, type) || (allocation && (*allocation)[task] != type)) continue;
    if (!alike) ready = arrival(instance_, plan_, task, type);
    const Choice choice = best_on(task, type, ready);
    if (choice.end <= best.end) best = choice;
  }
  return best;
}

Choice Insertion::on(int task, Place place) const {
  const double duration = instance_.time(task, place.type);
  const double start =
      units_[place.type][place.unit].earliest(arrival_at(instance_, plan_, task, place), duration);
  return {start + duration, start, place.type, place.unit};
}

void Insertion::place(int task, const Choice& choice) {
  units_[choice.type][choice.unit].occupy(choice.start, choice.end);
  plan_.set(task, choice.type, choice.unit, choice.start, choice.end);
}

}  // namespace cosched::dags::list
