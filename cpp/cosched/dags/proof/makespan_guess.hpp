// What the search for a bound asks a refuter, and what that answers.
#pragma once

#include <optional>

namespace cosched::dags::proof {

/// How much a refuter tries.
enum class RefuterDepth {
  bare,   ///< pruning only, which needs next to no time
  quick,  ///< no linear programme, but the combined rows of those at earlier T
  full,
};

/// A guess T of which a refuter tries to prove that no schedule is as short.
struct MakespanGuess {
  double makespan = 0;
  RefuterDepth depth = RefuterDepth::full;
};

/// What the refuter has found.
template <class Refutation>
struct RefutationResult {
  std::optional<Refutation> proof;  ///< none: T is not refuted
  double lp_value = 0;              ///< of its last linear programme, seconds; 0: none was solved
};

}  // namespace cosched::dags::proof
