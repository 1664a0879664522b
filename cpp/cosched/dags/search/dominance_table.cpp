#include "cosched/dags/search/dominance_table.hpp"

namespace cosched::dags::search {

bool DominanceTable::is_dominated(const std::string& key, const std::vector<double>& state) {
  const auto entry = states_.find(key);
  if (entry == states_.end()) {
    const std::size_t bytes = kEntryBytes + key.size() + state.size() * sizeof(double);
    if (bytes_ + bytes > max_bytes_) return false;
    bytes_ += bytes;
    states_.emplace(key, state);
    return false;
  }
  std::vector<double>& numbers = entry->second;
  for (std::size_t first = 0; first < numbers.size(); first += state.size())
    if (is_nowhere_greater(numbers.data() + first, state)) return true;
  const std::size_t bytes = bytes_to_append(numbers, state.size());
  if (bytes_ + bytes > max_bytes_) return false;
  bytes_ += bytes;
  numbers.insert(numbers.end(), state.begin(), state.end());
  return false;
}

bool DominanceTable::is_nowhere_greater(const double* earlier, const std::vector<double>& state) {
  for (std::size_t k = 0; k < state.size(); ++k)
    if (earlier[k] > state[k]) return false;
  return true;
}

// Bytes by which the vector grows when `count` numbers are appended: it doubles when it is full.
std::size_t DominanceTable::bytes_to_append(const std::vector<double>& numbers, std::size_t count) {
  const std::size_t needed_size = numbers.size() + count;
  if (needed_size <= numbers.capacity()) return 0;
  return (std::max(2 * numbers.size(), needed_size) - numbers.capacity()) * sizeof(double);
}

}  // namespace cosched::dags::search
