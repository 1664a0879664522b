#include "cosched/cluster/batch/amount_profile.hpp"

#include <algorithm>
#include <utility>

#include "cosched/core/assert.hpp"

namespace cosched::cluster::batch {

AmountProfile::AmountProfile(std::vector<AmountStep> steps) : steps_(std::move(steps)) {
  COSCHED_ASSERT(!steps_.empty());
}

std::size_t AmountProfile::step_at(double time) const {
  const auto after =
      std::upper_bound(steps_.begin(), steps_.end(), time,
                       [](double value, const AmountStep& step) { return value < step.time; });
  return after == steps_.begin() ? 0 : static_cast<std::size_t>(after - steps_.begin()) - 1;
}

void AmountProfile::forget_before(double now) {
  if (steps_.size() == 1 || steps_[1].time > now) return;
  steps_.erase(steps_.begin(), steps_.begin() + static_cast<std::ptrdiff_t>(step_at(now)));
}

std::size_t AmountProfile::insert_border(double time) {
  const std::size_t step = step_at(time);
  if (steps_[step].time >= time) return step;
  steps_.insert(steps_.begin() + static_cast<std::ptrdiff_t>(step + 1), {time, steps_[step].free});
  return step + 1;
}

void AmountProfile::merge_with_previous(std::size_t step) {
  if (step > 0 && step < steps_.size() && steps_[step].free == steps_[step - 1].free)
    steps_.erase(steps_.begin() + static_cast<std::ptrdiff_t>(step));
}

void AmountProfile::add(double begin, double end, const Amounts& amounts, EqualSteps equal_steps) {
  begin = std::max(begin, steps_.front().time);
  if (!(begin < end)) return;
  const std::size_t first_step = insert_border(begin);
  const std::size_t end_step = insert_border(end);
  for (std::size_t step = first_step; step < end_step; ++step) steps_[step].free += amounts;
  if (equal_steps == EqualSteps::keep) return;
  merge_with_previous(end_step);
  merge_with_previous(first_step);
}

double AmountProfile::find_earliest_start(double now, const Amounts& amounts, double duration,
                                          double start_limit) const {
  for (std::size_t step = step_at(now); step < size() && steps_[step].time < start_limit; ++step) {
    if (!steps_[step].free.can_hold(amounts)) continue;
    const double start = std::max(now, steps_[step].time);
    while (end_of(step) < start + duration && steps_[step + 1].free.can_hold(amounts)) ++step;
    if (start + duration <= end_of(step)) return std::min(start, start_limit);
  }
  return start_limit;
}

Amounts AmountProfile::minimum_between(double begin, double end) const {
  std::size_t step = step_at(begin);
  Amounts minimum = steps_[step].free;
  for (++step; step < size() && steps_[step].time < end; ++step)
    minimum = minimum_of(minimum, steps_[step].free);
  return minimum;
}

bool AmountProfile::is_free_before(double time, const Amounts& amounts) const {
  std::size_t step = step_at(time);
  if (step > 0 && steps_[step].time >= time) --step;
  return steps_[step].time < time && steps_[step].free.can_hold(amounts);
}

}  // namespace cosched::cluster::batch
