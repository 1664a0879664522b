// The search for the greatest makespan T that can be refuted.  Steps (halving_steps.hpp,
// geometric_steps.hpp) choose the next T, a refuter (windows_refuter.hpp, transfer_refuter.hpp)
// tries to prove that no schedule is as short.
#pragma once

#include "cosched/core/interrupt.hpp"
#include "cosched/dags/model/instance.hpp"
#include "cosched/dags/proof/makespan_guess.hpp"

namespace cosched::dags::proof {

/// Gives the guesses of `steps` to `refuter` until there are none left, and stores each proof in
/// `best`.  May be left by an exception of check_interrupt().
template <class Steps, class Refuter, class Bound>
void bisect(Steps steps, Refuter& refuter, Bound& best) {
  while (const std::optional<MakespanGuess> guess = steps.next_guess()) {
    check_interrupt();
    auto result = refuter.refute(*guess);
    steps.update(result.proof.has_value(), result.lp_value);
    if (!result.proof) continue;
    best.certificate.refutation = *std::move(result.proof);
    best.value = steps.value();
  }
}

}  // namespace cosched::dags::proof
