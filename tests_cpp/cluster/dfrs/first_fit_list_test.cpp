#include "cosched/cluster/dfrs/first_fit_list.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "cosched/core/rng.hpp"
#include "support/show_on_failure.hpp"

namespace cosched::cluster::dfrs {
namespace {

// Nodes are filled one after the other, by one task at a time: each answer is that of a scan.
TEST(FirstFitList, FindsTheItemThatAScanFinds) {
  Rng rng(11);
  for (int round = 0; round < 200; ++round) {
    SHOW_ON_FAILURE(round);
    const int count = static_cast<int>(rng.below(20));
    std::vector<double> keys;
    std::vector<double> second_requirements;
    for (int k = 0; k < count; ++k) {
      keys.push_back(0.1 * static_cast<double>(rng.between(1, 10)));
      second_requirements.push_back(0.1 * static_cast<double>(rng.below(11)));
    }
    std::sort(keys.begin(), keys.end(), std::greater<>());
    FirstFitList list;
    for (int k = 0; k < count; ++k) list.push(100 + k, keys[k], second_requirements[k]);
    list.build();
    std::vector<char> is_removed(keys.size(), 0);
    for (int node = 0; node < 5; ++node) {
      list.rewind();
      double key_load = 0;
      double second_load = 0;
      for (;;) {
        int expected = -1;
        for (int k = count - 1; k >= 0; --k)
          if (!is_removed[k] && key_load + keys[k] <= 1 &&
              second_load + second_requirements[k] <= 1)
            expected = k;
        const int position = list.find(key_load, second_load, 1);
        ASSERT_EQ(position, expected);
        if (position < 0) break;
        EXPECT_EQ(list.item(position), 100 + position);
        key_load += keys[position];
        second_load += second_requirements[position];
        if (rng.below(2) == 0) continue;
        list.remove(position);
        is_removed[position] = 1;
      }
    }
  }
}

}  // namespace
}  // namespace cosched::cluster::dfrs
