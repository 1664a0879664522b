#include "cosched/slurm/clocks/recorded_backfill_clock.hpp"

#include "cosched/core/assert.hpp"

namespace cosched::slurm {

RecordedBackfillClock::RecordedBackfillClock(const Clocks& clocks, Second interval)
    : modelled_clock_(clocks, interval), recorded_cycles_(clocks.cycle_times) {
  COSCHED_ASSERT(!recorded_cycles_.empty());
  modelled_clock_.wake_at(recorded_cycles_.front());
}

bool RecordedBackfillClock::begin_cycle_or_sleep(bool is_completing, bool has_more_work,
                                                 double quiet_until) {
  return !is_over() ||
         modelled_clock_.begin_cycle_or_sleep(is_completing, has_more_work, quiet_until);
}

void RecordedBackfillClock::on_cycle_end(double duration) {
  if (is_over()) {
    modelled_clock_.on_cycle_end(duration);
    return;
  }
  ++next_recorded_cycle_;
  const double next_time = is_over() ? kInfinity : recorded_cycles_[next_recorded_cycle_];
  modelled_clock_.follow_recorded_cycle(duration, next_time);
}

}  // namespace cosched::slurm
