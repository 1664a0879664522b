// Sorts items by values of which few are distinct, as needs of jobs and loads of nodes are.
#pragma once

#include <cstddef>
#include <vector>

namespace cosched::cluster::dfrs {

/// Items of one kind have the same value.
struct ValueKinds {
  std::vector<double> values;  // by kind, decreasing
  std::vector<int> kind_of;    // by item
};

/// O(items) where few values are distinct, else O(items log items).
ValueKinds find_value_kinds(const std::vector<double>& values);

/// Items by kind, those of one kind by number.  Requires kinds in [0, kind_count).
/// O(items + kinds).
std::vector<int> sort_by_kind(const std::vector<int>& kind_of, std::size_t kind_count);

/// Items by decreasing value, equal values by number.
std::vector<int> sort_by_decreasing_value(const std::vector<double>& values);

}  // namespace cosched::cluster::dfrs
