// The turns that an exact method gets between the rounds of the local search, where a time limit is
// set: a short first one after some short rounds, which proves what is easy and bounds the rest,
// and a long second one once a long round has found nothing better.
#pragma once

#include <algorithm>
#include <limits>
#include <optional>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::packs::search {

/// What the rounds of the local search and the turns of the exact method may take; the clock counts
/// too, where there is a limit.
struct TurnLimits {
  std::int64_t work = kUnlimitedWork;                             // of all rounds, a task
  std::int64_t nodes = std::numeric_limits<std::int64_t>::max();  // of each turn
};

enum class Turn { kNone, kFirst, kSecond };

/// The turn after a round, numbered from 0, of the local search.
class TurnOrder {
 public:
  Turn turn_after(int round, bool has_improved) const {
    if (round + 1 == kFirstRounds) return Turn::kFirst;
    const bool is_second = turns_ == 1 && !has_improved && round + 1 >= kLaterRounds;
    return is_second ? Turn::kSecond : Turn::kNone;
  }

  void note_turn() { ++turns_; }
  int turns() const { return turns_; }

  /// Seconds of a turn that begins now; none without a time limit.
  std::optional<double> seconds_of(Turn turn) const {
    if (turn == Turn::kFirst) return first_seconds_;
    const double seconds = seconds_left();
    if (seconds == kInfinity) return std::nullopt;
    return kSecondShare * std::max(0.0, seconds);
  }

 private:
  static constexpr int kFirstRounds = 3;          // before the first turn
  static constexpr double kFirstShare = 0.1;      // of the time, for that
  static constexpr double kMostFirstSeconds = 2;  // of that
  static constexpr int kLaterRounds = 5;          // before the second: those of the default work
  static constexpr double kSecondShare = 0.8;     // of the time left

  // The share of the time that is left when the search begins.
  static std::optional<double> first_seconds() {
    const double seconds = seconds_left();
    if (seconds == kInfinity) return std::nullopt;
    return std::min(kFirstShare * std::max(0.0, seconds), kMostFirstSeconds);
  }

  std::optional<double> first_seconds_ = first_seconds();
  int turns_ = 0;
};

}  // namespace cosched::packs::search
