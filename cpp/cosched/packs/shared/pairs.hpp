// Packs of two tasks that share the machine, exactly.
#pragma once

#include "cosched/packs/model/coschedule.hpp"

namespace cosched::packs::shared {

/// The optimum for max_tasks <= 2 under any law, by matching: only that the costs of packs add up
/// is used.  Throws InvalidInstance where max_tasks > 2.
Coschedule pairs(const Instance& instance);

}  // namespace cosched::packs::shared
