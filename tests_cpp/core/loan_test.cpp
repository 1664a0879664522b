#include "cosched/core/loan.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace cosched {
namespace {

TEST(Loan, HoldsUntilTheNextCall) {
  Lender lender;
  std::vector<int> buffer{3};
  lender.begin_call();
  const Loan<std::vector<int>> first = lender.lend(buffer);
  EXPECT_TRUE(first);
  EXPECT_EQ((*first)[0], 3);
  EXPECT_EQ(first->size(), 1U);
  lender.begin_call();
  EXPECT_THROW(*first, std::logic_error);
  EXPECT_EQ((*lender.lend(buffer))[0], 3);
}

TEST(Loan, IsNoneByDefault) {
  const Loan<int> none;
  EXPECT_FALSE(none);
  EXPECT_EQ(none.get(), nullptr);
}

}  // namespace
}  // namespace cosched
