#include "cosched/cluster/batch/amount_profile.hpp"

#include <algorithm>
#include <utility>

#include "cosched/core/assert.hpp"

namespace cosched::cluster::batch {

AmountProfile::AmountProfile(std::vector<AmountStep> steps) : steps_(std::move(steps)) {
  COSCHED_ASSERT(!steps_.empty());
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

void AmountProfile::add(double begin, double end, const ResourceAmounts& amounts,
                        EqualSteps equal_steps) {
  begin = std::max(begin, steps_.front().time);
  if (!(begin < end)) return;
  const std::size_t first_step = insert_border(begin);
  const std::size_t end_step = insert_border(end);
  for (std::size_t step = first_step; step < end_step; ++step) steps_[step].free += amounts;
  if (equal_steps == EqualSteps::keep) return;
  merge_with_previous(end_step);
  merge_with_previous(first_step);
}

ResourceAmounts AmountProfile::minimum_between(double begin, double end) const {
  std::size_t step = step_at(begin);
  ResourceAmounts minimum = steps_[step].free;
  for (++step; step < size() && steps_[step].time < end; ++step)
    minimum = minimum_of(minimum, steps_[step].free);
  return minimum;
}

bool AmountProfile::is_free_before(double time, const ResourceAmounts& amounts) const {
  std::size_t step = step_at(time);
  if (step > 0 && steps_[step].time >= time) --step;
  return steps_[step].time < time && steps_[step].free.can_hold(amounts);
}

}  // namespace cosched::cluster::batch
