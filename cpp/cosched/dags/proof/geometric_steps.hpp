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
  enum class Phase { top, bare, quick, thorough, closed };

  // Powers that the first leap of a phase goes, of `bare` 1% at a precision of 1e-4.  A quick guess
  // may refute much more than a bare one, a linear programme little more than a quick one.
  static constexpr long kFirstBareLeap = 100, kFirstQuickLeap = 16, kFirstThoroughLeap = 1;
  // Factor of a leap after a T that is refuted, and divisor after one that is not: large, because a
  // T that is refuted takes less time than others.
  static constexpr long kLeapFactor = 4;
  // The bare phase ends at this distance, in powers, of what is refuted from what is not: quick
  // guesses need the few halvings that remain anyway, as they refute more.
  static constexpr long kBareDistance = 32;
  // After a T that is not refuted, the value of its programme is no guess where it lies next to
  // that T: by no more than a part of the remaining distance, or two powers.  Programmes at such
  // guesses would creep down from T to T, and learn nothing.
  static constexpr long kCreepDivisor = 16, kLeastCreep = 2;
  static constexpr long kNoPower = std::numeric_limits<long>::max();

  double makespan_of(long power) const {
    return first_power_ * std::pow(1 + precision_, static_cast<double>(power));
  }

  double power_of(double makespan) const {
    return std::log(makespan / first_power_) / std::log1p(precision_);
  }

  bool is_phase_done() const;
  void enter_phase(Phase phase);
  long leap_or_halve() const;
  long follow_programme(long power) const;

  double value_, first_power_, precision_;
  double top_;  // the makespan just below the upper bound
  Phase phase_;
  long greatest_refuted_ = 0;                 // a power, as are the next three
  long least_unrefuted_ = kNoPower;           // at full depth
  long least_unrefuted_in_phase_ = kNoPower;  // at the depth of the phase, or at full depth
  long guessed_power_ = 0;
  long leap_ = kFirstBareLeap;  // powers from greatest_refuted_ to the next guess
  double lp_value_ = 0;         // of the last linear programme
  bool was_refuted_ = false;    // the last guess
};

}  // namespace cosched::dags::proof
