#include "cosched/dags/list/timeline.hpp"

namespace cosched::dags::list {

void Timeline::occupy(double start, double end) {
  auto gap =
      std::partition_point(gaps_.begin(), gaps_.end(), [&](const Gap& g) { return g.end < end; });
  if (start < gap->begin) return;  // a task without length, on a joint
  const Gap before{gap->begin, start}, after{end, gap->end};
  if (!(before.begin < before.end)) add_joint(start);
  if (!(after.begin < after.end)) add_joint(end);
  const bool keeps_before = can_hold_tasks(before), keeps_after = can_hold_tasks(after);
  if (keeps_before && keeps_after) {
    *gap = before;
    gaps_.insert(gap + 1, after);
  } else if (keeps_before) {
    *gap = before;
  } else if (keeps_after) {
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

}  // namespace cosched::dags::list
