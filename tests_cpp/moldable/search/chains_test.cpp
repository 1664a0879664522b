#include "cosched/moldable/search/chains.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "cosched/core/interrupt.hpp"

namespace cosched::moldable::search {
namespace {

// A placement of one job that says which it is.
Placement numbered(int number) {
  Placement placement = empty_placement(1);
  placement.procs[0] = number;
  return placement;
}

TEST(MoldableChains, TheLastOfEachIsOfferedInOrder) {
  std::vector<int> seen;
  const auto chain = [](int k, const Offer& offer) {
    if (k == 3) return;  // found nothing
    offer(numbered(100));
    offer(numbered(k + 1));
  };
  run_chains(6, chain, [&](const Placement& offered) { seen.push_back(offered.procs[0]); });
  EXPECT_EQ(seen, (std::vector<int>{1, 2, 3, 5, 6}));
}

TEST(MoldableChains, WhatWasFoundIsOfferedBeforeTheyEndByAnException) {
  int seen = 0;
  const Offer offer = [&](const Placement&) { ++seen; };
  const auto endless = [](int k, const Offer& send_offer) {
    send_offer(numbered(k + 1));
    for (;;) check_interrupt();
  };
  EXPECT_FALSE(finishes_within(0.05, [&] { run_chains(8, endless, offer); }));
  EXPECT_GT(seen, 0);
  seen = 0;
  const auto broken = [](int, const Offer& send_offer) {
    send_offer(numbered(1));
    throw std::runtime_error("broken");
  };
  EXPECT_THROW(run_chains(1, broken, offer), std::runtime_error);
  EXPECT_EQ(seen, 1);
}

}  // namespace
}  // namespace cosched::moldable::search
