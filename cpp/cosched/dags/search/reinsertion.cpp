#include "cosched/dags/search/reinsertion.hpp"

namespace cosched::dags::search {

Reinsertion::Reinsertion(const Instance& instance, const PlaceDecoder& decoder)
    : instance_(instance),
      decoder_(decoder),
      least_time_(instance.tasks(), kInfinity),
      end_(instance.tasks()),
      tail_(instance.tasks()),
      position_(instance.tasks()),
      ready_by_data_(decoder.numbers().count()),
      tail_by_data_(decoder.numbers().count()) {
  for (int task = 0; task < instance.tasks(); ++task)
    for (int type = 0; type < instance.types(); ++type)
      if (instance.can_run(task, type))
        least_time_[task] = std::min(least_time_[task], instance.time(task, type));
}

double Reinsertion::insert(int task, int memory_unit, double blink, Rng& rng,
                           std::vector<int>& order, std::vector<int>& units) {
  const UnitNumbers& numbers = decoder_.numbers();
  const auto is_allowed_unit = [&](int unit) {
    return memory_unit < 0 || numbers.memory(unit) == numbers.memory(memory_unit);
  };
  if (memory_unit >= 0 && !instance_.can_run(task, numbers.place(memory_unit).type))
    memory_unit = -1;
  compute_paths(task, order, units);
  const int n = instance_.tasks(), count = numbers.count(), old_position = position_[task];
  int low = 0, high = n;
  for (const int other : instance_.graph().predecessors(task))
    low = std::max(low, position_[other] + 1);
  for (const int other : instance_.graph().successors(task))
    high = std::min(high, position_[other]);
  for (int unit = 0; unit < count; ++unit)
    if (is_allowed_unit(unit) && instance_.can_run(task, numbers.place(unit).type)) {
      ready_by_data_[unit] = ready_time(task, unit, units);
      tail_by_data_[unit] = tail_after(task, unit, units);
    } else {
      ready_by_data_[unit] = kInfinity;
    }
  unit_end_.assign(count, 0);
  unit_tail_.assign(count, 0);
  for (int k = 0; k < low; ++k)
    if (units[order[k]] >= 0) unit_end_[units[order[k]]] = end_[order[k]];
  for (int k = n - 1; k >= high; --k)
    if (units[order[k]] >= 0) unit_tail_[units[order[k]]] = tail_[order[k]];

  double shortest = kInfinity;
  int new_position = old_position;
  const auto try_place = [&](int unit, int place, double following) {
    if (ready_by_data_[unit] == kInfinity || (shortest < kInfinity && rng.uniform() < blink))
      return;
    const double length = std::max(ready_by_data_[unit], unit_end_[unit]) + duration(task, unit) +
                          std::max(tail_by_data_[unit], following);
    if (length >= shortest) return;
    shortest = length;
    units[task] = unit;
    new_position = place;
  };
  for (int k = low; k < high; ++k) {
    const int other = order[k], unit = units[other];
    if (k == old_position || unit < 0) continue;
    try_place(unit, k, tail_[other]);
    unit_end_[unit] = end_[other];
  }
  for (int unit = 0; unit < count; ++unit) try_place(unit, high, unit_tail_[unit]);
  const auto first = order.begin();
  if (new_position <= old_position)
    std::rotate(first + new_position, first + old_position, first + old_position + 1);
  else
    std::rotate(first + old_position, first + old_position + 1, first + new_position);
  return shortest;
}

double Reinsertion::ready_time(int task, int unit, const std::vector<int>& units) const {
  const int* edge = instance_.transfers().in_edges(task);
  double time = 0;
  for (const int predecessor : instance_.graph().predecessors(task))
    time = std::max(time, end_[predecessor] + transfer_seconds(*edge++, units[predecessor], unit));
  return time;
}

double Reinsertion::tail_after(int task, int unit, const std::vector<int>& units) const {
  int edge = instance_.transfers().first_out_edge(task);
  double time = 0;
  for (const int successor : instance_.graph().successors(task))
    time = std::max(time, tail_[successor] + transfer_seconds(edge++, unit, units[successor]));
  return time;
}

// Computes the paths of all other tasks, each unit taking its tasks in this order.
void Reinsertion::compute_paths(int task, const std::vector<int>& order,
                                const std::vector<int>& units) {
  const int n = instance_.tasks();
  end_[task] = tail_[task] = 0;
  unit_end_.assign(decoder_.numbers().count(), 0);
  unit_tail_ = unit_end_;
  for (int k = 0; k < n; ++k) {
    const int other = order[k], unit = units[other];
    position_[other] = k;
    if (other == task) continue;
    const double ready = std::max(ready_time(other, unit, units), unit < 0 ? 0 : unit_end_[unit]);
    end_[other] = ready + duration(other, unit);
    if (unit >= 0) unit_end_[unit] = end_[other];
  }
  for (int k = n - 1; k >= 0; --k) {
    const int other = order[k], unit = units[other];
    if (other == task) continue;
    const double tail = std::max(tail_after(other, unit, units), unit < 0 ? 0 : unit_tail_[unit]);
    tail_[other] = tail + duration(other, unit);
    if (unit >= 0) unit_tail_[unit] = tail_[other];
  }
}

}  // namespace cosched::dags::search
