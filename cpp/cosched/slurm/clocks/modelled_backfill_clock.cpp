#include "cosched/slurm/clocks/modelled_backfill_clock.hpp"

namespace cosched::slurm {

bool ModelledBackfillClock::begin_cycle_or_sleep(bool is_completing, bool has_more_work,
                                                 double quiet_until) {
  if (to_second(wake_time_) - last_cycle_end_ < interval_ || is_completing) {
    wake_time_ += sleep_second_;
    return false;
  }
  if (has_more_work) return true;
  const double sleep_count = std::ceil((quiet_until - wake_time_) / sleep_second_);
  wake_time_ += sleep_second_ * std::max(1.0, sleep_count);
  return false;
}

void ModelledBackfillClock::on_cycle_end(double duration) {
  const double cycle_end = wake_time_ + duration;
  const auto sleep_time = static_cast<double>(periods_.after(cycle_end, interval_));
  last_cycle_end_ = to_second(cycle_end);
  wake_time_ = cycle_end + sleep_time + sleep_extra_;
}

void ModelledBackfillClock::follow_recorded_cycle(double duration, double next_time) {
  last_cycle_end_ = to_second(wake_time_ + duration);
  wake_time_ = next_time < kInfinity ? next_time
                                     : wake_time_ + static_cast<double>(interval_) + sleep_extra_;
}

}  // namespace cosched::slurm
