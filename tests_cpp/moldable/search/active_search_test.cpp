#include "cosched/moldable/search/active_search.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "cosched/core/rng.hpp"
#include "cosched/moldable/check/validate.hpp"
#include "cosched/moldable/search/graph_labels.hpp"
#include "cosched/moldable/search/graph_proof.hpp"
#include "cosched/moldable/search/local_search.hpp"
#include "cosched/moldable/search/optimal.hpp"
#include "support/show_moldable.hpp"

namespace cosched::moldable::search {
namespace {

struct Kind {
  bool releases, precedence, resources;
};

Instance drawn(Rng& rng, const Kind& kind, int jobs, int machines) {
  const bool is_whole = rng.below(2) == 0;  // whole seconds: ties are frequent
  const auto rounded = [&](double value) { return is_whole ? std::ceil(value) : value; };
  Table times(jobs, machines), memory(jobs, machines), licences(jobs, 1);
  std::vector<double> weights, release(jobs, 0.0);
  std::vector<Edge> edges;
  for (int i = 0; i < jobs; ++i) {
    weights.push_back(rounded(5 * rng.uniform()));
    for (int q = 0; q < machines; ++q) {
      times(i, q) =
          rounded(q == 0 ? 1 + 9 * rng.uniform() : times(i, q - 1) * (0.5 + 0.6 * rng.uniform()));
      memory(i, q) = rounded(5 * rng.uniform());
    }
    licences(i, 0) = static_cast<double>(rng.below(3));
    if (kind.releases && rng.below(3) > 0) release[i] = rounded(12 * rng.uniform());
    for (int k = i + 1; kind.precedence && k < jobs; ++k)
      if (rng.below(3) == 0) edges.emplace_back(i, k);
  }
  Instance made(Times(times), weights, release, machines);
  if (kind.resources)
    made = made.with_sharing(std::make_shared<const Sharing>(
        jobs, std::vector<Resource>{{"memory", 6, memory}, {"licences", 3, licences}}, std::nullopt,
        std::nullopt));
  return kind.precedence ? made.with_precedence(std::make_shared<const TaskGraph>(jobs, edges))
                         : made;
}

TEST(ActiveSearch, WaitsWithoutAProof) {
  const Instance jobs(Times(Table{{240}, {60}, {180}}), {2, 3, 2}, {0, 7, 1}, 1);
  const Instance instance = jobs.with_sharing(std::make_shared<const Sharing>(
      3, std::vector<Resource>{{"memory", 5, {{4}, {4}, {1}}}}, std::nullopt, std::nullopt));
  SearchOptions options{Objective::minsum, 0, 20'000, {}, {}};
  options.proof = false;
  EXPECT_EQ(weighted_completion(instance, local_search(instance, options).placement), 1669);
}

}  // namespace
}  // namespace cosched::moldable::search
