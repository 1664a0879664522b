#include "cosched/cluster/batch/node_plan.hpp"

#include <algorithm>

namespace cosched::cluster::batch {
namespace {

Amounts sum(const Free& free) {
  Amounts total;
  for (const Amounts& one : free) total += one;
  return total;
}

}  // namespace

NodePlan::NodePlan(const Site& site) : site_(site), steps_{{0, sum(site.all()), site.all()}} {}

void NodePlan::reset(double now, std::vector<Busy> busy) {
  steps_.assign(1, {now, sum(site_.all()), site_.all()});
  for (const Busy& one : busy) change(now, one.end, *one.share, -1);
}

void NodePlan::advance(double now) {
  steps_.erase(steps_.begin(), steps_.begin() + static_cast<std::ptrdiff_t>(step_at(now)));
}

std::size_t NodePlan::step_at(double time) const {
  const auto after =
      std::upper_bound(steps_.begin(), steps_.end(), time,
                       [](double value, const Step& step) { return value < step.time; });
  return after == steps_.begin() ? 0 : static_cast<std::size_t>(after - steps_.begin()) - 1;
}

std::size_t NodePlan::border_at(double time) {
  const std::size_t step = step_at(time);
  if (steps_[step].time >= time) return step;
  Step made = steps_[step];
  made.time = time;
  steps_.insert(steps_.begin() + static_cast<std::ptrdiff_t>(step + 1), std::move(made));
  return step + 1;
}

void NodePlan::merge(std::size_t step) {
  if (step == 0 || step >= steps_.size()) return;
  if (steps_[step].total == steps_[step - 1].total && steps_[step].free == steps_[step - 1].free)
    steps_.erase(steps_.begin() + static_cast<std::ptrdiff_t>(step));
}

void NodePlan::change(double begin, double end, const Share& share, int sign) {
  begin = std::max(begin, steps_.front().time);
  if (!(begin < end)) return;
  const std::size_t first = border_at(begin), last = border_at(end);
  for (std::size_t k = first; k < last; ++k)
    for (const Piece& piece : share) {
      Amounts& free = steps_[k].free[piece.node];
      if (sign > 0) {
        free += piece.held;
        steps_[k].total += piece.held;
      } else {
        free -= piece.held;
        steps_[k].total -= piece.held;
      }
    }
  merge(last);
  merge(first);
}

bool NodePlan::room(double now, const Need& need, double before) const {
  for (std::size_t k = step_at(now); k < steps_.size() && steps_[k].time < before; ++k)
    if (fits(steps_[k], need)) return true;
  return false;
}

NodePlan::Slot NodePlan::earliest(double now, const Need& need, double length,
                                  double before) const {
  Slot slot{before, {}};
  for (std::size_t step = step_at(now); step < steps_.size(); ++step) {
    const double start = std::max(now, steps_[step].time);
    if (!(start < before)) return slot;
    if (!fits(steps_[step], need)) continue;
    Free free = steps_[step].free;
    std::size_t k = step + 1;
    for (; k < steps_.size() && steps_[k].time < start + length; ++k) {
      if (!fits(steps_[k], need)) break;  // so does no start whose run holds this step
      std::transform(free.begin(), free.end(), steps_[k].free.begin(), free.begin(), least);
    }
    if (k < steps_.size() && steps_[k].time < start + length) {
      step = k;
    } else if (site_.place(need, free, need.cells, 0, &slot.share)) {
      slot.start = start;
      return slot;
    }
  }
  slot.share.clear();
  return slot;
}

}  // namespace cosched::cluster::batch
