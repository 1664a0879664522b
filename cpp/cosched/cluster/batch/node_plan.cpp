#include "cosched/cluster/batch/node_plan.hpp"

#include <algorithm>

namespace cosched::cluster::batch {
namespace {

Amounts sum(const Free& free) {
  Amounts total;
  for (const Amounts& one : free) total += one;
  return total;
}

Amounts greatest(const Amounts& a, const Amounts& b) {
  return {std::max(a.memory, b.memory), std::max(a.cores, b.cores), std::max(a.gpus, b.gpus)};
}

Amounts greatest(const Free& free) {
  Amounts most;
  for (const Amounts& one : free) most = greatest(most, one);
  return most;
}

}  // namespace

NodePlan::NodePlan(const Site& site) : site_(site) { reset(0, {}); }

void NodePlan::reset(double now, std::vector<Busy> busy) {
  const Free all = site_.all();
  steps_.assign(1, {now, sum(all), all, greatest(all), true});
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
        steps_[k].most = greatest(steps_[k].most, free);
      } else {
        free -= piece.held;
        steps_[k].total -= piece.held;
        steps_[k].exact = false;
      }
    }
  merge(last);
  merge(first);
}

bool NodePlan::fits(const Step& step, const Need& need) const {
  if (need.parts == 0) return step.total.holds(need.each) && site_.holds(need, step.free);
  if (step.total.cores < need.each.cores * need.parts + need.larger) return false;
  if (!step.most.holds(need.each)) return false;
  if (!step.exact) {
    step.most = greatest(step.free);
    step.exact = true;
    if (!step.most.holds(need.each)) return false;
  }
  return site_.holds(need, step.free);
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
    const auto in_run = [&](std::size_t k) {
      return k < steps_.size() && steps_[k].time < start + length;
    };
    std::size_t k = step + 1;
    while (in_run(k) && fits(steps_[k], need)) ++k;
    if (in_run(k)) {
      step = k;  // no start whose run holds this step
      continue;
    }
    Free free = steps_[step].free;
    for (std::size_t other = step + 1; other < k; ++other)
      std::transform(free.begin(), free.end(), steps_[other].free.begin(), free.begin(), least);
    if (site_.place(need, free, need.cells, 0, &slot.share)) {
      slot.start = start;
      return slot;
    }
  }
  slot.share.clear();
  return slot;
}

}  // namespace cosched::cluster::batch
