// Simulated annealing that cools with the work that is done.
#pragma once

#include <cmath>

#include "cosched/core/interrupt.hpp"

namespace cosched {

/// Calls step(warmth) until it returns false, or spent() is `work`.  The warmth falls geometrically
/// from 1 to `coldest`; temperatures are in proportion to it.  May be left by an exception of
/// check_interrupt(), between steps.
template <class Spent, class Step>
void anneal(double coldest, double work, Spent spent, Step step) {
  for (double done = 0; done < 1; done = static_cast<double>(spent()) / work) {
    if (!step(std::pow(coldest, done))) return;
    check_interrupt();
  }
}

}  // namespace cosched
