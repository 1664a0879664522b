// States of a search that have been gone through, within a limit of memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

namespace cosched::dags::search {

class SeenStates {
 public:
  /// `most_bytes`: of keys, states and the table that holds them, as far as that can be counted.
  explicit SeenStates(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  /// Whether an earlier state with this key is nowhere greater.  Otherwise keeps this one, unless
  /// that would take too much memory.  States of one key have one length.  O(states of the key).
  bool is_dominated(const std::string& key, const std::vector<double>& state) {
    const auto entry = states_.find(key);
    if (entry == states_.end()) {
      const std::size_t bytes = kEntryBytes + key.size() + state.size() * sizeof(double);
      if (bytes_ + bytes > most_bytes_) return false;
      bytes_ += bytes;
      states_.emplace(key, state);
      return false;
    }
    std::vector<double>& numbers = entry->second;
    for (std::size_t first = 0; first < numbers.size(); first += state.size())
      if (is_nowhere_greater(numbers.data() + first, state)) return true;
    const std::size_t bytes = bytes_to_append(numbers, state.size());
    if (bytes_ + bytes > most_bytes_) return false;
    bytes_ += bytes;
    numbers.insert(numbers.end(), state.begin(), state.end());
    return false;
  }

  /// Bytes of what is kept, about.
  std::size_t bytes() const { return bytes_; }

 private:
  // Of an entry beside its key and numbers: a node of the table and its bucket.
  static constexpr std::size_t kEntryBytes =
      sizeof(std::string) + sizeof(std::vector<double>) + 4 * sizeof(void*);

  static bool is_nowhere_greater(const double* earlier, const std::vector<double>& state) {
    for (std::size_t k = 0; k < state.size(); ++k)
      if (earlier[k] > state[k]) return false;
    return true;
  }

  // By which a vector grows, which doubles when it is full.
  static std::size_t bytes_to_append(const std::vector<double>& numbers, std::size_t count) {
    const std::size_t needed = numbers.size() + count;
    if (needed <= numbers.capacity()) return 0;
    return (std::max(2 * numbers.size(), needed) - numbers.capacity()) * sizeof(double);
  }

  std::unordered_map<std::string, std::vector<double>> states_;
  std::size_t most_bytes_, bytes_ = 0;
};

}  // namespace cosched::dags::search
