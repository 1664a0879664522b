#include "cosched/moldable/shared/corun_order_search.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "cosched/moldable/check/validate.hpp"
#include "cosched/moldable/list/standard.hpp"

namespace cosched::moldable::shared {
namespace {

Instance of(const Table& times, int machines, std::vector<Resource> resources,
            std::optional<Slowdowns> slowdowns) {
  const auto jobs = static_cast<int>(times.rows());
  return Instance(Times(times), std::vector<double>(jobs, 1.0), {}, machines)
      .with_sharing(std::make_shared<const Sharing>(jobs, std::move(resources),
                                                    std::move(slowdowns), std::nullopt));
}

Placement annealed(const Instance& instance, std::uint64_t seed = 1) {
  const list::Decoder decoder(instance);
  Rng rng(seed);
  CorunOrderSearch search(instance, decoder, rng);
  search.anneal(list::gang(instance), 0.01, 0.001, 100'000);
  Placement placement = search.best();
  check::validate(instance, to_schedule(instance, placement));
  search.anneal(placement, 0.001, 0.001, 10'000);
  EXPECT_LE(makespan(search.best()), makespan(placement) * (1 + 1e-12));
  check::validate(instance, to_schedule(instance, search.best()));
  return placement;
}

TEST(Orders, WaitWhereThatIsWorthMore) {
  const Matrix<double> table{{1, 3, 3}, {3, 1, 3}, {3, 3, 1}};
  EXPECT_EQ(makespan(annealed(of({{4}, {4}, {4}}, 3, {}, Slowdowns{table, {}}))), 12);
}

TEST(Orders, KeepNeedsAndOverlap) {
  // The two that do not fit together one after the other, the long one beside both: no packs do
  // that.
  const std::vector<Resource> memory{{.name = "memory", .capacity = 5, .need = {{3}, {3}, {2}}}};
  EXPECT_EQ(makespan(annealed(of({{2}, {3}, {5}}, 3, memory, std::nullopt))), 5);
}

TEST(Orders, OneJobTakesItsFastestCount) {
  const std::vector<Resource> memory{{.name = "memory", .capacity = 5, .need = {{3}}}};
  EXPECT_EQ(makespan(annealed(of({{4, 3, 2}}, 3, memory, std::nullopt))), 2);
}

TEST(Orders, TheSameSeedGivesTheSame) {
  const Matrix<double> table{{1, 1.2, 1.5}, {1.1, 1, 1.9}, {1.3, 1.4, 1}};
  for (const SlowdownRule rule : {SlowdownRule::sum, SlowdownRule::product, SlowdownRule::max}) {
    const Instance instance = of({{9, 5, 4}, {7, 4, 3}, {5, 3, 2}}, 3, {}, Slowdowns{table, rule});
    EXPECT_EQ(annealed(instance).start, annealed(instance).start);
  }
}

}  // namespace
}  // namespace cosched::moldable::shared
