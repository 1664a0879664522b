// How a long computation ends early: by a time limit, or by its host (Ctrl-C in Python).
//
// Solvers call check_interrupt() about once per millisecond of work; they need not know who asks.
// A solver that has a result when it is stopped runs its search inside finishes_within() and says
// in its result whether the search has finished.
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

/// For loops whose steps differ in size: calls check_interrupt() once in half a million steps.
class Poll {
 public:
  /// Notes `steps` of about a nanosecond each; may throw as check_interrupt().  The order of
  /// magnitude is enough: steps that take ten times as long let a stop wait for five milliseconds
  /// instead of half a one.
  void count(std::int64_t steps) {
    steps_left_ -= steps;
    if (steps_left_ >= 0) return;
    steps_left_ = kInterval;
    check_interrupt();
  }

 private:
  static constexpr std::int64_t kInterval = 500'000;
  std::int64_t steps_left_ = kInterval;
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
/// never); the hook is not affected.  For the first result, which an algorithm guarantees whatever
/// the time limit, and for the short steps that complete the result of a stopped search.
class ScopedDeadlineExtension {
 public:
  explicit ScopedDeadlineExtension(std::optional<double> seconds = std::nullopt);
  ~ScopedDeadlineExtension();
  ScopedDeadlineExtension(const ScopedDeadlineExtension&) = delete;
  ScopedDeadlineExtension& operator=(const ScopedDeadlineExtension&) = delete;

 private:
  std::optional<std::chrono::steady_clock::time_point> previous_;
};

/// work() while no time limit of this thread can pass.
template <class Work>
auto without_deadline(Work&& work) {
  const ScopedDeadlineExtension extension;
  return std::forward<Work>(work)();
}

/// Seconds until the earliest time limit of this thread: infinity without one, negative after it.
double seconds_left();

/// The work of a search that only a time limit ends.
inline constexpr std::int64_t kUnlimitedWork = std::int64_t{1} << 62;

/// A search in rounds, each four times as long as the one before, while they fit into its work.
/// More work (or time) repeats the rounds of less work and adds others, so that its result is never
/// worse.
class GrowingRounds {
 public:
  /// Five rounds fit into `work`, six into four times as much.
  explicit GrowingRounds(std::int64_t work) : next_work_(work / kRoundsSum) {}

  /// Runs rounds up to `work` in all, with those of earlier calls.  round(work, number) returns
  /// whether to go on.
  template <class Round>
  void run(std::int64_t work, Round&& round) {
    while (done_work_ + next_work_ <= work) {
      const bool goes_on = round(next_work_, round_number_);
      if (!goes_on) return;
      check_interrupt();
      done_work_ += next_work_;
      next_work_ = std::min(4 * next_work_, kUnlimitedWork / 16);
      ++round_number_;
    }
  }

 private:
  // 1 + 4 + 16 + 64 + 256 = 341, and one more for what the divisions round away.
  static constexpr std::int64_t kRoundsSum = 342;

  std::int64_t next_work_;
  std::int64_t done_work_ = 0;
  int round_number_ = 0;
};

/// Calls work() under a time limit (no value: only the limits around the call).  False: a time
/// limit has ended it; what work() has stored until then is valid.
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

/// A stop from outside, as by a signal: every search that runs or is begun ends with its best
/// result.  As if a time limit around everything had passed, in all threads and for what they begin
/// from now on, until forget_stop(): check_interrupt() throws TimeLimit; during a
/// ScopedDeadlineExtension, only after its end.
void request_stop();
void forget_stop();

}  // namespace cosched
