// How a long computation ends early: by a time limit, or by its host (Ctrl-C in Python).
//
// Solvers call check_interrupt() about once per millisecond of work; they need not know who asks.
// One that has something to show when it is stopped runs its search inside finishes_within(), and
// says in its result whether the search finished.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

#include "cosched/core/errors.hpp"

namespace cosched {

/// Throws TimeLimit when a time limit of this thread has passed, and whatever the installed hook
/// throws.  Cheap: reads the clock, calls the hook at most every 50 ms.
void check_interrupt();

/// For loops whose steps differ in size: looks at the clock once in some half a million steps.
class Poll {
 public:
  /// Notes `steps` of about a nanosecond each; may throw as check_interrupt().
  void count(std::int64_t steps) {
    if ((left_ -= steps) >= 0) return;
    left_ = kInterval;
    check_interrupt();
  }

 private:
  static constexpr std::int64_t kInterval = 500'000;
  std::int64_t left_ = kInterval;
};

/// `hook` is called from check_interrupt() and may throw; nullptr removes it.
void set_interrupt_hook(void (*hook)());

/// While alive, check_interrupt() in this thread throws TimeLimit after `seconds` (no value: no
/// limit of its own).  Nested limits: the earliest holds, so none lengthens one around it.
/// Throws InvalidInstance on NaN and on seconds < 0.
class ScopedTimeLimit {
 public:
  explicit ScopedTimeLimit(std::optional<double> seconds);
  ~ScopedTimeLimit();
  ScopedTimeLimit(const ScopedTimeLimit&) = delete;
  ScopedTimeLimit& operator=(const ScopedTimeLimit&) = delete;

 private:
  std::optional<std::chrono::steady_clock::time_point> previous_;
};

/// While alive, check_interrupt() in this thread throws TimeLimit when `stop` is true, and leaves
/// the hook to the thread that waits for this one.
class ScopedStop {
 public:
  explicit ScopedStop(const std::atomic<bool>& stop);
  ~ScopedStop();
  ScopedStop(const ScopedStop&) = delete;
  ScopedStop& operator=(const ScopedStop&) = delete;

 private:
  const std::atomic<bool>* previous_;
};

/// While alive, the time limits of this thread come `seconds` from now at the earliest (no value:
/// never); the hook is not affected.  For what an algorithm promises to have before it looks at the
/// clock, and for the short steps that make a result of what a stopped search has found.
class ScopedGrace {
 public:
  explicit ScopedGrace(std::optional<double> seconds = std::nullopt);
  ~ScopedGrace();
  ScopedGrace(const ScopedGrace&) = delete;
  ScopedGrace& operator=(const ScopedGrace&) = delete;

 private:
  std::optional<std::chrono::steady_clock::time_point> previous_;
};

/// work() under such a grace.
template <class Work>
auto unhurried(Work&& work) {
  const ScopedGrace grace;
  return std::forward<Work>(work)();
}

/// Seconds until the earliest time limit of this thread: infinity without one, negative after it.
double seconds_left();

/// Work that only a time limit ends.
inline constexpr std::int64_t kUnlimitedWork = std::int64_t{1} << 62;

/// A search in rounds, each four times as long as the one before, while they fit into its work:
/// what less work (or time) finds more of it finds too, so it is never worse.
class GrowingRounds {
 public:
  /// Five fit into `work`, six into four times as much.
  explicit GrowingRounds(std::int64_t work) : next_(work / kShare) {}

  /// Up to `work` in all, of the calls before too.  round(work, number) returns whether to go on.
  template <class Round>
  void run(std::int64_t work, Round&& round) {
    for (; done_ + next_ <= work && round(next_, number_); ++number_) {
      check_interrupt();
      done_ += next_;
      next_ = std::min(4 * next_, kUnlimitedWork / 16);
    }
  }

 private:
  static constexpr std::int64_t kShare = 342;  // 1 + 4 + 16 + 64 + 256, and a little
  std::int64_t next_, done_ = 0;
  int number_ = 0;
};

/// Calls work() under a time limit (no value: those around it only).  False: a limit ended it, its
/// own or one around it; what work() stored until then is the caller's to use.
template <class Work>
[[nodiscard]] bool finishes_within(std::optional<double> seconds, Work&& work) {
  const ScopedTimeLimit limit(seconds);
  try {
    std::forward<Work>(work)();
    return true;
  } catch (const TimeLimit&) {
    return false;
  }
}

// A stop from outside, as by a signal: every search that runs or is begun ends with its best.

/// As if a time limit around everything had passed, in all threads and for what they begin from now
/// on, until forget_stop(): check_interrupt() throws TimeLimit, but under a ScopedGrace only after
/// it.
void request_stop();
void forget_stop();

}  // namespace cosched
