#include "cosched/cluster/model/trace.hpp"

#include <gtest/gtest.h>

namespace cosched::cluster {
namespace {

TEST(Trace, MappingsAreNumberedAndRowsReferToThem) {
  Trace trace;
  EXPECT_EQ(trace.add_mapping({3, 3}), 0);
  EXPECT_EQ(trace.add_mapping({1}), 1);
  trace.add(7, 1, 2, 5, 1, 0, RowCause::start);
  ASSERT_EQ(trace.rows(), 1u);
  EXPECT_EQ(trace.mappings(), 2);
  EXPECT_EQ(trace.node_begin, (std::vector<std::int64_t>{0, 2, 3}));
  EXPECT_EQ(trace.node[trace.node_begin[trace.mapping[0]]], 1);
  EXPECT_EQ(trace.progress[0], 0);
}

}  // namespace
}  // namespace cosched::cluster
