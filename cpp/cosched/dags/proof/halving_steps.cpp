#include "cosched/dags/proof/halving_steps.hpp"

namespace cosched::dags::proof {

HalvingSteps::HalvingSteps(double refuted, double upper, double grain, double precision)
    : refuted_(refuted),
      not_refuted_(upper),
      grain_(grain),
      precision_(precision),
      top_(grain > 0 ? multiple_below(upper - grain) : upper * kJustBelow),
      tries_top_(upper < kInfinity),
      leap_(refuted > 0 ? kFirstLeap * refuted : 1),
      is_closed_(refuted >= upper * kJustBelow) {}

std::optional<MakespanGuess> HalvingSteps::next_guess() const {
  if (is_closed()) return std::nullopt;
  if (tries_top_) return MakespanGuess{top_};
  double middle = (refuted_ + not_refuted_) / 2;
  if (is_leaping_)
    middle = std::isinf(not_refuted_) ? refuted_ + leap_ : std::min(refuted_ + leap_, middle);
  if (grain_ > 0)
    middle = std::max(refuted_, multiple_below(std::min(middle, not_refuted_ - grain_)));
  return MakespanGuess{middle};
}

void HalvingSteps::update(bool refuted, double) {
  const double guess = next_guess()->makespan;
  if (refuted) {
    refuted_ = least_multiple_above(guess, grain_);
    leap_ *= kLeapGrowth;
    is_closed_ = tries_top_;
  } else {
    not_refuted_ = guess;
    is_leaping_ = is_leaping_ && tries_top_;
  }
  tries_top_ = false;
}

bool HalvingSteps::is_closed() const {
  if (is_closed_ || tries_top_) return is_closed_;
  if (std::isinf(not_refuted_)) return false;
  return grain_ > 0 ? not_refuted_ - refuted_ < 0.5 * grain_
                    : not_refuted_ - refuted_ <= precision_ * not_refuted_;
}

}  // namespace cosched::dags::proof
