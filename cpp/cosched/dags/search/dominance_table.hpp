// States of a search that have been gone through, within a limit of memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

namespace cosched::dags::search {

class DominanceTable {
 public:
  /// `max_bytes`: of keys, states and the table that holds them, as far as that can be counted.
  explicit DominanceTable(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  /// Whether an earlier state with this key is nowhere greater.  Otherwise keeps this one, unless
  /// that would take too much memory.  States of one key have one length.  O(states of the key).
  bool is_dominated(const std::string& key, const std::vector<double>& state);

  /// Bytes of what is kept, about.
  std::size_t bytes() const { return bytes_; }

 private:
  // Of an entry beside its key and numbers: a node of the table and its bucket.
  static constexpr std::size_t kEntryBytes =
      sizeof(std::string) + sizeof(std::vector<double>) + 4 * sizeof(void*);
  static bool is_nowhere_greater(const double* earlier, const std::vector<double>& state);
  static std::size_t bytes_to_append(const std::vector<double>& numbers, std::size_t count);

  std::unordered_map<std::string, std::vector<double>> states_;
  std::size_t max_bytes_, bytes_ = 0;
};

}  // namespace cosched::dags::search
