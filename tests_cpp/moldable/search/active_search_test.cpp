#include "cosched/moldable/search/active_search.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "cosched/core/rng.hpp"
#include "cosched/moldable/check/validate.hpp"
#include "cosched/moldable/search/graph_labels.hpp"
#include "cosched/moldable/search/graph_proof.hpp"
#include "cosched/moldable/search/local_search.hpp"
#include "cosched/moldable/search/optimal.hpp"
#include "support/moldable_graphs.hpp"
#include "support/show_moldable.hpp"

namespace cosched::moldable::search {
namespace {

using testing::JobConstraints;
using testing::random_constrained_jobs;

TEST(ActiveSearch, WaitsWithoutAProof) {
  const Instance jobs(Times(Table{{240}, {60}, {180}}), {2, 3, 2}, {0, 7, 1}, 1);
  const Instance instance = jobs.with_sharing(std::make_shared<const Sharing>(
      3, std::vector<Resource>{{.name = "memory", .capacity = 5, .need = {{4}, {4}, {1}}}},
      std::nullopt, std::nullopt));
  SearchOptions options{Objective::minsum, 0, 20'000, {}, {}};
  options.proof = false;
  EXPECT_EQ(weighted_completion(instance, local_search(instance, options).placement), 1669);
}

}  // namespace
}  // namespace cosched::moldable::search
