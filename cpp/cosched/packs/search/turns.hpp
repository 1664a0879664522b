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

struct TurnParams {
  /// Rounds of the local search before the first turn.
  int rounds_before_first = 3;
  /// The first turn has this share of the time, but at most so many seconds.
  double first_share = 0.1, max_first_seconds = 2;
  /// Rounds before the second turn, at least: those of the default work.
  int rounds_before_second = 5;
  /// The second turn has this share of the time that is left.
  double second_share = 0.8;
};

/// The turn after a round, numbered from 0, of the local search.
class TurnOrder {
 public:
  explicit TurnOrder(const TurnParams& params = {})
      : params_(params), first_seconds_(first_seconds(params)) {}

  Turn turn_after(int round, bool has_improved) const {
    if (round + 1 == params_.rounds_before_first) return Turn::kFirst;
    const bool is_second =
        turns_ == 1 && !has_improved && round + 1 >= params_.rounds_before_second;
    return is_second ? Turn::kSecond : Turn::kNone;
  }

  void note_turn() { ++turns_; }
  int turns() const { return turns_; }

  /// Seconds of a turn that begins now; none without a time limit.
  std::optional<double> seconds_of(Turn turn) const {
    if (turn == Turn::kFirst) return first_seconds_;
    const double seconds = seconds_left();
    if (seconds == kInfinity) return std::nullopt;
    return params_.second_share * std::max(0.0, seconds);
  }

 private:
  // The share of the time that is left when the search begins.
  static std::optional<double> first_seconds(const TurnParams& params) {
    const double seconds = seconds_left();
    if (seconds == kInfinity) return std::nullopt;
    return std::min(params.first_share * std::max(0.0, seconds), params.max_first_seconds);
  }

  TurnParams params_;
  std::optional<double> first_seconds_;
  int turns_ = 0;
};

}  // namespace cosched::packs::search
