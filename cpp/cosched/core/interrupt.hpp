// How a long computation ends early: by the thread's time limit, or by its host
// (Ctrl-C in Python).  Solvers call check_interrupt() about once per millisecond
// of work; they need not know who asks.
#pragma once

#include <chrono>
#include <optional>

namespace cosched {

/// Point in time after which a solver stops by itself and returns what it has.
class Deadline {
 public:
  /// `seconds` from now; no value means never.
  explicit Deadline(std::optional<double> seconds = std::nullopt);
  bool passed() const;
  /// Seconds left (negative when passed, infinity when never).
  double remaining() const;

 private:
  std::optional<std::chrono::steady_clock::time_point> end_;
};

/// Throws TimeLimit when this thread's ScopedTimeLimit has passed, and whatever
/// the installed hook throws.  Cheap: reads the clock, calls the hook at most
/// every 50 ms.
void check_interrupt();

/// `hook` is called from check_interrupt() and may throw; nullptr removes it.
void set_interrupt_hook(void (*hook)());

/// While alive, check_interrupt() in this thread throws TimeLimit after `seconds`.
/// Nested limits: the inner one holds until it is destroyed.
class ScopedTimeLimit {
 public:
  explicit ScopedTimeLimit(double seconds);
  ~ScopedTimeLimit();
  ScopedTimeLimit(const ScopedTimeLimit&) = delete;
  ScopedTimeLimit& operator=(const ScopedTimeLimit&) = delete;

 private:
  std::optional<std::chrono::steady_clock::time_point> previous_;
};

}  // namespace cosched
