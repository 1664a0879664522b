// What a job needs of the nodes' memory.
#pragma once

#include <cstdint>
#include <tuple>

namespace cosched::cluster::dfrs {

/// Jobs of one shape find room all or none.
struct JobShape {
  std::int64_t memory_need;  // of a task, in units (model/units.hpp)
  int tasks;
  double memory;  // of a task, as a fraction of a node: the units are rounded

  bool operator<(const JobShape& other) const {
    return std::tie(memory_need, tasks, memory) <
           std::tie(other.memory_need, other.tasks, other.memory);
  }
  bool operator==(const JobShape& other) const = default;
};

}  // namespace cosched::cluster::dfrs
