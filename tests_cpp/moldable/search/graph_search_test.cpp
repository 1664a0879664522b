#include "cosched/moldable/search/graph_search.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "cosched/core/rng.hpp"
#include "cosched/moldable/check/validate.hpp"
#include "cosched/moldable/list/standard.hpp"
#include "cosched/moldable/search/graph_decoder.hpp"
#include "cosched/moldable/search/graph_proof.hpp"
#include "cosched/moldable/search/local_search.hpp"
#include "cosched/moldable/search/optimal.hpp"
#include "support/moldable_graphs.hpp"
#include "support/show_moldable.hpp"

namespace cosched::moldable::search {
namespace {

using testing::random_graph;

TEST(GraphSearch, NeverAboveTheProofNorBelowIt) {
  Rng rng(4);
  for (int round = 0; round < 20; ++round) {
    SHOW_ON_FAILURE(round);
    const Instance instance = random_graph(rng, 5, 3);
    SHOW_ON_FAILURE(instance);
    const ProofResult proved = optimal(instance, {Objective::makespan, 100'000'000});
    ASSERT_TRUE(proved.is_proved);
    const SearchResult result = local_search(instance, {Objective::makespan, 1, 10'000, {}, {}});
    check::validate(instance, to_schedule(instance, result.placement));
    EXPECT_GE(makespan(result.placement), makespan(proved.placement) * (1 - 1e-9));
    EXPECT_LE(result.bound, makespan(proved.placement) * (1 + 1e-9));
    EXPECT_LE(makespan(result.placement), makespan(proved.placement) * 1.15);
  }
}

TEST(GraphSearch, KeepsAStartThatIsBetter) {
  Rng rng(5);
  const Instance instance = random_graph(rng, 7, 3);
  SHOW_ON_FAILURE(instance);
  const ProofResult best = optimal(instance, {Objective::makespan, 400'000'000});
  const SearchResult result =
      local_search(instance, {Objective::makespan, 0, 0, std::nullopt, {best.placement}});
  EXPECT_DOUBLE_EQ(makespan(result.placement), makespan(best.placement));
}

TEST(GraphSearch, OptimalTakesFewJobs) {
  Rng rng(6);
  const Instance instance = random_graph(rng, kMostGraphJobs + 1, 2);
  SHOW_ON_FAILURE(instance);
  EXPECT_THROW(optimal(instance), InvalidInstance);
  const Matrix<double> slow(kMostGraphJobs + 1, kMostGraphJobs + 1, 1.5);
  const Instance slowed = instance.with_sharing(std::make_shared<const Sharing>(
      kMostGraphJobs + 1, std::vector<Resource>{}, Slowdowns{slow, {}}, std::nullopt));
  SHOW_ON_FAILURE(slowed);
  EXPECT_THROW(local_search(slowed, {}), InvalidInstance);
}

// What the instance states is what is solved, whoever asks.
TEST(LocalSearch, SolvesWhatTheInstanceStates) {
  const Matrix<double> slow{{1, 3}, {3, 1}};
  const Instance plain(Times(Table{{4}, {4}}), {1, 1}, {}, 2);
  const Instance shared = plain.with_sharing(std::make_shared<const Sharing>(
      2, std::vector<Resource>{}, Slowdowns{slow, {}}, std::nullopt));
  const Instance needy = plain.with_sharing(std::make_shared<const Sharing>(
      2, std::vector<Resource>{{.name = "memory", .capacity = 3, .need = {{2}, {2}}}}, std::nullopt,
      std::nullopt));
  const Instance ordered =
      plain.with_precedence(std::make_shared<const TaskGraph>(2, std::vector<Edge>{{1, 0}}));
  EXPECT_EQ(makespan(local_search(plain, {}).placement), 4);
  for (const Instance* instance : {&shared, &needy, &ordered}) {
    const Placement placement = local_search(*instance, {}).placement;
    EXPECT_EQ(makespan(placement), 8);
    check::validate(*instance, to_schedule(*instance, placement));
  }
  EXPECT_EQ(optimal(needy).bound, 8);
  EXPECT_EQ(optimal(ordered).bound, 8);
  EXPECT_THROW(optimal(shared), InvalidInstance);
  EXPECT_EQ(makespan(list::sequential(needy)), 8);
  EXPECT_THROW(list::sequential(ordered), InvalidInstance);
}

}  // namespace
}  // namespace cosched::moldable::search
