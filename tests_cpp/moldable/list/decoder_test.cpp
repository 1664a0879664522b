#include "cosched/moldable/list/decoder.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "cosched/moldable/check/validate.hpp"

namespace cosched::moldable::list {
namespace {

Instance slow_threes() {
  const Matrix<double> table{{1, 3, 3}, {3, 1, 3}, {3, 3, 1}};
  return Instance(Times(Table{{4}, {4}, {4}}), {1, 1, 1}, {}, 3)
      .with_sharing(std::make_shared<const Sharing>(3, std::vector<Resource>{},
                                                    Slowdowns{table, {}}, std::nullopt));
}

TEST(Decoder, BansWaitBesideIdleProcessors) {
  const Instance instance = slow_threes();
  Decoder decoder(instance);
  const Placement together = decoder.decode({{0, 1, 2}, {1, 1, 1}, 0, {}});
  EXPECT_EQ(makespan(together), 20);
  for (const JobList& list :
       {JobList{{0, 1, 2}, {1, 1, 1}, 1, {}}, JobList{{0, 1, 2}, {1, 1, 1}, 0, {1, 1, 1}}}) {
    const Placement banned = decoder.decode(list);
    EXPECT_EQ(makespan(banned), 12);
    check::validate(instance, to_schedule(instance, banned));
  }
  check::validate(instance, to_schedule(instance, decoder.decode_greedily({4, 4, 4})));
  check::validate(instance, to_schedule(instance, replay(instance, together)));
}

// The counts of what would be worth most at once: nobody gains, and still all start.
TEST(Decoder, JobsOfNoWorthStartToo) {
  const Instance instance = slow_threes();
  Decoder decoder(instance);
  for (const std::vector<double>& prices :
       {std::vector<double>{0, 0, 0}, std::vector<double>{4, 0, 0}}) {
    const Placement placement = decoder.decode_greedily(prices);
    EXPECT_EQ(makespan(placement), 12);
    check::validate(instance, to_schedule(instance, placement));
  }
  const Instance later = Instance(Times(Table{{4}, {4}, {4}}), {1, 1, 1}, {0, 1, 30}, 3)
                             .with_sharing(std::make_shared<const Sharing>(*instance.sharing()));
  const Placement placement = Decoder(later).decode_greedily({0, 0, 0});
  EXPECT_EQ(placement.start[2], 30);
  check::validate(later, to_schedule(later, placement));
}

TEST(Decoder, ListsWaitForReleases) {
  const Instance instance =
      Instance(Times(Table{{4}, {4}, {4}}), {1, 1, 1}, {20, 1, 0}, 3)
          .with_sharing(std::make_shared<const Sharing>(*slow_threes().sharing()));
  const Placement placement = Decoder(instance).decode({{0, 1, 2}, {1, 1, 1}, 1, {}});
  EXPECT_EQ(placement.start, (std::vector<double>{20, 4, 0}));
  check::validate(instance, to_schedule(instance, placement));
  check::validate(instance, to_schedule(instance, replay(instance, placement)));
}

// A second processor for the one that starts now, where that is worth more than another job.
TEST(Decoder, GreedyGrowsCounts) {
  const Instance instance =
      Instance(Times(Table{{8, 2, 2}, {9, 9, 9}}), {1, 1}, {}, 3)
          .with_sharing(std::make_shared<const Sharing>(
              2, std::vector<Resource>{{.name = "memory", .capacity = 9, .need = {{1}, {1}}}},
              std::nullopt, std::nullopt));
  const Placement placement = Decoder(instance).decode_greedily({8, 9});
  EXPECT_EQ(placement.procs, (Allotment{2, 1}));
  EXPECT_EQ(placement.start, (std::vector<double>{0, 0}));
}

TEST(Decoder, NeedsAreKept) {
  const Instance instance =
      Instance(Times(Table{{4}, {2}, {2}}), {1, 1, 1}, {}, 3)
          .with_sharing(std::make_shared<const Sharing>(
              3, std::vector<Resource>{{.name = "memory", .capacity = 5, .need = {{3}, {3}, {2}}}},
              std::nullopt, std::nullopt));
  const Placement placement = Decoder(instance).decode({{0, 1, 2}, {1, 1, 1}, 0, {}});
  EXPECT_EQ(placement.start[2], 0);
  EXPECT_EQ(placement.start[1], 4);
}

}  // namespace
}  // namespace cosched::moldable::list
