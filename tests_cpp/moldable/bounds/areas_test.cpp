#include "cosched/moldable/bounds/areas.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "cosched/moldable/bounds/makespan.hpp"
#include "support/moldable_instances.hpp"
#include "support/show_moldable.hpp"

namespace cosched::moldable::bounds {
namespace {

using namespace cosched::moldable::testing;  // NOLINT

TEST(Areas, AreaHasARowAResource) {
  // Each alone needs more than half of the memory: one after the other.
  const Instance instance =
      Instance(Times(Table{{4}, {2}, {2}}), {1, 1, 1}, {}, 3)
          .with_sharing(std::make_shared<const Sharing>(
              3, std::vector<Resource>{{.name = "memory", .capacity = 4, .need = {{4}, {4}, {2}}}},
              std::nullopt, std::nullopt));
  EXPECT_NEAR(area_bound(instance), 7, 1e-9);
}

// One row beside the processors: memory, or the traffic of jobs that wait for all of it.
struct Drawn {
  Instance instance;
  Matrix<double> share;  // of the second row: job i on q processors
};

Drawn draw(int kind, bool is_traffic, std::uint64_t seed) {
  Rng rng(seed);
  const int n = static_cast<int>(rng.between(1, 6)), m = static_cast<int>(rng.between(1, 5));
  const Instance alone = small_instance(kind, n, m, 700 + seed, seed % 2 == 1);
  const double capacity = 8;
  Matrix<double> need(n, m), share(n, m);
  std::vector<double> stall;
  for (int i = 0; i < n; ++i) {
    stall.push_back(rng.uniform() < 0.7 ? 1 : 0.5);
    for (int q = 1; q <= m; ++q) {
      need(i, q - 1) = capacity * rng.uniform();
      share(i, q - 1) = is_traffic && stall[i] < 1 ? 0 : need(i, q - 1) / capacity;
    }
  }
  std::vector<Resource> resources;
  std::optional<Bandwidth> bandwidth;
  if (is_traffic)
    bandwidth = Bandwidth{.demand = need, .capacity = capacity, .stall = stall};
  else
    resources.push_back({.name = "memory", .capacity = capacity, .need = need});
  return {
      alone.with_sharing(std::make_shared<const Sharing>(n, resources, std::nullopt, bandwidth)),
      share};
}

// What the jobs that are released from r on cost at price p of the second row and 1 - p of the
// processors: each its cheapest count.
double cost(const Drawn& drawn, double r, double p) {
  const Instance& instance = drawn.instance;
  double sum = 0;
  for (int i = 0; i < instance.jobs(); ++i) {
    if (instance.release(i) < r) continue;
    double least_cost = kInfinity;
    for (int q = 1; q <= instance.machines(); ++q)
      least_cost =
          std::min(least_cost, instance.exact_time(i, q) *
                                   ((1 - p) * q / instance.machines() + p * drawn.share(i, q - 1)));
    sum += least_cost;
  }
  return sum;
}

// The dearest price is 0, 1, or one at which two counts of a job cost the same.
double plain_areas(const Drawn& drawn) {
  const Instance& instance = drawn.instance;
  std::vector<double> prices{0, 1};
  for (int i = 0; i < instance.jobs(); ++i)
    for (int a = 1; a <= instance.machines(); ++a)
      for (int b = 1; b < a; ++b) {
        const double s = instance.exact_time(i, a), t = instance.exact_time(i, b);
        if (s == kInfinity || t == kInfinity) continue;
        const double procs = (s * a - t * b) / instance.machines();
        const double row = s * drawn.share(i, a - 1) - t * drawn.share(i, b - 1);
        const double price = procs / (procs - row);
        if (price > 0 && price < 1) prices.push_back(price);
      }
  double best = 0;
  for (const double r : instance.releases())
    for (const double p : prices) best = std::max(best, r + cost(drawn, r, p));
  return best;
}

TEST(Areas, AreTheLargestCostAtAnyPrice) {
  int above_processors = 0;
  for (int kind = 0; kind < kProfileKinds; ++kind)
    for (const bool is_traffic : {false, true})
      for (std::uint64_t seed = 0; seed < 100; ++seed) {
        SHOW_ON_FAILURE(seed);
        SCOPED_TRACE(::testing::Message()
                     << "kind " << kind << ", traffic " << is_traffic << ", seed " << seed);
        const Drawn drawn = draw(kind, is_traffic, seed);
        const double expected = plain_areas(drawn), bound = area_bound(drawn.instance);
        EXPECT_LE(bound, expected * (1 + 1e-12));
        EXPECT_GE(bound, expected * (1 - 2 * kExactTolerance));
        if (bound > 1.001 * area_bound(drawn.instance.as_independent_jobs())) ++above_processors;
      }
  EXPECT_GT(above_processors, 100);
}

}  // namespace
}  // namespace cosched::moldable::bounds
