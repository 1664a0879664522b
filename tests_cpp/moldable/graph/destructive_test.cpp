#include "cosched/moldable/graph/destructive.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "cosched/core/rng.hpp"
#include "cosched/moldable/graph/heads_and_tails.hpp"
#include "support/show_moldable.hpp"

namespace cosched::moldable::graph {
namespace {

constexpr double kUnlimited = 1e300;
constexpr std::int64_t kEnoughWork = 10'000'000'000;

struct Project {
  int jobs = 6;
  int machines = 3;
  int counts = 1;  // on which a job can run: 1, ...
  bool has_integers = true;
  double edge_share = 0.2;
};

Instance random_instance(const Project& project, std::uint64_t seed) {
  Rng rng(seed);
  const auto draw = [&](double least, double most) {
    const double value = least + (most - least) * rng.uniform();
    return project.has_integers ? std::floor(value) : value;
  };
  Table times(project.jobs, project.counts);
  Matrix<double> needs(project.jobs, project.counts), needs_of_other(project.jobs, project.counts);
  std::vector<double> releases;
  std::vector<Edge> edges;
  for (int i = 0; i < project.jobs; ++i) {
    for (int q = 0; q < project.counts; ++q) {
      times(i, q) = q == 0 ? draw(1, 9) : std::max(1.0, times(i, 0) - draw(0, 5));
      needs(i, q) = std::min(4.0, draw(0, 5));
      needs_of_other(i, q) = draw(0, 4);
    }
    for (int k = i + 1; k < project.jobs; ++k)
      if (rng.uniform() < project.edge_share) edges.emplace_back(i, k);
    releases.push_back(seed % 3 == 0 ? draw(0, 6) : 0);
  }
  const std::vector<Resource> resources = {{.name = "crane", .capacity = 4, .need = needs},
                                           {.name = "crew", .capacity = 5, .need = needs_of_other}};
  return Instance(Times(times), std::vector<double>(project.jobs, 1.0), releases, project.machines)
      .with_sharing(
          std::make_shared<const Sharing>(project.jobs, resources, std::nullopt, std::nullopt))
      .with_precedence(std::make_shared<const TaskGraph>(project.jobs, edges));
}

// The least makespan: each job in turn, in each order that precedence allows and on each count,
// as early as it fits.
class Enumeration {
 public:
  explicit Enumeration(const Instance& instance)
      : instance_(instance),
        start_(instance.jobs()),
        end_(instance.jobs(), -1),
        procs_(instance.jobs()) {}

  double least_makespan() {
    place_next(0, 0);
    return best_;
  }

 private:
  bool is_placed(int i) const { return end_[i] >= 0; }

  void place_next(int placed, double makespan) {
    if (makespan >= best_) return;
    if (placed == instance_.jobs()) {
      best_ = makespan;
      return;
    }
    for (int i = 0; i < instance_.jobs(); ++i) {
      if (is_placed(i)) continue;
      double ready = instance_.release(i);
      bool is_ready = true;
      for (const int k : instance_.graph()->predecessors(i)) {
        is_ready = is_ready && is_placed(k);
        ready = std::max(ready, end_[k]);
      }
      if (!is_ready) continue;
      for (int q = 1; q <= instance_.useful_machines(); ++q) place(i, q, ready, placed, makespan);
    }
  }

  void place(int i, int q, double ready, int placed, double makespan) {
    std::vector<double> starts = {ready};
    for (int k = 0; k < instance_.jobs(); ++k)
      if (is_placed(k) && end_[k] > ready) starts.push_back(end_[k]);
    std::sort(starts.begin(), starts.end());
    const double time = instance_.exact_time(i, q);
    for (const double start : starts) {
      if (!fits(i, q, start, start + time)) continue;
      start_[i] = start;
      end_[i] = start + time;
      procs_[i] = q;
      place_next(placed + 1, std::max(makespan, end_[i]));
      end_[i] = -1;
      return;
    }
  }

  // What runs changes where a job starts: these moments are looked at.
  bool fits(int i, int q, double begin, double end) const {
    if (!fits_at(i, q, begin)) return false;
    for (int k = 0; k < instance_.jobs(); ++k)
      if (is_placed(k) && start_[k] > begin && start_[k] < end && !fits_at(i, q, start_[k]))
        return false;
    return true;
  }

  bool fits_at(int i, int q, double moment) const {
    const Sharing& sharing = *instance_.sharing();
    std::vector<double> used(sharing.resources() + 1);
    const auto add = [&](int job, int procs) {
      used[0] += procs;
      for (int r = 0; r < sharing.resources(); ++r) used[r + 1] += sharing.need(r, job, procs);
    };
    add(i, q);
    for (int k = 0; k < instance_.jobs(); ++k)
      if (is_placed(k) && start_[k] <= moment && moment < end_[k]) add(k, procs_[k]);
    bool fits = used[0] <= instance_.machines();
    for (int r = 0; r < sharing.resources(); ++r)
      fits = fits && used[r + 1] <= sharing.capacity(r) + 1e-9;
    return fits;
  }

  const Instance& instance_;
  std::vector<double> start_, end_;
  std::vector<int> procs_;
  double best_ = kInfinity;
};

double bound_of(const Instance& instance, double high, std::int64_t work) {
  return destructive_bound(instance, 0, high, work, std::nullopt).value;
}

TEST(Destructive, IsTheOptimumOfJobsOnOneCount) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SHOW_ON_FAILURE(seed);
    const Instance instance =
        random_instance({.machines = seed % 2 == 0 ? 2 : 6, .edge_share = seed % 5 * 0.1}, seed);
    const double optimum = Enumeration(instance).least_makespan();
    EXPECT_EQ(bound_of(instance, optimum, kEnoughWork), optimum) << seed;
    EXPECT_EQ(bound_of(instance, kInfinity, kEnoughWork), optimum) << seed;
    EXPECT_LE(bound_of(instance, optimum, 0), optimum) << seed;
  }
}

TEST(Destructive, IsCloseToTheOptimumWhereTimesAreNoIntegers) {
  int exact = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SHOW_ON_FAILURE(seed);
    const Instance instance = random_instance({.jobs = 5, .has_integers = false}, seed);
    const double optimum = Enumeration(instance).least_makespan();
    const double bound = bound_of(instance, optimum, 100'000'000);
    EXPECT_LE(bound, optimum * (1 + 1e-9)) << seed;
    exact += bound >= optimum * (1 - 2e-6);
  }
  EXPECT_GE(exact, 57);
}

TEST(Destructive, HoldsWhereJobsChooseTheirCounts) {
  double sum = 0;
  int instances = 0;
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    SHOW_ON_FAILURE(seed);
    const Instance instance = random_instance(
        {.jobs = 4, .machines = 3, .counts = 3, .has_integers = seed % 2 == 0}, seed);
    const double optimum = Enumeration(instance).least_makespan();
    const double bound = bound_of(instance, optimum, 10'000'000);
    EXPECT_LE(bound, optimum * (1 + 1e-9)) << seed;
    sum += bound / optimum;
    ++instances;
  }
  EXPECT_GE(sum / instances, 0.85);
}

TEST(Destructive, RefutesWhateverHeadsAndTailsRefute) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SHOW_ON_FAILURE(seed);
    const Instance instance =
        random_instance({.jobs = 12, .machines = 4, .counts = 2, .has_integers = false}, seed);
    EXPECT_GE(bound_of(instance, kInfinity, 0), heads_and_tails(instance, 0) * (1 - 2e-6)) << seed;
  }
}

TEST(Destructive, KeepsWhatItKnowsAtATimeLimit) {
  const Instance instance = random_instance({.jobs = 40, .machines = 40}, 1);
  const DestructiveResult cut = destructive_bound(instance, 7, kUnlimited, kEnoughWork, 0.0);
  EXPECT_FALSE(cut.complete);
  EXPECT_GE(cut.value, 7);
  EXPECT_LE(cut.value, bound_of(instance, kInfinity, 0));
}

TEST(Destructive, LeavesInstancesThatAreTooLargeAsTheyAre) {
  const Instance instance = random_instance({.jobs = kMostDestructiveJobs + 1}, 1);
  const DestructiveResult untouched =
      destructive_bound(instance, 3, kUnlimited, kEnoughWork, std::nullopt);
  EXPECT_EQ(untouched.value, 3);
  EXPECT_TRUE(untouched.complete);
}

}  // namespace
}  // namespace cosched::moldable::graph
