// What the tasks of an instance share, printed where a random test fails.
#pragma once

#include "cosched/core/sharing.hpp"
#include "cosched/core/task_graph.hpp"
#include "support/show_on_failure.hpp"

namespace cosched {

inline void show(std::ostream& out, const Sharing& sharing) {
  for (int r = 0; r < sharing.resources(); ++r) {
    out << ", resource of capacity " << sharing.capacity(r) << " with needs ";
    test_support::show_rows(out, sharing.resource(r).need);
  }
  if (sharing.slowdowns()) {
    out << ", slow-downs by rule " << static_cast<int>(sharing.rule()) << " {";
    for (int i = 0; i < sharing.tasks(); ++i) {
      out << (i > 0 ? ", {" : "{");
      for (int j = 0; j < sharing.tasks(); ++j) out << (j > 0 ? ", " : "") << sharing.excess(i, j);
      out << '}';
    }
    out << '}';
  }
  if (sharing.has_bandwidth()) {
    out << ", bandwidth " << sharing.bandwidth()->capacity << " with demands ";
    test_support::show_rows(out, sharing.bandwidth()->demand);
    out << ", stalls ";
    test_support::show(out, sharing.bandwidth()->stall);
  }
}

inline void show(std::ostream& out, const TaskGraph& graph) {
  out << ", edges {";
  const char* comma = "";
  for (int task = 0; task < graph.tasks(); ++task)
    for (const int next : graph.successors(task)) {
      out << comma << '{' << task << ", " << next << '}';
      comma = ", ";
    }
  out << '}';
}

}  // namespace cosched
