// The search for the largest makespan T that is refuted, as far as it is the same for both bounds:
// which T to ask about next.  What it takes to refute one is a refuter's business.
#pragma once

#include "cosched/core/interrupt.hpp"
#include "cosched/dags/model/instance.hpp"

namespace cosched::dags::proof {

inline constexpr int kLarge = 10000;  // tasks

struct BoundOptions {
  /// Makespan of a schedule: the T just below it is tried first, and none above.
  std::optional<double> upper;
  /// Relative width of the search's last interval; ten times that above kLarge tasks.
  double precision = 1e-4;

  double upper_or_none() const { return upper.value_or(kInfinity); }
  double precision_for(const Instance& instance) const {
    return instance.tasks() > kLarge ? 10 * precision : precision;
  }
};

template <class Certificate>
struct ProvenBound {
  double value = 0;  // at most every makespan
  Certificate certificate;
  bool complete = true;  // false: a time limit ended the search, the value is the best so far
  std::string failure;   // why a solver ended it, with the best so far; empty: none did
};

/// Runs a search that keeps what it proves in `best`: a time limit, or a solver that fails, leaves
/// that.
template <class Certificate, class Search>
void prove_so_far(ProvenBound<Certificate>& best, Search&& search) {
  best.complete = finishes_within(std::nullopt, [&] {
    try {
      std::forward<Search>(search)();
    } catch (const SolverError& error) {
      best.failure = error.what();
    }
  });
}

/// A schedule is proved optimal where this share of its makespan is refuted.
inline constexpr double kJustBelow = 1 - 0.9 * kExactTolerance;

/// How far a refuter goes.
enum class Depth {
  bare,   // what needs next to no time
  quick,  // no linear programme, but what is known from those at earlier T
  full,
};

/// What a refuter is asked.
struct Question {
  double makespan = 0;
  Depth depth = Depth::full;
};

/// What it answers.
template <class Refutation>
struct Attempt {
  std::optional<Refutation> proof;  // empty: not refuted
  double reach = 0;                 // what its last linear programme came to; 0: none was solved
};

/// Halves the interval between what is refuted and what is not, after leaps of three times the last
/// one up to a T that is not.  Where all times are multiples of a `grain` (instance.hpp; otherwise
/// 0) only those are asked about.
class HalvingSteps {
 public:
  HalvingSteps(double refuted, double upper, double grain, double precision)
      : low_(refuted),
        high_(upper),
        grain_(grain),
        precision_(precision),
        top_(grain > 0 ? multiple(upper - grain) : upper * kJustBelow),
        at_top_(upper < kInfinity),
        leap_(refuted > 0 ? 0.004 * refuted : 1),
        closed_(refuted >= upper * kJustBelow) {}

  std::optional<Question> next() const {
    if (closed()) return std::nullopt;
    if (at_top_) return Question{top_};
    double middle = (low_ + high_) / 2;
    if (leaping_) middle = std::isinf(high_) ? low_ + leap_ : std::min(low_ + leap_, middle);
    if (grain_ > 0) middle = std::max(low_, multiple(std::min(middle, high_ - grain_)));
    return Question{middle};
  }

  void tell(bool refuted, double) {
    const double asked = next()->makespan;
    if (refuted) {
      low_ = least_above(asked, grain_);
      leap_ *= 3;
      closed_ = at_top_;
    } else {
      high_ = asked;
      leaping_ = leaping_ && at_top_;
    }
    at_top_ = false;
  }
  /// The bound that the refutations so far prove.
  double value() const { return low_; }

 private:
  // The multiple of the grain at or below a makespan, up to rounding.
  double multiple(double makespan) const { return std::floor(makespan / grain_ + 1e-6) * grain_; }

  bool closed() const {
    if (closed_ || at_top_) return closed_;
    if (std::isinf(high_)) return false;
    return grain_ > 0 ? high_ - low_ < 0.5 * grain_ : high_ - low_ <= precision_ * high_;
  }

  double low_, high_, grain_, precision_;
  double top_;   // just below the upper bound
  bool at_top_;  // until that is asked
  double leap_;
  bool leaping_ = true;
  bool closed_;
};

/// Asks among first (1 + precision)^k only, `bare` questions first (roughly), then `quick` ones.
/// Which T these are does not depend on what transfers cost: so that a bound is no lower where they
/// cost more, as long as the refuter refutes there what it refutes where they cost less.  Asks next
/// where the last linear programme came to, unless that is next to where it was.
class GeometricSteps {
 public:
  /// `first`: > 0, where the powers begin.
  GeometricSteps(double refuted, double first, double upper, double precision)
      : value_(refuted),
        first_(first),
        precision_(precision),
        top_(upper * kJustBelow),
        phase_(refuted >= top_    ? Phase::closed
               : top_ < kInfinity ? Phase::top
                                  : Phase::bare) {}

  std::optional<Question> next() {
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

  void tell(bool refuted, double reach) {
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

  double value() const { return value_; }

 private:
  // Of a leap after a T that is refuted, which takes less than one that is not.
  static constexpr long kGrowth = 4;
  static constexpr long kNone = std::numeric_limits<long>::max();
  enum class Phase { top, bare, quick, thorough, closed };

  double at(long k) const { return first_ * std::pow(1 + precision_, static_cast<double>(k)); }

  double power_of(double makespan) const {
    return std::log(makespan / first_) / std::log1p(precision_);
  }

  bool met() const {
    constexpr long kRoughly = 32;
    return above_ != kNone && above_ - below_ <= (phase_ == Phase::bare ? kRoughly : 1);
  }

  void enter(Phase phase) {
    phase_ = phase;
    above_ = known_;
    leap_ = phase == Phase::quick ? 16 : 1;  // what is quick may find much more, a programme little
  }

  double value_, first_, precision_, top_;
  Phase phase_;
  long below_ = 0;      // is refuted
  long above_ = kNone;  // is not, or not in this phase
  long known_ = kNone;  // is not
  long asked_ = 0, leap_ = 100;
  double reach_ = 0;
  bool refuted_ = false;  // the last one
};

/// Asks `refuter` about the T of `steps`, and keeps the last proof in `best`, which a time limit
/// may leave at any moment.
template <class Steps, class Refuter, class Bound>
void bisect(Steps steps, Refuter& refuter, Bound& best) {
  while (const std::optional<Question> question = steps.next()) {
    check_interrupt();
    auto attempt = refuter.refute(*question);
    steps.tell(attempt.proof.has_value(), attempt.reach);
    if (!attempt.proof) continue;
    best.certificate.refutation = *std::move(attempt.proof);
    best.value = steps.value();
  }
}

}  // namespace cosched::dags::proof
