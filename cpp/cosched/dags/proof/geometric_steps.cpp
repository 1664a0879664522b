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
  guess_ = phase_above_ == kNone
               ? refuted_below_ + leap_
               : std::min(refuted_below_ + leap_, (refuted_below_ + phase_above_) / 2);
  if (lp_value_ > makespan_of(refuted_below_ + 1)) {
    const long lp_power = static_cast<long>(power_of(lp_value_));
    const bool stagnates =
        lp_power > phase_above_ - std::max(2L, (phase_above_ - refuted_below_) / 16);
    if (was_refuted_)
      guess_ = std::max(guess_, lp_power);
    else if (!stagnates)
      guess_ = lp_power;
  }
  guess_ = std::clamp(guess_, refuted_below_ + 1, phase_above_ - 1);
  return MakespanGuess{makespan_of(guess_), phase_ == Phase::bare    ? RefuterDepth::bare
                                            : phase_ == Phase::quick ? RefuterDepth::quick
                                                                     : RefuterDepth::full};
}

void GeometricSteps::update(bool refuted, double lp_value) {
  lp_value_ = lp_value;
  was_refuted_ = refuted;
  if (phase_ == Phase::top) {
    if (refuted) {
      value_ = top_;
      phase_ = Phase::closed;
    } else {
      not_refuted_ = std::max(1L, static_cast<long>(std::ceil(power_of(top_))));
      phase_above_ = not_refuted_;
      phase_ = Phase::bare;
    }
  } else if (refuted) {
    refuted_below_ = guess_;
    value_ = makespan_of(guess_);
    leap_ *= kGrowth;
  } else {
    phase_above_ = guess_;
    leap_ = std::max(1L, leap_ / 4);
  }
}

bool GeometricSteps::is_phase_done() const {
  constexpr long kBareWidth = 32;
  return phase_above_ != kNone &&
         phase_above_ - refuted_below_ <= (phase_ == Phase::bare ? kBareWidth : 1);
}

void GeometricSteps::enter_phase(Phase phase) {
  phase_ = phase;
  phase_above_ = not_refuted_;
  leap_ = phase == Phase::quick ? 16 : 1;  // what is quick may find much more, a programme little
}

}  // namespace cosched::dags::proof
