#include "cosched/slurm/clocks/modelled_main_clock.hpp"

namespace cosched::slurm {

void ModelledMainClock::request_at_tick(double time) {
  requested_time_ = std::min(requested_time_, time);
}

void ModelledMainClock::request_now(double time, bool is_full) {
  next_pass_ = std::min(next_pass_, std::max(time, last_pass_ + settings_.min_interval));
  is_next_pass_full_ = is_next_pass_full_ || is_full;
}

double ModelledMainClock::next_requesting_tick() const {
  const double periodic_tick = loop_.tick_at(static_cast<double>(last_full_pass_ + interval()));
  if (requested_time_ == kInfinity) return periodic_tick;
  const double earliest = static_cast<double>(last_tick_ + delay());
  return std::min(periodic_tick, loop_.tick_at(std::max(requested_time_, earliest)));
}

void ModelledMainClock::on_tick(double time) {
  const Second now = to_second(time);
  const bool is_full = now - last_full_pass_ >= interval();
  if (is_full) last_full_pass_ = now;
  last_tick_ = now;
  requested_time_ = kInfinity;
  request_now(time, is_full);
}

bool ModelledMainClock::begin_pass() {
  const bool is_full = is_next_pass_full_;
  last_pass_ = next_pass_;
  next_pass_ = kInfinity;
  is_next_pass_full_ = false;
  is_config_loaded_ = true;
  return is_full;
}

void ModelledMainClock::follow_recorded_pass(double time, bool is_full, bool counts) {
  if (counts) last_pass_ = time;
  last_tick_ = to_second(time);
  if (is_full) last_full_pass_ = last_tick_;
  is_config_loaded_ = true;
}

Second ModelledMainClock::interval() const {
  const Second configured = is_config_loaded_ ? settings_.interval : kFirstInterval;
  return periods_.after(static_cast<double>(last_full_pass_), configured);
}

}  // namespace cosched::slurm
