#include "cosched/dags/proof/bisection.hpp"

#include <algorithm>
#include <cmath>

#include "cosched/dags/model/instance.hpp"

namespace cosched::dags::proof {
namespace {

// Of a leap after a T that is refuted, which takes less than one that is not.
constexpr long kGrowth = 4;

}  // namespace

double BoundOptions::precision_for(const Instance& instance) const {
  return instance.tasks() > kLarge ? 10 * precision : precision;
}

HalvingSteps::HalvingSteps(double refuted, double upper, double grain, double precision)
    : low_(refuted),
      high_(upper),
      grain_(grain),
      precision_(precision),
      leap_(refuted > 0 ? 0.004 * refuted : 1),
      closed_(refuted >= upper * kJustBelow) {
  if (upper < kInfinity) top_ = grain > 0 ? multiple(upper - grain) : upper * kJustBelow;
}

// The multiple of the grain at or below a makespan, up to rounding.
double HalvingSteps::multiple(double makespan) const {
  return std::floor(makespan / grain_ + 1e-6) * grain_;
}

bool HalvingSteps::closed() const {
  if (closed_ || top_) return closed_;
  if (std::isinf(high_)) return false;
  return grain_ > 0 ? high_ - low_ < 0.5 * grain_ : high_ - low_ <= precision_ * high_;
}

std::optional<Question> HalvingSteps::next() const {
  if (closed()) return std::nullopt;
  if (top_) return Question{*top_};
  double middle = (low_ + high_) / 2;
  if (leaping_) middle = std::isinf(high_) ? low_ + leap_ : std::min(low_ + leap_, middle);
  if (grain_ > 0) middle = std::max(low_, multiple(std::min(middle, high_ - grain_)));
  return Question{middle};
}

void HalvingSteps::tell(bool refuted, double) {
  const double asked = next()->makespan;
  if (refuted) {
    low_ = least_above(asked, grain_);
    leap_ *= 3;
    closed_ = top_.has_value();
  } else {
    high_ = asked;
    leaping_ = leaping_ && top_;
  }
  top_.reset();
}

GeometricSteps::GeometricSteps(double refuted, double first, double upper, double precision)
    : value_(refuted),
      first_(first),
      precision_(precision),
      top_(upper * kJustBelow),
      phase_(refuted >= top_    ? Phase::closed
             : top_ < kInfinity ? Phase::top
                                : Phase::bare) {}

double GeometricSteps::at(long k) const {
  return first_ * std::pow(1 + precision_, static_cast<double>(k));
}

double GeometricSteps::power_of(double makespan) const {
  return std::log(makespan / first_) / std::log1p(precision_);
}

bool GeometricSteps::met() const {
  constexpr long kRoughly = 32;
  return above_ != kNone && above_ - below_ <= (phase_ == Phase::bare ? kRoughly : 1);
}

void GeometricSteps::enter(Phase phase) {
  phase_ = phase;
  above_ = known_;
  leap_ = phase == Phase::quick ? 16 : 1;  // what is quick may find much more, a programme little
}

std::optional<Question> GeometricSteps::next() {
  if (phase_ == Phase::top) return Question{top_};
  if (phase_ == Phase::bare && met()) enter(Phase::quick);
  if (phase_ == Phase::quick && met()) enter(Phase::thorough);
  if (phase_ == Phase::closed || met()) return std::nullopt;
  asked_ = above_ == kNone ? below_ + leap_ : std::min(below_ + leap_, (below_ + above_) / 2);
  if (reach_ > at(below_ + 1)) {
    const long reached = static_cast<long>(power_of(reach_));
    const bool creeps = reached > above_ - std::max(2L, (above_ - below_) / 16);
    if (refuted_)
      asked_ = std::max(asked_, reached);
    else if (!creeps)
      asked_ = reached;
  }
  asked_ = std::clamp(asked_, below_ + 1, above_ - 1);
  return Question{at(asked_), phase_ == Phase::bare    ? Depth::bare
                              : phase_ == Phase::quick ? Depth::quick
                                                       : Depth::full};
}

void GeometricSteps::tell(bool refuted, double reach) {
  reach_ = reach;
  refuted_ = refuted;
  if (phase_ == Phase::top) {
    if (refuted) value_ = top_;
    if (!refuted) known_ = above_ = std::max(1L, static_cast<long>(std::ceil(power_of(top_))));
    phase_ = refuted ? Phase::closed : Phase::bare;
  } else if (refuted) {
    below_ = asked_;
    value_ = at(asked_);
    leap_ *= kGrowth;
  } else {
    above_ = asked_;
    leap_ = std::max(1L, leap_ / 4);
  }
}

}  // namespace cosched::dags::proof
