#include "cosched/slurm/clocks/recorded_main_clock.hpp"

namespace cosched::slurm {

void RecordedMainClock::request_at_tick(double time) {
  if (is_over()) modelled_clock_.request_at_tick(time);
}

void RecordedMainClock::request_now(double time, bool is_full) {
  constexpr double kLatestPass = 4;  // s after the request
  if (is_over())
    modelled_clock_.request_now(time, is_full);
  else
    unrecorded_pass_ = std::min(unrecorded_pass_, time + kLatestPass);
}

double RecordedMainClock::next_requesting_tick() const {
  return is_over() ? modelled_clock_.next_requesting_tick() : kInfinity;
}

// A recorded pass that comes sooner than a period after the tick is where the tick was.
double RecordedMainClock::next_tick(double time) const {
  const double tick = modelled_clock_.next_tick(time);
  const double recorded_time = recorded_pass_time();
  return recorded_time > tick + modelled_clock_.tick_period() ? tick : recorded_time;
}

double RecordedMainClock::recorded_pass_time() const {
  return is_over() ? kInfinity : recorded_passes_[next_recorded_pass_].first;
}

double RecordedMainClock::next_pass_time() const {
  return is_over() ? modelled_clock_.next_pass_time()
                   : std::min(recorded_pass_time(), unrecorded_pass_);
}

bool RecordedMainClock::begin_pass() {
  if (is_over()) return modelled_clock_.begin_pass();
  const auto [time, is_full] = recorded_passes_[next_recorded_pass_];
  const bool is_unrecorded = unrecorded_pass_ < time;
  unrecorded_pass_ = kInfinity;
  modelled_clock_.follow_recorded_pass(time, is_full, !is_unrecorded);
  if (!is_unrecorded) ++next_recorded_pass_;
  return is_unrecorded || is_full;
}

}  // namespace cosched::slurm
