// A plan under other times than it was made for: what becomes of it, and what would have been
// possible.
#pragma once

#include "cosched/dags/hlp/certificate.hpp"
#include "cosched/dags/model/instance.hpp"

namespace cosched::dags::search {

/// What a plan leaves open when times change.
enum class Kept {
  units,  // each task on its unit, and the order on each unit
  list,  // each task on its type; of those whose data is there an idle unit takes the one that the plan
         // starts first: Graham's list scheduling (list_rules.hpp)
};

class Replay {
 public:
  /// `plan`: valid for the graph and units of `instance`; its times are of no matter but for the
  /// order.
  Replay(const Instance& instance, const Plan& plan, Kept kept);

  /// Each task as early as its data and its unit allow.  `instance` has other times or transfers,
  /// the same graph and units.  With the plan's own times, and `units`, the plan itself where
  /// nothing in it could start earlier.  Kept::units O(n + e), Kept::list as list_schedule().
  Plan run(const Instance& instance) const;

 private:
  const Plan& plan_;
  Kept kept_;
  std::vector<int> order_;  // by start, each task after its predecessors
};

struct Draws {
  std::vector<double> value, bound;  // of each draw; bound empty unless asked for
};

/// Replays where the times of task j are factors(d, j) > 0 times those of `instance`, on every
/// type. `relaxation` (null: no bounds) is a proof of LP* for any of these times: since prices that
/// are good for one are good for the next, each draw's bound, windows_bound() and where data costs
/// time transfers_bound(), starts from it instead of a linear programme of its own, and ends within
/// a relative 1e-3 of what it could prove.
Draws replay_draws(const Instance& instance, const Plan& plan, Kept kept, const Table& factors,
                   const hlp::Certificate* relaxation);

}  // namespace cosched::dags::search
