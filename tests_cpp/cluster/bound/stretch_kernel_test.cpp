#include "cosched/cluster/bound/stretch_kernel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "cosched/core/rng.hpp"
#include "support/show_on_failure.hpp"

namespace cosched::cluster::bound {
namespace {

// Seconds that each job still needs after rounds of Theorem 1's kernel, as it is defined.
std::vector<double> remaining_after_rounds(const std::vector<StretchJob>& jobs, double stretch,
                                           double nodes) {
  std::set<double> points;
  for (const StretchJob& job : jobs) points.insert({job.release, job.release + stretch * job.unit});
  const std::vector<double> border(points.begin(), points.end());
  std::vector<double> remaining;
  const auto is_alive = [&](std::size_t j, std::size_t t) {
    return jobs[j].release <= border[t] && border[t] < jobs[j].release + stretch * jobs[j].unit;
  };
  for (const StretchJob& job : jobs) remaining.push_back(job.runtime);
  for (bool has_changed = true; has_changed;) {
    std::vector<double> next_remaining;
    for (const StretchJob& job : jobs) next_remaining.push_back(job.runtime);
    for (std::size_t t = 0; t + 1 < border.size(); ++t) {
      double rate = 0;
      for (std::size_t j = 0; j < jobs.size(); ++j)
        if (remaining[j] > 1e-9 && is_alive(j, t)) rate += jobs[j].rate;
      for (std::size_t j = 0; j < jobs.size() && rate <= nodes; ++j)
        if (is_alive(j, t)) next_remaining[j] -= border[t + 1] - border[t];
    }
    has_changed = next_remaining != remaining;
    remaining = next_remaining;
  }
  return remaining;
}

TEST(StretchKernel, SweepsAgreeWithRounds) {
  Rng rng(15);
  int decided_jobs = 0;
  int undecided_jobs = 0;
  for (int round = 0; round < 200; ++round) {
    SHOW_ON_FAILURE(round);
    std::vector<StretchJob> jobs;
    for (int j = 0; j < 40; ++j) {
      const auto runtime = static_cast<double>(1 + rng.below(60));
      jobs.push_back({static_cast<double>(rng.below(600)), runtime, std::max(runtime, 10.0),
                      static_cast<double>(1 + rng.below(4))});
    }
    std::sort(jobs.begin(), jobs.end(),
              [](const auto& a, const auto& b) { return a.release < b.release; });
    const double stretch = 1 + 4 * rng.uniform();
    const std::vector<double> expected = remaining_after_rounds(jobs, stretch, 6);
    const StretchResidual residual = stretch_kernel(jobs, stretch, 6);
    std::vector<double> remaining(jobs.size(), 0.0);
    for (std::size_t i = 0; i < residual.job.size(); ++i)
      remaining[residual.job[i]] = residual.remaining[i];
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      EXPECT_NEAR(remaining[j], std::max(expected[j], 0.0), 1e-9)
          << "round " << round << " job " << j;
      ++(expected[j] > 0 ? undecided_jobs : decided_jobs);
    }
  }
  EXPECT_GT(decided_jobs, 1000);
  EXPECT_GT(undecided_jobs, 1000);
}

}  // namespace
}  // namespace cosched::cluster::bound
