// The times of transfers, computed from scratch.
#include "cosched/dags/check/transfer_seconds.hpp"

#include <gtest/gtest.h>

namespace cosched::dags {
namespace {

TEST(TransferSeconds, AreLatencyAndBytesByBandwidthBetweenMemories) {
  const Links links{
      .bandwidth = Table{{10, 5}, {2, 1}}, .latency = Table{{0.5, 1}, {2, 3}}, .memories = {}};
  const auto seconds = check::transfer_seconds({2, 2}, {0, 20}, links);
  EXPECT_EQ(seconds(0, 0, 0, 1, 0), 0);  // no bytes
  EXPECT_EQ(seconds(1, 0, 0, 0, 1), 0);  // the units of the host share a memory
  EXPECT_EQ(seconds(1, 0, 0, 1, 0), 1 + 20 / 5.0);
  EXPECT_EQ(seconds(1, 1, 0, 0, 0), 2 + 20 / 2.0);
  EXPECT_EQ(seconds(1, 1, 0, 1, 1), 3 + 20 / 1.0);
  EXPECT_EQ(seconds(1, 1, 0, 1, 0), 0);
}

}  // namespace
}  // namespace cosched::dags
