
#pragma once

#include <vector>

#include "cosched/opt/event_network.hpp"

namespace cosched::opt {

/// Length of the longest path.  O(nodes + n + links).
class PathLength {
 public:
  explicit PathLength(const EventNetwork& network);
  double operator()(const std::vector<double>& duration) const;

 private:
  struct Arc {
    int from, to, task;  // task -1: a link
  };
  int nodes_;
  std::vector<Arc> arcs_;  // by head, so that a pass from front to back is a longest path
};

}  // namespace cosched::opt
