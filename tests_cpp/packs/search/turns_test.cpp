#include "cosched/packs/search/turns.hpp"

#include <gtest/gtest.h>

namespace cosched::packs::search {
namespace {

TEST(TurnOrder, TheFirstTurnIsAfterTheThirdRound) {
  const TurnOrder turn_order;
  for (const bool has_improved : {false, true}) {
    EXPECT_EQ(turn_order.turn_after(1, has_improved), Turn::kNone);
    EXPECT_EQ(turn_order.turn_after(2, has_improved), Turn::kFirst);
    EXPECT_EQ(turn_order.turn_after(3, has_improved), Turn::kNone);
    EXPECT_EQ(turn_order.turn_after(9, has_improved), Turn::kNone);  // the first was left out
  }
}

TEST(TurnOrder, TheSecondTurnIsAfterALongRoundThatFoundNothing) {
  TurnOrder turn_order;
  turn_order.note_turn();
  EXPECT_EQ(turn_order.turn_after(3, false), Turn::kNone);  // a round of less than the default work
  EXPECT_EQ(turn_order.turn_after(4, true), Turn::kNone);
  EXPECT_EQ(turn_order.turn_after(4, false), Turn::kSecond);
  EXPECT_EQ(turn_order.turn_after(7, false), Turn::kSecond);
  turn_order.note_turn();
  EXPECT_EQ(turn_order.turns(), 2);
  EXPECT_EQ(turn_order.turn_after(7, false), Turn::kNone);
}

TEST(TurnOrder, SecondsOfATurn) {
  EXPECT_EQ(TurnOrder().seconds_of(Turn::kFirst), std::nullopt);
  EXPECT_EQ(TurnOrder().seconds_of(Turn::kSecond), std::nullopt);
  const ScopedTimeLimit limit(1e6);
  EXPECT_EQ(TurnOrder().seconds_of(Turn::kFirst), 2);  // at most, of a tenth
  EXPECT_NEAR(*TurnOrder().seconds_of(Turn::kSecond), 8e5, 1e4);
  const ScopedTimeLimit passed(0);
  EXPECT_EQ(TurnOrder().seconds_of(Turn::kFirst), 0);
  EXPECT_EQ(TurnOrder().seconds_of(Turn::kSecond), 0);
}

}  // namespace
}  // namespace cosched::packs::search
