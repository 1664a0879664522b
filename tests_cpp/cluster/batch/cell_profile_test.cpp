#include "cosched/cluster/batch/cell_profile.hpp"

#include <gtest/gtest.h>

namespace cosched::cluster::batch {
namespace {

TEST(CellProfile, FindsRoomBeforeATime) {
  CellProfile profile({1, 3});
  const NodesPerCell all_nodes{1, 3};
  profile.reserve(0, 10, all_nodes);
  EXPECT_FALSE(profile.find_room_before(4, 10));
  EXPECT_TRUE(profile.find_room_before(4, 11));
}

TEST(CellProfile, TheLowestCellsAreTakenFirst) {
  CellProfile profile({2, 3});
  const CellProfile::JobSlot slot = profile.find_earliest_slot(5, 3, 10, kFullBitSet);
  EXPECT_EQ(slot.start, 5);
  EXPECT_EQ(slot.share, (NodesPerCell{2, 1}));
  const BitSet64 second_cell = 2;
  EXPECT_EQ(profile.find_earliest_slot(5, 3, 10, second_cell).share, (NodesPerCell{0, 3}));
}

TEST(CellProfile, AJobMovesForwardOntoItsOwnNodes) {
  CellProfile profile({2});
  const NodesPerCell one_node{1};
  const NodesPerCell two_nodes{2};
  profile.reserve(0, 10, one_node);
  profile.reserve(10, 20, two_nodes);  // the slot of the job that asks
  profile.release(4, 10, one_node);    // the other job has ended early
  EXPECT_EQ(profile.find_start_before(4, 2, 10, 10), 4);
}

}  // namespace
}  // namespace cosched::cluster::batch
