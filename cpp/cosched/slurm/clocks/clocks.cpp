#include "cosched/slurm/clocks/clocks.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace cosched::slurm {
namespace {

constexpr Second kPeriodicTimeout = 30;  // between limit checks
// In force until the first pass has read the configuration.
constexpr Second kFirstDelay = 3, kFirstInterval = 60;

}  // namespace

double Loop::tick_at(double time) const {
  const double ticks = std::max(1.0, std::ceil((time - begin_) / period_));
  const double tick = begin_ + ticks * period_;
  return tick >= time ? tick : tick + period_;  // rounding
}

LimitClock::LimitClock(const Clocks& clocks, bool since_24)
    : loop_(clocks, since_24), recorded_(clocks.checks), last_(whole(clocks.controller_start)) {}

double LimitClock::due() const {
  if (!recorded_.empty()) return checks_ < recorded_.size() ? recorded_[checks_] : kInfinity;
  return loop_.tick_at(static_cast<double>(last_ + kPeriodicTimeout));
}

void LimitClock::checked(double time) {
  ++checks_;
  last_ = whole(time);
}

MainClock::MainClock(const Clocks& clocks, const Settings::Main& settings, bool since_24)
    : loop_(clocks, since_24),
      settings_(settings),
      last_tick_(whole(clocks.controller_start)),
      last_full_(last_tick_),
      passes_(clocks.passes) {}

Second MainClock::delay() const { return read_ ? settings_.batch_sched_delay : kFirstDelay; }
Second MainClock::interval() const { return read_ ? settings_.interval : kFirstInterval; }

void MainClock::request(double time) {
  if (!replays()) requested_ = std::min(requested_, time);
}

void MainClock::ask(double time, bool full) {
  constexpr double kLate = 4;
  if (replays()) {
    late_ = std::min(late_, time + kLate);
    return;
  }
  pass_ = std::min(pass_, std::max(time, last_pass_ + settings_.min_interval));
  full_ = full_ || full;
}

double MainClock::tick_due() const {
  if (replays()) return kInfinity;
  const double full = loop_.tick_at(static_cast<double>(last_full_ + interval()));
  if (requested_ == kInfinity) return full;
  const double soonest = static_cast<double>(last_tick_ + delay());
  return std::min(full, loop_.tick_at(std::max(requested_, soonest)));
}

// A recorded pass that comes sooner is where the tick was.
double MainClock::next_tick(double time) const {
  const double tick = loop_.tick_at(time);
  if (!replays() || passes_[next_].first > tick + loop_.period()) return tick;
  return passes_[next_].first;
}

void MainClock::tick(double time) {
  const Second now = whole(time);
  const bool full = now - last_full_ >= interval();
  if (full) last_full_ = now;
  last_tick_ = now;
  requested_ = kInfinity;
  ask(time, full);
}

bool MainClock::begin_pass() {
  if (replays()) {
    const auto [recorded, full] = passes_[next_];
    const bool late = std::exchange(late_, kInfinity) < recorded;
    last_pass_ = late ? last_pass_ : recorded;
    last_tick_ = whole(recorded);
    if (full) last_full_ = last_tick_;
    read_ = true;
    if (!late) ++next_;
    return late || full;
  }
  last_pass_ = std::exchange(pass_, kInfinity);
  read_ = true;
  return std::exchange(full_, false);
}

BackfillClock::BackfillClock(const Clocks& clocks, Second interval)
    : recorded_(clocks.cycles),
      interval_(interval),
      last_end_(whole(clocks.controller_start)),
      extra_(clocks.sleep_extra),
      nap_(1 + clocks.nap_extra),
      wake_(replays() ? recorded_[0]
                      : clocks.controller_start + static_cast<double>(interval) + extra_) {}

bool BackfillClock::begins_cycle(bool completing, bool more_work, double quiet) {
  if (replays()) return true;
  if (whole(wake_) - last_end_ < interval_ || completing) {
    wake_ += nap_;
  } else if (!more_work) {
    wake_ += nap_ * std::max(1.0, std::ceil((quiet - wake_) / nap_));
  } else {
    return true;
  }
  return false;
}

void BackfillClock::cycle_over(double cost) {
  const double over = wake_ + cost;
  last_end_ = whole(over);
  if (!replays())
    wake_ = over + static_cast<double>(interval_) + extra_;
  else if (++cycle_; replays())
    wake_ = recorded_[cycle_];
  else
    wake_ = wake_ + static_cast<double>(interval_) + extra_;
}

}  // namespace cosched::slurm
