#include "cosched/moldable/search/graph_proof.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "cosched/core/rng.hpp"
#include "cosched/moldable/check/validate.hpp"
#include "cosched/moldable/search/active_search.hpp"
#include "cosched/moldable/search/graph_labels.hpp"
#include "cosched/moldable/search/local_search.hpp"
#include "cosched/moldable/search/optimal.hpp"
#include "support/moldable_graphs.hpp"
#include "support/show_moldable.hpp"

namespace cosched::moldable::search {
namespace {

using testing::JobConstraints;
using testing::random_constrained_jobs;

// Every order that respects the edges with every choice, each job at its earliest fit.
double enumerated(const Instance& instance, Objective objective) {
  const graph::JobChoices choices(instance);
  GraphDecoder decoder(instance, choices);
  const int jobs = instance.jobs();
  std::vector<int> order(jobs);
  std::iota(order.begin(), order.end(), 0);
  double best = kInfinity;
  do {
    std::vector<int> place(jobs);
    for (int k = 0; k < jobs; ++k) place[order[k]] = k;
    bool is_topological = true;
    for (int i = 0; i < jobs; ++i)
      for (const int after : decoder.graph().successors(i))
        is_topological &= place[i] < place[after];
    if (!is_topological) continue;
    graph::ChoiceNumbers chosen(jobs, 0);
    for (int digit = 0; digit < jobs;) {
      DecodedSchedule decoded{order, chosen, {}, 0};
      decoder.decode(decoded);
      const Criteria value = evaluate_criteria(instance, decoder.placement(decoded));
      best = std::min(best, objective == Objective::makespan ? value.makespan : value.minsum);
      for (digit = 0; digit < jobs; ++digit) {
        if (++chosen[digit] < static_cast<int>(choices[digit].size())) break;
        chosen[digit] = 0;
      }
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

double graph_value_of(const Instance& instance, const Placement& placement, Objective objective) {
  const Criteria value = evaluate_criteria(instance, placement);
  return objective == Objective::makespan ? value.makespan : value.minsum;
}

const JobConstraints kKinds[] = {{false, false, true}, {false, true, false}, {false, true, true},
                                 {true, false, true},  {true, true, false},  {true, true, true}};

TEST(GraphProof, FindsTheOptimumOfBothCriteria) {
  Rng rng(11);
  for (const JobConstraints& kind : kKinds)
    for (int round = 0; round < 25; ++round) {
      SHOW_ON_FAILURE(round);
      const Instance instance =
          random_constrained_jobs(rng, kind, 4, 1 + static_cast<int>(rng.below(3)));
      SHOW_ON_FAILURE(instance);
      for (const Objective objective : {Objective::makespan, Objective::minsum}) {
        const double best = enumerated(instance, objective);
        const ProofResult proof = optimal(instance, {objective, kProofWork});
        check::validate(instance, to_schedule(instance, proof.placement));
        EXPECT_TRUE(proof.is_proved);
        EXPECT_NEAR(graph_value_of(instance, proof.placement, objective), best, 1e-9 * best);
        EXPECT_NEAR(proof.bound, best, 1e-9 * best);
        SearchOptions options;
        options.objective = objective;
        options.work = 2'000;
        const SearchResult result = local_search(instance, options);
        check::validate(instance, to_schedule(instance, result.placement));
        EXPECT_NEAR(graph_value_of(instance, result.placement, objective), best, 1e-9 * best);
        if (result.bound > 0) {
          EXPECT_LE(result.bound, enumerated(instance, Objective::makespan) * (1 + 1e-9));
        }
      }
    }
}

// What little work proves is true, and more work proves no less.
TEST(GraphProof, BoundsHoldWhereTheWorkIsOver) {
  Rng rng(12);
  for (const JobConstraints& kind : kKinds)
    for (int round = 0; round < 4; ++round) {
      SHOW_ON_FAILURE(round);
      const Instance instance = random_constrained_jobs(rng, kind, 8, 4);
      SHOW_ON_FAILURE(instance);
      for (const Objective objective : {Objective::makespan, Objective::minsum}) {
        const ProofResult full_proof = optimal(instance, {objective, kProofWork});
        ASSERT_TRUE(full_proof.is_proved);
        for (const std::int64_t work : {0, 1'000, 30'000, 300'000}) {
          const ProofResult cut = optimal(instance, {objective, work});
          EXPECT_LE(cut.bound, full_proof.bound * (1 + 1e-9));
          EXPECT_GE(graph_value_of(instance, cut.placement, objective),
                    full_proof.bound * (1 - 1e-9));
          if (cut.is_proved) {
            EXPECT_NEAR(cut.bound, full_proof.bound, 1e-9 * full_proof.bound);
          }
        }
      }
    }
}

// The longest job alone is worth all of the machine, at prices of which the others are rounding
// errors: they had to wait for its end, and the list schedule was called the best.
TEST(GraphProof, PricesNearNothingKeepNobodyWaiting) {
  const Table times{{9.675987950520812, 9.770158547656072, kInfinity},
                    {1.340258415675497, kInfinity, 0.8373783433343299},
                    {8.827707130581732, 5.579525842734167, 5.276976993324861},
                    {5.08928881203819, 4.003685225087451, 3.8073606947083336}};
  const Instance jobs(Times(times), {4, 4, 4, 4},
                      {0.10041428587703154, 2.3772107113926833, 0.9672629927640971, 0}, 3);
  const Instance instance = jobs.with_precedence(
      std::make_shared<const TaskGraph>(4, std::vector<Edge>{{1, 2}, {0, 2}, {0, 3}}));
  const SearchResult result = local_search(instance, {Objective::minsum, 0, kSearchWork, {}, {}});
  EXPECT_NEAR(weighted_completion(instance, result.placement), 174.86196196413627, 1e-9);
}

// Schedules that wait for a later release, or for a resource, are among those that are searched.
TEST(GraphProof, WaitsForALaterRelease) {
  const Instance jobs(Times(Table{{240}, {60}, {180}}), {2, 3, 2}, {0, 7, 1}, 1);
  const Instance instance = jobs.with_sharing(std::make_shared<const Sharing>(
      3, std::vector<Resource>{{.name = "memory", .capacity = 5, .need = {{4}, {4}, {1}}}},
      std::nullopt, std::nullopt));
  const SearchResult result = local_search(instance, {Objective::minsum, 0, kSearchWork, {}, {}});
  EXPECT_EQ(weighted_completion(instance, result.placement), 1669);
  EXPECT_TRUE(result.is_proved);
}

}  // namespace
}  // namespace cosched::moldable::search
