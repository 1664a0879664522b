#include "cosched/moldable/learning/learning_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "cosched/core/rng.hpp"
#include "support/show_on_failure.hpp"

namespace cosched::moldable::learning {
namespace {

constexpr std::int64_t kPlenty = 1'000'000'000'000;

RigidProject random_project_of(int jobs, std::uint64_t seed) {
  Rng rng(seed);
  RigidProject project;
  project.resources.resize(2);
  for (int i = 0; i < jobs; ++i) {
    project.seconds.push_back(1 + static_cast<int>(rng.below(4)));
    project.releases.push_back(static_cast<int>(rng.below(3)));
    for (int k = i + 1; k < jobs; ++k)
      if (rng.below(5) == 0) project.edges.push_back({i, k});
    for (std::vector<ResourceUser>& users : project.resources)
      if (rng.below(3) > 0)
        users.push_back({i, project.seconds[i], static_cast<double>(1 + rng.below(4)) / 4});
  }
  project.horizon = 2;
  for (const int seconds : project.seconds) project.horizon += seconds;
  return project;
}

bool is_schedule(const RigidProject& project, const std::vector<int>& starts) {
  for (int i = 0; i < project.jobs(); ++i)
    if (starts[i] < project.releases[i]) return false;
  for (const auto& [before, after] : project.edges)
    if (starts[after] < starts[before] + project.seconds[before]) return false;
  for (const std::vector<ResourceUser>& users : project.resources)
    for (int second = 0; second < project.horizon; ++second) {
      double share = 0;
      for (const ResourceUser& user : users) {
        const int start = starts[user.start_variable];
        if (start <= second && second < start + user.seconds) share += user.share;
      }
      if (share > 1 + 1e-9) return false;
    }
  return true;
}

int makespan_of(const RigidProject& project, const std::vector<int>& starts) {
  int makespan = 0;
  for (int i = 0; i < project.jobs(); ++i)
    makespan = std::max(makespan, starts[i] + project.seconds[i]);
  return makespan;
}

// By trying all starts.
int least_makespan(const RigidProject& project, std::vector<int>& starts, int best) {
  const int job = static_cast<int>(starts.size());
  if (job == project.jobs())
    return is_schedule(project, starts) ? std::min(best, makespan_of(project, starts)) : best;
  for (int start = project.releases[job]; start + project.seconds[job] < best; ++start) {
    starts.push_back(start);
    best = least_makespan(project, starts, best);
    starts.pop_back();
  }
  return best;
}

TEST(LearningSearch, FindsTheOptimumAndProvesIt) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SHOW_ON_FAILURE(seed);
    const RigidProject project = random_project_of(5, seed);
    std::vector<int> no_starts;
    const int optimum = least_makespan(project, no_starts, project.horizon + 1);
    LearningSearch up(project), down(project);
    for (int makespan = 1; makespan < optimum; ++makespan)
      ASSERT_EQ(up.search(makespan, false, kPlenty), LearningSearch::Answer::refuted) << seed;
    ASSERT_EQ(up.search(optimum, false, kPlenty), LearningSearch::Answer::schedule) << seed;
    EXPECT_TRUE(is_schedule(project, up.starts())) << seed;
    int makespan = project.horizon;
    while (down.search(makespan, true, kPlenty) == LearningSearch::Answer::schedule) {
      EXPECT_TRUE(is_schedule(project, down.starts())) << seed;
      ASSERT_LE(makespan_of(project, down.starts()), makespan) << seed;
      makespan = makespan_of(project, down.starts()) - 1;
    }
    EXPECT_EQ(makespan, optimum - 1) << seed;
  }
}

TEST(LearningSearch, LearnsWhatHoldsForOtherMakespans) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SHOW_ON_FAILURE(seed);
    const RigidProject project = random_project_of(14, seed);
    LearningSearch search(project);
    int low = 0, high = project.horizon + 1;
    bool is_final = false;
    while (low < high) {  // from both ends by turns
      is_final = !is_final;
      const int makespan = is_final ? high - 1 : low;
      if (search.search(makespan, is_final, kPlenty) == LearningSearch::Answer::schedule) {
        ASSERT_TRUE(is_schedule(project, search.starts())) << seed;
        high = makespan_of(project, search.starts());
      } else {
        low = makespan + 1;
      }
    }
    LearningSearch fresh(project);
    EXPECT_EQ(fresh.search(high - 1, true, kPlenty), LearningSearch::Answer::refuted) << seed;
  }
}

TEST(LearningSearch, EndsWhenItsWorkIsDone) {
  const RigidProject project = random_project_of(60, 1);
  LearningSearch search(project);
  EXPECT_EQ(search.search(project.horizon / 2, false, 1), LearningSearch::Answer::unknown);
  EXPECT_GE(search.work(), 1);
}

TEST(LearningSearch, KeepsConflictsApart) {
  RigidProject project;
  project.seconds = {3, 4};
  project.releases = {0, 0};
  project.disjunctive_pairs = {{0, 1}};
  project.horizon = 20;
  LearningSearch search(project);
  EXPECT_EQ(search.search(6, false, kPlenty), LearningSearch::Answer::refuted);
  EXPECT_EQ(search.search(7, false, kPlenty), LearningSearch::Answer::schedule);
}

TEST(LearningSearch, TakesAGuide) {
  RigidProject project;
  project.seconds = {2, 2, 2};
  project.releases = {0, 0, 0};
  project.resources = {{{0, 2, 1.0}, {1, 2, 1.0}, {2, 2, 1.0}}};
  project.horizon = 6;
  LearningSearch search(project);
  search.save_values({4, 0, 2});
  ASSERT_EQ(search.search(6, true, kPlenty), LearningSearch::Answer::schedule);
  EXPECT_TRUE(is_schedule(project, search.starts()));
}

}  // namespace
}  // namespace cosched::moldable::learning
