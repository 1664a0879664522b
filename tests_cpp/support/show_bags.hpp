// Instances of bags, printed where a random test fails.
#pragma once

#include "cosched/bags/model/instance.hpp"
#include "support/show_on_failure.hpp"

namespace cosched::bags {

inline void show(std::ostream& out, const Instance& instance) {
  out << "counts ";
  cosched::test_support::show(out, instance.counts());
  out << ", machines ";
  cosched::test_support::show(out, instance.all_machines());
  out << ", seconds ";
  cosched::test_support::show_rows(out, instance.etc());
  out << ", watts ";
  cosched::test_support::show_rows(out, instance.apc());
  out << ", price " << instance.price() << ", energy cost " << instance.energy_cost()
      << ", idle power " << instance.idle_power() << ", power left " << instance.power_above_idle();
}

}  // namespace cosched::bags
