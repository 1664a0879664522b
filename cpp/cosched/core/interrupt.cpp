#include "cosched/core/interrupt.hpp"

#include <cmath>
#include <utility>
#include <vector>

#include "cosched/core/numeric.hpp"

namespace cosched {
namespace {

using Clock = std::chrono::steady_clock;

std::atomic<void (*)()> interrupt_hook{nullptr};
std::atomic<bool> stop_requested{false};
thread_local std::optional<Clock::time_point> thread_limit;
// The ends of the deadline extensions of this thread: the last one is the latest.
thread_local std::vector<Clock::time_point> extension_ends;
thread_local Clock::time_point next_hook_call{};
thread_local const std::atomic<bool>* thread_stop = nullptr;

Clock::time_point time_after(double seconds) {
  // A century is "never" and keeps the conversion to clock ticks in range.
  const double bounded = std::min(seconds, 3.2e9);
  return Clock::now() +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(bounded));
}

bool must_stop(Clock::time_point now) {
  return stop_requested && (extension_ends.empty() || now >= extension_ends.back());
}

void require_seconds(double seconds) {
  if (std::isnan(seconds) || seconds < 0)
    throw InvalidInstance("time_limit = " + to_text(seconds) +
                          ": expected seconds >= 0, or None for no limit");
}

}  // namespace

void check_interrupt() {
  const auto now = Clock::now();
  if (thread_limit && now >= *thread_limit) throw TimeLimit("the time limit has passed");
  if (thread_stop != nullptr) {
    if (*thread_stop) throw TimeLimit("stopped");
  } else if (now >= next_hook_call) {
    next_hook_call = now + std::chrono::milliseconds(50);
    const auto hook = interrupt_hook.load();
    if (hook != nullptr) hook();
  }
  if (must_stop(now)) throw TimeLimit("stopped");
}

void request_stop() { stop_requested = true; }

void forget_stop() { stop_requested = false; }

void set_interrupt_hook(void (*hook)()) { interrupt_hook.store(hook); }

ScopedTimeLimit::ScopedTimeLimit(std::optional<double> seconds) : previous_(thread_limit) {
  if (!seconds) return;
  require_seconds(*seconds);
  const Clock::time_point limit = time_after(*seconds);
  if (!previous_ || limit < *previous_) thread_limit = limit;
}

ScopedTimeLimit::~ScopedTimeLimit() { thread_limit = previous_; }

ScopedStop::ScopedStop(const std::atomic<bool>& stop)
    : previous_(std::exchange(thread_stop, &stop)) {}

ScopedStop::~ScopedStop() { thread_stop = previous_; }

ScopedDeadlineExtension::ScopedDeadlineExtension(std::optional<double> seconds)
    : previous_(thread_limit) {
  const Clock::time_point end = seconds ? time_after(*seconds) : Clock::time_point::max();
  extension_ends.push_back(extension_ends.empty() ? end : std::max(end, extension_ends.back()));
  if (!seconds)
    thread_limit.reset();
  else if (thread_limit)
    thread_limit = std::max(*thread_limit, end);
}

ScopedDeadlineExtension::~ScopedDeadlineExtension() {
  thread_limit = previous_;
  extension_ends.pop_back();
}

double seconds_left() {
  if (must_stop(Clock::now())) return 0;
  if (!thread_limit) return kInfinity;
  return std::chrono::duration<double>(*thread_limit - Clock::now()).count();
}

}  // namespace cosched
