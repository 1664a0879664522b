// What a stage of a refutation has achieved.
#pragma once

namespace cosched::dags::proof {

enum class StageOutcome {
  refuted,  ///< no schedule is as short as T
  closed,   ///< a type or a placement was closed, so pruning may close more
  nothing,  ///< neither
};

}  // namespace cosched::dags::proof
