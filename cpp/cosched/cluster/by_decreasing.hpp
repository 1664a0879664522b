// Sorting by values of which few are distinct, as needs of jobs and loads of nodes are.
#pragma once

#include <vector>

namespace cosched::cluster {

/// Items by decreasing value, ties by number.
std::vector<int> by_decreasing(const std::vector<double>& values);

}  // namespace cosched::cluster
