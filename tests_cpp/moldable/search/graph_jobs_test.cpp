#include "cosched/moldable/search/graph_jobs.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "cosched/core/rng.hpp"
#include "cosched/moldable/check/validate.hpp"
#include "cosched/moldable/search/active_search.hpp"
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

// A measure that is added never lets a bound rise above what is true.
TEST(GraphJobs, AddedMeasuresAreNeedsOfEveryChoice) {
  Rng rng(13);
  const Instance instance = drawn(rng, {false, true, true}, 5, 3);
  SHOW_ON_FAILURE(instance);
  GraphJobs jobs(instance);
  const int real = jobs.measures();
  EXPECT_EQ(real, 3);
  std::vector<double> needs;
  for (int choice = 0; choice < jobs.first_choice(5); ++choice)
    for (int measure = 0; measure < real; ++measure) needs.push_back(jobs.need(choice)[measure]);
  jobs.add_mix({0.5, 0.25, 0.25});
  jobs.add_earnings({1, 2, 3, 4, 5});
  EXPECT_EQ(jobs.measures(), real + 2);
  EXPECT_EQ(jobs.real_measures(), real);
  for (int job = 0; job < 5; ++job)
    for (int choice = jobs.first_choice(job); choice < jobs.first_choice(job + 1); ++choice) {
      const double* const need = jobs.need(choice);
      for (int measure = 0; measure < real; ++measure)
        EXPECT_EQ(need[measure], needs[choice * real + measure]);
      EXPECT_DOUBLE_EQ(need[real], 0.5 * need[0] / 3 + 0.25 * need[1] + 0.25 * need[2]);
      EXPECT_DOUBLE_EQ(need[real + 1], (job + 1) / jobs.time(choice));
    }
}

}  // namespace
}  // namespace cosched::moldable::search
