#include "cosched/slurm/queue/qsort_merge.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "cosched/core/rng.hpp"
#include "support/show_on_failure.hpp"

namespace cosched::slurm {
namespace {

// Who comes before whom, at random: no order at all.
constexpr int kKinds = 6;
bool table[kKinds][kKinds];

bool comes_before(int a, int b) { return table[a / 1000][b / 1000]; }

int compare(const void* x, const void* y) {
  const int a = *static_cast<const int*>(x), b = *static_cast<const int*>(y);
  if (comes_before(a, b)) return -1;
  return comes_before(b, a) ? 1 : 0;
}

#ifdef __GLIBC__
TEST(SortLikeQsort, WhatNoOrderSortsIsWhatTheLibraryOfSlurmMakesOfIt) {
  Rng rng(17);
  int unordered = 0;
  for (int round = 0; round < 3'000; ++round) {
    SHOW_ON_FAILURE(round);
    for (auto& row : table)
      for (bool& before : row) before = rng.below(2) == 0;
    std::vector<int> values(rng.below(40)), ours;
    for (std::size_t k = 0; k < values.size(); ++k)
      values[k] = static_cast<int>(1000 * rng.below(kKinds) + k);
    ours = values;
    sort_like_qsort(ours, comes_before);
    if (!values.empty()) std::qsort(values.data(), values.size(), sizeof(int), compare);
    EXPECT_EQ(ours, values);
    for (std::size_t k = 1; k < ours.size(); ++k) unordered += comes_before(ours[k], ours[k - 1]);
  }
  EXPECT_GT(unordered, 1'000);
}
#endif

TEST(SortLikeQsort, AnOrderIsSortedStably) {
  Rng rng(18);
  for (int round = 0; round < 500; ++round) {
    SHOW_ON_FAILURE(round);
    std::vector<int> values(rng.below(100));
    for (int& value : values) value = static_cast<int>(rng.below(1'000));
    std::vector<int> ours = values;
    const auto by_tens = [](int a, int b) { return a / 10 < b / 10; };
    sort_like_qsort(ours, by_tens);
    std::stable_sort(values.begin(), values.end(), by_tens);
    EXPECT_EQ(ours, values);
  }
}

}  // namespace
}  // namespace cosched::slurm
