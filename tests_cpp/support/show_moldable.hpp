// Instances of moldable, printed where a random test fails.
#pragma once

#include "cosched/moldable/model/instance.hpp"
#include "support/show_sharing.hpp"

namespace cosched::moldable {

inline void show(std::ostream& out, const Instance& instance) {
  out << instance.machines() << " processors, ";
  if (instance.table() != nullptr) {
    out << "times ";
    cosched::test_support::show_rows(out, instance.table()->table());
  }
  for (const Downey& profile : instance.profiles())
    out << "Downey{" << profile.sequential_time << ", " << profile.parallelism << ", "
        << profile.variance << "} ";
  out << ", weights ";
  cosched::test_support::show(out, instance.weights());
  out << ", releases ";
  cosched::test_support::show(out, instance.releases());
  if (instance.sharing() != nullptr) show(out, *instance.sharing());
  if (instance.graph() != nullptr) show(out, *instance.graph());
}

}  // namespace cosched::moldable
