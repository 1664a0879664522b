// Instances of dags, printed where a random test fails.
#pragma once

#include "cosched/dags/model/instance.hpp"
#include "cosched/dags/model/paths.hpp"
#include "cosched/dags/model/plan.hpp"
#include "cosched/dags/model/time_grain.hpp"
#include "support/show_sharing.hpp"

namespace cosched::dags {

inline void show(std::ostream& out, const Instance& instance) {
  out << "units ";
  cosched::test_support::show(out, instance.units());
  out << ", times ";
  cosched::test_support::show_rows(out, instance.times());
  show(out, instance.graph());
  if (!instance.transfers().has_data()) return;
  out << ", bytes of the edges ";
  cosched::test_support::show(out, instance.transfers().data());
  out << ", cost of each edge between types {";
  for (int edge = 0; edge < instance.graph().edges(); ++edge) {
    out << (edge > 0 ? ", {" : "{");
    for (int from = 0; from < instance.types(); ++from)
      for (int to = 0; to < instance.types(); ++to)
        out << (from + to > 0 ? ", " : "") << instance.transfers().least_cost(edge, from, to);
    out << '}';
  }
  out << '}';
}

}  // namespace cosched::dags
