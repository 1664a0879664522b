#include "cosched/cluster/model/decision_log.hpp"

#include "cosched/core/numeric.hpp"

namespace cosched::cluster {

const char* to_string(JobAction action) {
  constexpr const char* kNames[] = {"start", "wait", "pause", "resume", "move", "finish"};
  return kNames[static_cast<int>(action)];
}

std::string explain(const Decision& decision, const Jobs& jobs) {
  const std::string other = jobs.name_of(decision.other);
  const std::string value = to_text(decision.value);
  const bool is_never = decision.value == kInfinity;
  switch (decision.reason) {
    case Reason::completed:
      return "its work is done";
    case Reason::head_of_queue:
      return "first in the queue, " + value + " nodes free";
    case Reason::backfill_in_time:
      return is_never
                 ? "backfilled: ends, and " + other + " waits for a job without a time limit"
                 : "backfilled: ends before the reservation of " + other + " at " + value + " s";
    case Reason::backfill_extra:
      return "backfilled: fits in the " + value + " nodes that " + other + " leaves idle";
    case Reason::too_few_nodes:
      return "only " + value + " nodes free";
    case Reason::no_nodes:
      return value + " cores free, but not on nodes with all that it needs of each";
    case Reason::reservation:
      return "would delay " + other +
             (is_never ? ", which waits for a job without a time limit"
                       : ", reserved for " + value + " s");
    case Reason::behind_queue:
      return other + " is before it in the queue";
    case Reason::promised:
      return is_never ? "promised a start behind a job without a time limit"
                      : "promised a start at " + value + " s";
    case Reason::greedy:
      return "placed on the least loaded nodes with memory left";
    case Reason::no_memory:
      return "memory left for only " + value + " of its tasks";
    case Reason::makes_room:
      return "makes room for " + other;
    case Reason::packed:
      return "packed by MCB8 at target " + value;
    case Reason::packed_out:
      return "dropped by MCB8: lowest priority, " + value;
    case Reason::next_period:
      return "waits for the next period";
    case Reason::policy:
      return "decided by the policy";
  }
  return "";
}

}  // namespace cosched::cluster
