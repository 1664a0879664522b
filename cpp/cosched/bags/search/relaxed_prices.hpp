// What the relaxation (6) says at a makespan: where the searches of ttb-best begin.
#pragma once

#include "cosched/bags/energy/front.hpp"

namespace cosched::bags::search {

struct RelaxedPrices {
  double makespan;
  std::vector<double> prices;  // joules a second of each machine type
};

/// Requires falling makespans; those below the least one of the relaxation are left out.
std::vector<RelaxedPrices> relaxed_prices_at(const Instance& instance,
                                             const std::vector<double>& makespans);

/// What a task of each type is worth at those prices: its least cost in energy and machine time.
std::vector<double> task_values(const Instance& instance, const RelaxedPrices& prices);

}  // namespace cosched::bags::search
