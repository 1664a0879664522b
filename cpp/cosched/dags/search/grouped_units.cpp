#include "cosched/dags/search/grouped_units.hpp"

namespace cosched::dags::search {

GroupedUnits::GroupedUnits(const Instance& instance) {
  for (int type = 0; type < instance.types(); ++type)
    for (int unit = 0; unit < list::useful_units(instance, type); ++unit)
      places.push_back({type, unit});
  std::map<std::int64_t, int> memory_number;
  std::map<std::pair<int, int>, int> group_number;
  const bool is_transfer_free = instance.transfers().is_free();
  for (int unit = 0; unit < units(); ++unit) {
    const std::int64_t memory = is_transfer_free ? 0 : instance.transfers().memory(places[unit]);
    const int memory_of_unit =
        memory_number.emplace(memory, static_cast<int>(memory_number.size())).first->second;
    const int type = places[unit].type;
    const auto [entry, is_new] =
        group_number.emplace(std::pair(memory_of_unit, type), static_cast<int>(groups.size()));
    if (is_new) groups.push_back({type, memory_of_unit, {}});
    groups[entry->second].units.push_back(unit);
  }
  groups_of_memory.resize(memory_number.size());
  has_type.assign(groups_of_memory.size(), std::vector<char>(instance.types(), 0));
  for (std::size_t g = 0; g < groups.size(); ++g) {
    groups_of_memory[groups[g].memory].push_back(static_cast<int>(g));
    has_type[groups[g].memory][groups[g].type] = 1;
  }
  std::map<std::vector<std::pair<int, std::size_t>>, int> shapes;
  for (std::vector<int>& memory_groups : groups_of_memory) {
    std::sort(memory_groups.begin(), memory_groups.end(),
              [&](int a, int b) { return groups[a].type < groups[b].type; });
    std::vector<std::pair<int, std::size_t>> shape;
    for (const int g : memory_groups) shape.emplace_back(groups[g].type, groups[g].units.size());
    memory_shape.push_back(
        shapes.emplace(std::move(shape), static_cast<int>(shapes.size())).first->second);
  }
}

}  // namespace cosched::dags::search
