#include "cosched/core/threads.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

#include "cosched/core/interrupt.hpp"

namespace cosched {
namespace {

TEST(Threads, DoEachPieceOnce) {
  for (const int threads : {1, 2, 5}) {
    std::vector<int> done(20, 0);
    in_threads(20, threads, [&](int k) { ++done[k]; });
    EXPECT_EQ(done, std::vector<int>(20, 1));
  }
  in_threads(0, 1, [](int) { FAIL(); });
}

TEST(Threads, WhatOneThrowsEndsTheOthers) {
  std::atomic<int> stopped{0};
  const auto work = [&](int k) {
    if (k == 1) throw std::runtime_error("one");
    const bool ended = finishes_within(std::nullopt, [] {
      for (;;) check_interrupt();
    });
    if (!ended) ++stopped;
  };
  for (int round = 0; round < 100; ++round) {  // never what the others throw because of it
    stopped = 0;
    EXPECT_THROW(in_threads(9, 2, work), std::runtime_error);
    EXPECT_EQ(stopped, 1);
  }
}

TEST(Threads, TheTimeLimitOfTheOneThatWaitsEndsAll) {
  std::atomic<int> stopped{0};
  const auto work = [&](int) {
    EXPECT_LT(seconds_left(), 1);
    if (!finishes_within(std::nullopt, [] {
          for (;;) check_interrupt();
        }))
      ++stopped;
  };
  EXPECT_FALSE(finishes_within(0.01, [&] {
    in_threads(2, 2, work);
    check_interrupt();
  }));
  EXPECT_EQ(stopped, 2);
}

TEST(Threads, OnlyTheOneThatWaitsCallsTheHook) {
  static std::atomic<int> calls;
  calls = 0;
  set_interrupt_hook([] {
    if (++calls > 1) throw std::runtime_error("interrupted");
  });
  std::atomic<int> stopped{0};
  const auto work = [&](int) {
    if (!finishes_within(std::nullopt, [] {
          for (;;) check_interrupt();
        }))
      ++stopped;
  };
  EXPECT_THROW(in_threads(2, 2, work), std::runtime_error);
  EXPECT_EQ(stopped, 2);
  set_interrupt_hook(nullptr);
}

}  // namespace
}  // namespace cosched
