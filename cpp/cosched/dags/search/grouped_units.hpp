// Units of a machine that nothing tells apart, for searches that need only one of each kind.
#pragma once

#include <map>
#include <vector>

#include "cosched/dags/list/data_arrival.hpp"

namespace cosched::dags::search {

/// Units of one type in one memory: a task starts on the one of them that is idle first.
struct UnitGroup {
  int type, memory;
  std::vector<int> units;  ///< indices into GroupedUnits::places
};

/// The useful units of a machine by type and memory.
struct GroupedUnits {
  explicit GroupedUnits(const Instance& instance);

  int units() const { return static_cast<int>(places.size()); }

  std::vector<Place> places;  ///< type and number of each unit
  std::vector<UnitGroup> groups;
  std::vector<std::vector<int>> groups_of_memory;  ///< of each memory, by type
  std::vector<std::vector<char>> has_type;         ///< (memory, type): the memory has such a unit
  std::vector<int> memory_shape;  ///< equal for memories with as many units of each type
};

}  // namespace cosched::dags::search
