// Which makespan to guess next for the bound `transfers`: powers of 1 + precision.
#pragma once

#include <cmath>
#include <limits>

#include "cosched/dags/proof/makespan_guess.hpp"
#include "cosched/dags/proof/proven_bound.hpp"

namespace cosched::dags::proof {

/// Guesses only T = first (1 + precision)^k.  These do not depend on the costs of transfers, so a
/// bound is no lower where transfers cost more, as long as the refuter refutes there what it
/// refutes where they cost less.  Phases: the makespan just below the upper bound; guesses of depth
/// `bare`, to a distance of some powers; `quick` ones; full ones.  After a full guess the value of
/// the last linear programme is the next guess, unless it lies next to a T that is not refuted.
class GeometricSteps {
 public:
  /// `refuted`: a T that is refuted, seconds; `first` > 0: where the powers begin; `upper`: a
  /// makespan.
  GeometricSteps(double refuted, double first, double upper, double precision);

  std::optional<MakespanGuess> next_guess();
  /// Takes note of whether the last guess was refuted, and of the value of its last linear
  /// programme.
  void update(bool refuted, double lp_value);

  /// The bound that the refutations so far prove.
  double value() const { return value_; }

 private:
  // Factor of a leap after a T that is refuted: large, because such a T takes less time than
  // others.
  static constexpr long kGrowth = 4;
  static constexpr long kNone = std::numeric_limits<long>::max();
  enum class Phase { top, bare, quick, thorough, closed };

  double makespan_of(long k) const {
    return first_power_ * std::pow(1 + precision_, static_cast<double>(k));
  }

  double power_of(double makespan) const {
    return std::log(makespan / first_power_) / std::log1p(precision_);
  }

  bool is_phase_done() const;
  void enter_phase(Phase phase);

  double value_, first_power_, precision_, top_;
  Phase phase_;
  long refuted_below_ = 0;  // the greatest power that is refuted
  long phase_above_ =
      kNone;  // the least power that is not refuted, or not at the depth of the phase
  long not_refuted_ = kNone;  // the least power that is not refuted
  long guess_ = 0;            // the power of the last guess
  long leap_ = 100;           // how many powers further the next guess lies
  double lp_value_ = 0;
  bool was_refuted_ = false;  // the last guess
};

}  // namespace cosched::dags::proof
