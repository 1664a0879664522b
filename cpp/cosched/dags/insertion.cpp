#include "cosched/dags/insertion.hpp"

#include <algorithm>

namespace cosched::dags {

double Timeline::earliest(double ready, double duration) const {
  const double in_gap = std::max(ready, first_fit(ready, duration)->begin);
  if (duration > 0) return in_gap;
  const auto joint = std::lower_bound(joints_.begin(), joints_.end(), ready);
  return joint == joints_.end() ? in_gap : std::min(in_gap, *joint);
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

// Gaps that end before ready + duration cannot hold the task; the rest may be too short.
const Timeline::Gap* Timeline::first_fit(double ready, double duration) const {
  const Gap* gap = std::partition_point(gaps_.data(), gaps_.data() + gaps_.size() - 1,
                                        [&](const Gap& g) { return g.end < ready + duration; });
  while (std::max(ready, gap->begin) + duration > gap->end) ++gap;  // the last one is endless
  return gap;
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
Choice Insertion::best_on(int task, int type) const {
  const double duration = instance_.time(task, type);
  const Arrival ready = arrival(instance_, plan_, task, type);
  const std::vector<Timeline>& units = units_[type];
  Choice best;
  const auto look = [&](int unit, double from) {
    const double start = units[unit].earliest(from, duration);
    if (start < best.start || (start == best.start && unit < best.unit))
      best = {start + duration, start, type, unit};
    return start;
  };
  const Transfers& transfers = instance_.transfers();
  if (ready.memory != kNoMemory)
    transfers.each_unit(type, ready.memory, [&](int unit) {
      if (unit < static_cast<int>(units.size())) look(unit, ready.home);
    });
  if (best.start < ready.elsewhere) return best;
  for (int unit = 0; unit < static_cast<int>(units.size()); ++unit) {
    if (ready.memory != kNoMemory && transfers.memory({type, unit}) == ready.memory) continue;
    if (look(unit, ready.elsewhere) == ready.elsewhere) break;
  }
  return best;
}

Choice Insertion::best(int task, const Allocation* allocation) const {
  Choice best;
  for (int type = 0; type < instance_.types(); ++type) {
    if (!instance_.can_run(task, type) || (allocation && (*allocation)[task] != type)) continue;
    const Choice choice = best_on(task, type);
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

}  // namespace cosched::dags
