#include "cosched/cluster/model/demand_area.hpp"

#include <gtest/gtest.h>

namespace cosched::cluster {
namespace {

TEST(DemandArea, DemandIsCutAtTheMachine) {
  DemandArea area(2);
  area.change(10, 3, 1);  // 3 nodes wanted from 10 on, of 2
  area.change(20, 0.5, 1);
  area.change(30, -3, -1);  // 0.5 from 30 on
  area.change(40, -0.5, -1);
  area.change(100, 1, 1);
  EXPECT_EQ(area.value(), 2 * 20 + 0.5 * 10);
}

}  // namespace
}  // namespace cosched::cluster
