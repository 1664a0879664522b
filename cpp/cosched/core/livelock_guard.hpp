// Simulations move on, or end with an error.
#pragma once

#include <cstdint>
#include <limits>

namespace cosched {

/// For loops over events of which some rounds may change nothing: too many such rounds in a row are
/// taken for an endless loop.
class LivelockGuard {
 public:
  /// More rounds in a row than this that change nothing are an endless loop.
  static constexpr int kMaxIdleRounds = 100'000;

  /// `loop` names the loop in messages; it has to outlive the guard.
  explicit LivelockGuard(const char* loop) : loop_(loop) {}

  void count_round(bool has_progress) { idle_rounds_ = has_progress ? 0 : idle_rounds_ + 1; }
  bool is_stalled() const { return idle_rounds_ > kMaxIdleRounds; }

  /// Counts a round at `time`, after `done` starts, ends and whatever else only increases.  Throws
  /// SolverError where the time is infinite (no event comes any more), or the guard is stalled.
  void check_round(double time, std::int64_t done);

 private:
  const char* loop_;
  int idle_rounds_ = 0;
  double last_time_ = -std::numeric_limits<double>::infinity();
  std::int64_t last_done_ = -1;
};

}  // namespace cosched
