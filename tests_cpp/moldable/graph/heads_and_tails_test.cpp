#include "cosched/moldable/graph/heads_and_tails.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "cosched/core/rng.hpp"
#include "support/show_moldable.hpp"

namespace cosched::moldable::graph {
namespace {

constexpr int kJobs = 8, kMachines = 3;
constexpr double kCapacity = 4;

// The definition: all jobs with a head and a tail of at least so much fit into the time between.
struct Plain {
  const Instance& instance;
  const Matrix<double>& needs;
  std::vector<double> head, tail;

  Plain(const Instance& instance_, const Matrix<double>& needs_, const std::vector<Edge>& edges)
      : instance(instance_), needs(needs_), head(kJobs), tail(kJobs) {
    for (int i = 0; i < kJobs; ++i) {
      head[i] = instance.release(i);
      for (const auto& [a, b] : edges)
        if (b == i) head[i] = std::max(head[i], head[a] + instance.least_time(a));
    }
    for (int i = kJobs; i-- > 0;)
      for (const auto& [a, b] : edges)
        if (a == i) tail[i] = std::max(tail[i], instance.least_time(b) + tail[b]);
  }

  double least_value(int i, bool memory, double window) const {
    double least_value = kInfinity;
    for (int q = 1; q <= kMachines; ++q)
      if (instance.exact_time(i, q) <= window)
        least_value =
            std::min(least_value, instance.exact_time(i, q) * (memory ? needs(i, q - 1) / kCapacity
                                                                      : q / double{kMachines}));
    return least_value;
  }

  bool refutes(double makespan) const {
    for (const bool memory : {false, true})
      for (const double from : head)
        for (const double to : tail) {
          double sum = 0;
          for (int i = 0; i < kJobs; ++i)
            if (head[i] >= from && tail[i] >= to)
              sum += least_value(i, memory, makespan - head[i] - tail[i]);
          if (sum > std::max(0.0, makespan - from - to)) return true;
        }
    return false;
  }

  double bound() const {
    double low = 0, high = 1000;
    for (int k = 0; k < 60; ++k) (refutes((low + high) / 2) ? low : high) = (low + high) / 2;
    return high;
  }
};

TEST(HeadsAndTails, EqualTheirDefinition) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SHOW_ON_FAILURE(seed);
    Rng rng(seed);
    Table times(kJobs, kMachines);
    Matrix<double> needs(kJobs, kMachines);
    std::vector<Edge> edges;
    std::vector<double> releases;
    for (int i = 0; i < kJobs; ++i) {
      for (int q = 0; q < kMachines; ++q) {
        times(i, q) =
            q == 0 ? 1 + 9 * rng.uniform() : times(i, q - 1) * (0.5 + 0.4 * rng.uniform());
        needs(i, q) = 0.1 + 3 * rng.uniform();
      }
      for (int k = i + 1; k < kJobs; ++k)
        if (seed % 4 > 0 && rng.uniform() < 0.2) edges.emplace_back(i, k);
      releases.push_back(seed % 2 == 0 ? 0 : 5 * rng.uniform());
    }
    const Instance instance =
        Instance(Times(times), std::vector<double>(kJobs, 1.0), releases, kMachines)
            .with_sharing(std::make_shared<const Sharing>(
                kJobs,
                std::vector<Resource>{{.name = "memory", .capacity = kCapacity, .need = needs}},
                std::nullopt, std::nullopt))
            .with_precedence(std::make_shared<const TaskGraph>(kJobs, edges));
    const double bound = Plain(instance, needs, edges).bound();
    EXPECT_NEAR(heads_and_tails(instance, 0), bound, 1e-6 * bound) << seed;
    EXPECT_EQ(heads_and_tails(instance, 2 * bound), 2 * bound);
  }
}

}  // namespace
}  // namespace cosched::moldable::graph
