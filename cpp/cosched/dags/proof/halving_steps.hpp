// Which makespan to guess next for the bound `windows`: leaps, then bisection.
#pragma once

#include <cmath>

#include "cosched/dags/model/time_grain.hpp"
#include "cosched/dags/proof/makespan_guess.hpp"
#include "cosched/dags/proof/proven_bound.hpp"

namespace cosched::dags::proof {

/// Tries the makespan just below the upper bound first.  Then leaps up, each leap three times the
/// last one, until a guess is not refuted, and halves the interval between the greatest T that is
/// refuted and the least that is not.  Where all times are multiples of `grain` (time_grain.hpp;
/// otherwise 0) so are all guesses.
class HalvingSteps {
 public:
  HalvingSteps(double refuted, double upper, double grain, double precision);

  std::optional<MakespanGuess> next_guess() const;

  /// Takes note of whether the last guess was refuted.
  void update(bool refuted, double lp_value);
  /// The bound that the refutations so far prove.
  double value() const { return refuted_; }

 private:
  // The first leap, as a part of the T that is refuted, and the factor from a leap to the next one.
  // Tasks' bounds are mostly within some percent of the optimum: three leaps reach 5%.
  static constexpr double kFirstLeap = 0.004, kLeapGrowth = 3;

  // The multiple of the grain at or below a makespan, up to rounding.
  double multiple_below(double makespan) const {
    constexpr double kMultipleTolerance = 1e-6;  // of a grain: makespans are sums of multiples
    return std::floor(makespan / grain_ + kMultipleTolerance) * grain_;
  }

  bool is_closed() const;

  double refuted_, not_refuted_, grain_, precision_;
  double top_;      // just below the upper bound
  bool tries_top_;  // top_ is the next guess
  double leap_;     // seconds from refuted_ to the next guess, while leaping
  bool is_leaping_ = true;
  bool is_closed_;
};

}  // namespace cosched::dags::proof
