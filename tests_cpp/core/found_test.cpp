#include "cosched/core/found.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace cosched {
namespace {

TEST(Found, WhatIsNotThereIsNoUndefinedBehaviour) {
  std::vector<int> values{3, 1, 2, 1};
  erase_found(values, 1, "a value");
  EXPECT_EQ(values, (std::vector<int>{3, 2, 1}));
  EXPECT_THROW(erase_found(values, 7, "a value"), std::logic_error);
  EXPECT_EQ(values.size(), 3U);
  EXPECT_EQ(*require_found(values.begin(), values.end(), "the first"), 3);
  EXPECT_THROW(require_found(values.end(), values.end(), "the first"), std::logic_error);
}

}  // namespace
}  // namespace cosched
