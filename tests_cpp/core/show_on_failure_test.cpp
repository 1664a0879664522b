#include "support/show_on_failure.hpp"

#include <cstdint>
#include <stdexcept>

namespace cosched::test_support {
namespace {

std::string printed_case(bool throws) {
  ::testing::internal::CaptureStdout();
  try {
    const std::uint64_t seed = 7;
    const std::vector<double> times{0.1, 2};
    SHOW_ON_FAILURE(seed);
    SHOW_ON_FAILURE(times);
    if (throws) throw std::runtime_error("inside");
  } catch (const std::runtime_error&) {
  }
  return ::testing::internal::GetCapturedStdout();
}

// With all digits, so that the case can be put into a test of its own; innermost first.
TEST(ShowOnFailure, PrintsTheCaseOfATestThatThrows) {
  EXPECT_EQ(printed_case(true), "  with times = [0.10000000000000001, 2]\n  with seed = 7\n");
}

TEST(ShowOnFailure, PrintsNothingWhereATestPasses) { EXPECT_EQ(printed_case(false), ""); }

}  // namespace
}  // namespace cosched::test_support
