// What the relaxation (6) says at a makespan: where the searches of ttb-best begin.
#pragma once

#include <vector>

#include "cosched/bags/model/instance.hpp"

namespace cosched::bags::search {

struct Probe {
  double makespan;
  std::vector<double> price;  // joules a second of each machine type
};

/// Requires falling makespans; those below the least one of the relaxation are left out.
std::vector<Probe> probe(const Instance& instance, const std::vector<double>& makespans);

/// What a task of each type is worth at those prices: its least cost in energy and machine time.
std::vector<double> task_values(const Instance& instance, const Probe& at);

}  // namespace cosched::bags::search
