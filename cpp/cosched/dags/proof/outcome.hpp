// What a step of a refutation comes to.
#pragma once

namespace cosched::dags::proof {

enum class Outcome {
  refuted,  // nothing is left: no schedule is as short as T
  closed,   // something that was open is not any more: prune again
  nothing,
};

}  // namespace cosched::dags::proof
