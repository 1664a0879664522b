// Instances of packs, printed where a random test fails.
#pragma once

#include "cosched/packs/model/bounds.hpp"
#include "cosched/packs/model/instance.hpp"
#include "support/show_sharing.hpp"

namespace cosched::packs {

inline void show(std::ostream& out, const Instance& instance) {
  out << "at most " << instance.max_tasks() << " tasks a pack, times ";
  cosched::test_support::show_rows(out, instance.times().table());
  if (instance.sharing() != nullptr) show(out, *instance.sharing());
}

}  // namespace cosched::packs
