// Units that can be of use in one numbering, type by type.
#pragma once

#include <vector>

#include "cosched/dags/list/data_arrival.hpp"

namespace cosched::dags::search {

/// Numbers the units that can be of use, type by type, with their memories.
class UnitNumbers {
 public:
  explicit UnitNumbers(const Instance& instance);

  int count() const { return static_cast<int>(places_.size()); }
  int number(Place place) const { return first_[place.type] + place.unit; }
  Place place(int number) const { return places_[number]; }
  std::int64_t memory(int number) const { return memory_[number]; }

 private:
  std::vector<int> first_;
  std::vector<Place> places_;
  std::vector<std::int64_t> memory_;
};

}  // namespace cosched::dags::search
