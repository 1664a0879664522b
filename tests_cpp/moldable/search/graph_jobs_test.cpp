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
#include "support/moldable_graphs.hpp"
#include "support/show_moldable.hpp"

namespace cosched::moldable::search {
namespace {

using testing::JobConstraints;
using testing::random_constrained_jobs;

// A measure that is added never lets a bound rise above what is true.
TEST(GraphJobs, AddedMeasuresAreNeedsOfEveryChoice) {
  Rng rng(13);
  const Instance instance = random_constrained_jobs(rng, {false, true, true}, 5, 3);
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
