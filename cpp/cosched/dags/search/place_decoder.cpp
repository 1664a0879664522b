#include "cosched/dags/search/place_decoder.hpp"

namespace cosched::dags::search {

PlaceDecoder::PlaceDecoder(const Instance& instance)
    : instance_(instance),
      numbers_(instance),
      topological_position_(instance.tasks()),
      timelines_(numbers_.count()),
      start_(instance.tasks()),
      end_(instance.tasks()) {
  const std::vector<int>& order = instance.graph().order();
  for (std::size_t k = 0; k < order.size(); ++k)
    topological_position_[order[k]] = static_cast<int>(k);
  for (int edge = 0; edge < static_cast<int>(instance.transfers().data().size()); ++edge)
    for (int from = 0; from < instance.types(); ++from)
      for (int to = 0; to < instance.types(); ++to)
        remote_seconds_.push_back(instance.transfers().cost_between_memories(edge, from, to));
}

double PlaceDecoder::decode(const std::vector<int>& order, const std::vector<int>& units,
                            bool justify) {
  if (instance_.transfers().has_memory_limits()) return place_in_memories(order, units);
  const double makespan = place_all(order, units, false);
  if (!justify) return makespan;
  // Sorts by decreasing ends.  Of tasks that end together, one of length 0 comes before its
  // predecessor; otherwise the predecessor would occupy the time at which it fits.
  const auto sort_by_end = [&](std::vector<int>& tasks, int topology) {
    std::sort(tasks.begin(), tasks.end(), [&](int a, int b) {
      return std::tuple(-end_[a], -start_[a], topology * topological_position_[a]) <
             std::tuple(-end_[b], -start_[b], topology * topological_position_[b]);
    });
  };
  std::vector<int> order_by_time(order);
  sort_by_end(order_by_time, -1);
  place_all(order_by_time, units, true);
  sort_by_end(order_by_time, 1);
  return place_all(order_by_time, units, false);
}

std::vector<int> PlaceDecoder::order_by_start() const {
  std::vector<int> order(instance_.tasks());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return std::tuple(start_[a], end_[a], topological_position_[a]) <
           std::tuple(start_[b], end_[b], topological_position_[b]);
  });
  return order;
}

Plan PlaceDecoder::plan(const std::vector<int>& units) const {
  Plan plan(instance_.tasks());
  for (int task = 0; task < instance_.tasks(); ++task) {
    const Place place = numbers_.place(units[task]);
    plan.set(task, place.type, place.unit, start_[task], end_[task]);
  }
  return plan;
}

std::vector<int> PlaceDecoder::deciding_chain(const std::vector<int>& units) const {
  const auto last = std::max_element(end_.begin(), end_.end());
  std::vector<std::pair<double, int>> by_end;
  for (int task = 0; task < instance_.tasks(); ++task) by_end.emplace_back(end_[task], task);
  std::sort(by_end.begin(), by_end.end());
  std::vector<int> chain;
  int task = static_cast<int>(last - end_.begin());
  for (int steps = 0; task >= 0 && steps < instance_.tasks(); ++steps) {
    chain.push_back(task);
    int next = -1;
    const int* edge = instance_.transfers().in_edges(task);
    for (const int before : instance_.graph().predecessors(task)) {
      const double arrival = end_[before] + transfer_seconds(*edge, units[before], units[task]);
      if (arrival == start_[task]) next = before;
      ++edge;
    }
    if (next < 0)
      for (auto item = std::lower_bound(by_end.begin(), by_end.end(), std::pair(start_[task], -1));
           item != by_end.end() && item->first == start_[task]; ++item)
        if (units[item->second] == units[task] && start_[item->second] < start_[task])
          next = item->second;
    task = next;
  }
  return chain;
}

double PlaceDecoder::transfer_seconds(int edge, int from, int to) const {
  if (numbers_.memory(from) == numbers_.memory(to)) return 0;
  const int types = instance_.types();
  return remote_seconds_[(edge * types + numbers_.place(from).type) * types +
                         numbers_.place(to).type];
}

double PlaceDecoder::data_ready(int task, const std::vector<int>& units) const {
  const int* edge = instance_.transfers().in_edges(task);
  double time = 0;
  for (const int before : instance_.graph().predecessors(task))
    time = std::max(time, end_[before] + transfer_seconds(*edge++, units[before], units[task]));
  return time;
}

double PlaceDecoder::data_ready_backward(int task, const std::vector<int>& units) const {
  int edge = instance_.transfers().first_out_edge(task);
  double time = 0;
  for (const int after : instance_.graph().successors(task))
    time = std::max(time, end_[after] + transfer_seconds(edge++, units[task], units[after]));
  return time;
}

// Places the tasks as long as they fit into the memories; all others never start.
double PlaceDecoder::place_in_memories(const std::vector<int>& order,
                                       const std::vector<int>& units) {
  list::MemoryInsertion insertion(instance_);
  double makespan = 0;
  for (const int task : order) {
    const list::TaskSlot choice = makespan < kInfinity
                                      ? insertion.slot_on(task, numbers_.place(units[task]))
                                      : list::TaskSlot{};
    start_[task] = choice.start;
    end_[task] = choice.end;
    makespan = std::max(makespan, choice.end);
    if (choice.end < kInfinity) insertion.place(task, choice);
  }
  return makespan;
}

// Places all tasks in this order; returns the makespan.  If `backward`, edges are reversed and
// times run from the end of the schedule.
double PlaceDecoder::place_all(const std::vector<int>& order, const std::vector<int>& units,
                               bool backward) {
  for (const int task : order) timelines_[units[task]].clear();
  double makespan = 0;
  for (const int task : order) {
    const int unit = units[task];
    const double duration = instance_.time(task, numbers_.place(unit).type);
    start_[task] = timelines_[unit].earliest(
        backward ? data_ready_backward(task, units) : data_ready(task, units), duration);
    end_[task] = start_[task] + duration;
    timelines_[unit].occupy(start_[task], end_[task]);
    makespan = std::max(makespan, end_[task]);
  }
  return makespan;
}

}  // namespace cosched::dags::search
