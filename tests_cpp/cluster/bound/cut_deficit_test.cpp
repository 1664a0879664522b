#include "cosched/cluster/bound/cut_deficit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "cosched/core/rng.hpp"
#include "support/show_on_failure.hpp"

namespace cosched::cluster::bound {
namespace {

TEST(CutDeficit, SlopeIsTheDerivative) {
  Rng rng(14);
  std::vector<StretchJob> jobs;
  for (int j = 0; j < 12; ++j)
    jobs.push_back({100 * rng.uniform(), 1 + 50 * rng.uniform(), 0, 3 * rng.uniform()});
  for (auto& job : jobs) job.unit = std::max(job.runtime, 10.0);
  const CutDeficit deficit(jobs, 2, {{0, false}, {3, true}, {5, false}},
                           {{4, true}, {6, true}, {7, true}});
  for (double stretch = 1; stretch < 4; stretch += 0.37) {
    SHOW_ON_FAILURE(stretch);
    const auto value = deficit(stretch);
    const double step = 1e-7;
    EXPECT_NEAR((deficit(stretch + step).deficit - value.deficit) / step, value.slope,
                1e-4 * (1 + std::abs(value.slope)));
  }
}

}  // namespace
}  // namespace cosched::cluster::bound
