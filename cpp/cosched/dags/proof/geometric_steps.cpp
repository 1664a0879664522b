#include "cosched/dags/proof/geometric_steps.hpp"

namespace cosched::dags::proof {

GeometricSteps::GeometricSteps(double refuted, double first, double upper, double precision)
    : value_(refuted),
      first_power_(first),
      precision_(precision),
      top_(upper * kJustBelow),
      phase_(refuted >= top_    ? Phase::closed
             : top_ < kInfinity ? Phase::top
                                : Phase::bare) {}

std::optional<MakespanGuess> GeometricSteps::next_guess() {
  if (phase_ == Phase::top) return MakespanGuess{top_};
  if (phase_ == Phase::bare && is_phase_done()) enter_phase(Phase::quick);
  if (phase_ == Phase::quick && is_phase_done()) enter_phase(Phase::thorough);
  if (phase_ == Phase::closed || is_phase_done()) return std::nullopt;
  guessed_power_ = std::clamp(follow_programme(leap_or_halve()), greatest_refuted_ + 1,
                              least_unrefuted_in_phase_ - 1);
  return MakespanGuess{makespan_of(guessed_power_), phase_ == Phase::bare    ? RefuterDepth::bare
                                                    : phase_ == Phase::quick ? RefuterDepth::quick
                                                                             : RefuterDepth::full};
}

// The power that a leap reaches, no further than the middle of what is open.
long GeometricSteps::leap_or_halve() const {
  const long leap_end = greatest_refuted_ + leap_;
  if (least_unrefuted_in_phase_ == kNoPower) return leap_end;
  return std::min(leap_end, (greatest_refuted_ + least_unrefuted_in_phase_) / 2);
}

// The power of the value of the last linear programme, where that is a better guess than `power`.
long GeometricSteps::follow_programme(long power) const {
  if (!(lp_value_ > makespan_of(greatest_refuted_ + 1))) return power;
  const long lp_power = static_cast<long>(power_of(lp_value_));
  if (was_refuted_) return std::max(power, lp_power);
  const long open_distance = least_unrefuted_in_phase_ - greatest_refuted_;
  const long creep = std::max(kLeastCreep, open_distance / kCreepDivisor);
  return lp_power > least_unrefuted_in_phase_ - creep ? power : lp_power;
}

void GeometricSteps::update(bool refuted, double lp_value) {
  lp_value_ = lp_value;
  was_refuted_ = refuted;
  if (phase_ == Phase::top) {
    if (refuted) {
      value_ = top_;
      phase_ = Phase::closed;
    } else {
      least_unrefuted_ = std::max(1L, static_cast<long>(std::ceil(power_of(top_))));
      least_unrefuted_in_phase_ = least_unrefuted_;
      phase_ = Phase::bare;
    }
  } else if (refuted) {
    greatest_refuted_ = guessed_power_;
    value_ = makespan_of(guessed_power_);
    leap_ *= kLeapFactor;
  } else {
    least_unrefuted_in_phase_ = guessed_power_;
    leap_ = std::max(1L, leap_ / kLeapFactor);
  }
}

bool GeometricSteps::is_phase_done() const {
  return least_unrefuted_in_phase_ != kNoPower && least_unrefuted_in_phase_ - greatest_refuted_ <=
                                                      (phase_ == Phase::bare ? kBareDistance : 1);
}

void GeometricSteps::enter_phase(Phase phase) {
  phase_ = phase;
  least_unrefuted_in_phase_ = least_unrefuted_;
  leap_ = phase == Phase::quick ? kFirstQuickLeap : kFirstThoroughLeap;
}

}  // namespace cosched::dags::proof
