#include "cosched/dags/search/unit_numbers.hpp"

namespace cosched::dags::search {

UnitNumbers::UnitNumbers(const Instance& instance) {
  for (int type = 0; type < instance.types(); ++type) {
    first_.push_back(static_cast<int>(places_.size()));
    for (int unit = 0; unit < list::useful_units(instance, type); ++unit) {
      places_.push_back({type, unit});
      memory_.push_back(instance.transfers().memory({type, unit}));
    }
  }
}

}  // namespace cosched::dags::search
