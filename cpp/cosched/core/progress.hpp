// Loops over events move on, or end with an error.
#pragma once

#include <cstdint>
#include <limits>

#include "cosched/core/errors.hpp"

namespace cosched {

/// Throws SolverError that names the loop, unless its round has moved anything: without that the
/// next round, and each after it, would be the same.
inline void require_progress(bool moved, const char* loop) {
  if (!moved)
    throw SolverError(std::string(loop) +
                      ": nothing runs that could end, and jobs wait that nothing starts");
}

/// For loops some of whose rounds may change nothing: those of a simulation.
class Progress {
 public:
  /// More rounds in a row than this that change nothing are taken for an endless loop.
  static constexpr int kPatience = 100'000;

  explicit Progress(const char* loop) : loop_(loop) {}

  /// Whether that many have been, this one with them.
  bool lost(bool moved) {
    idle_ = moved ? 0 : idle_ + 1;
    return idle_ > kPatience;
  }

  /// A round at `time`, after `done` starts, ends and whatever else counts up.  Throws SolverError
  /// where nothing comes any more, or neither has changed for too many rounds.
  void round(double time, std::int64_t done) {
    require_progress(time < std::numeric_limits<double>::infinity(), loop_);
    require_progress(!lost(time > time_ || done != done_), loop_);
    time_ = time;
    done_ = done;
  }

 private:
  const char* loop_;
  int idle_ = 0;
  double time_ = -std::numeric_limits<double>::infinity();
  std::int64_t done_ = -1;
};

}  // namespace cosched
