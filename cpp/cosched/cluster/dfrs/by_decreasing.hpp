// Sorting by values of which few are distinct, as needs of jobs and loads of nodes are.
#pragma once

#include <cstddef>
#include <vector>

namespace cosched::cluster::dfrs {

/// Items of one kind have the same value.
struct Kinds {
  std::vector<double> values;  // by kind, decreasing
  std::vector<int> of;         // by item
};

/// O(items) where few values are distinct, else O(items log items).
Kinds kinds_of(const std::vector<double>& values);

/// Items by kind, those of one by number; `count` kinds.  O(items + kinds).
std::vector<int> by_kind(const std::vector<int>& kind_of, std::size_t count);

/// Items by decreasing value, ties by number.
std::vector<int> by_decreasing(const std::vector<double>& values);

}  // namespace cosched::cluster::dfrs
