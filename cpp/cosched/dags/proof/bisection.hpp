// The search for the largest makespan T that is refuted, as far as it is the same for both bounds:
// which T to ask about next.  What it takes to refute one is a refuter's business.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "cosched/core/errors.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/dags/model/instance.hpp"

namespace cosched::dags::proof {

struct BoundOptions {
  /// Makespan of a schedule: the T just below it is tried first, and none above.
  std::optional<double> upper;
  /// Relative width of the search's last interval; ten times that above kLarge tasks.
  double precision = 1e-4;

  double upper_or_none() const { return upper.value_or(kInfinity); }
  double precision_for(const Instance& instance) const;
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

inline constexpr int kLarge = 10000;  // tasks

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
  HalvingSteps(double refuted, double upper, double grain, double precision);

  std::optional<Question> next() const;
  void tell(bool refuted, double reach);
  /// The bound that the refutations so far prove.
  double value() const { return low_; }

 private:
  double multiple(double makespan) const;
  bool closed() const;

  double low_, high_, grain_, precision_;
  std::optional<double> top_;  // just below the upper bound, until it is asked
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
  GeometricSteps(double refuted, double first, double upper, double precision);

  std::optional<Question> next();
  void tell(bool refuted, double reach);
  double value() const { return value_; }

 private:
  static constexpr long kNone = std::numeric_limits<long>::max();
  enum class Phase { top, bare, quick, thorough, closed };

  double at(long k) const;
  double power_of(double makespan) const;
  bool met() const;
  void enter(Phase phase);

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
