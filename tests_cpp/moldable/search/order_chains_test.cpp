#include "cosched/moldable/search/order_chains.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "cosched/core/interrupt.hpp"
#include "cosched/moldable/check/validate.hpp"
#include "cosched/moldable/list/standard.hpp"

namespace cosched::moldable::search {
namespace {

Instance twelve() {
  Rng rng(3);
  Table times(12, 4);
  Matrix<double> slowdowns(12, 12), memory(12, 1);
  for (int i = 0; i < 12; ++i) {
    const double alone = 1 + 9 * rng.uniform();
    for (int q = 0; q < 4; ++q) times(i, q) = alone / (0.8 + 0.2 * (q + 1));
    for (int j = 0; j < 12; ++j) slowdowns(i, j) = i == j ? 1 : 1 + 0.4 * rng.uniform();
    memory(i, 0) = 1 + 4 * rng.uniform();
  }
  return Instance(Times(times), std::vector<double>(12, 1.0), {}, 4)
      .with_sharing(std::make_shared<const Sharing>(
          12, std::vector<Resource>{{.name = "memory", .capacity = 8, .need = memory}},
          Slowdowns{slowdowns, SlowdownRule::sum}, std::nullopt));
}

TEST(Chains, OfASeedAreTheSameAndShorterThanTheirStart) {
  const Instance instance = twelve();
  const list::Decoder decoder(instance);
  const Placement from = list::gang(instance);
  const auto run_chains = [&] {
    Rng rng(1);
    return anneal_order_chains(instance, decoder, from, 200'000, rng);
  };
  const Placement first = run_chains(), repeated = run_chains();
  EXPECT_EQ(first.start, repeated.start);
  EXPECT_LT(makespan(first), makespan(from));
  check::validate(instance, to_schedule(instance, first));
}

TEST(Chains, ReturnWhatTheyHaveWhenTheTimeIsOver) {
  const Instance instance = twelve();
  const list::Decoder decoder(instance);
  const Placement from = list::gang(instance);
  Rng rng(1);
  const ScopedTimeLimit limit(0.02);
  const Placement placement = anneal_order_chains(instance, decoder, from, 1e15, rng);
  EXPECT_THROW(check_interrupt(), TimeLimit);
  EXPECT_LE(makespan(placement), makespan(from));
  without_deadline([&] { check::validate(instance, to_schedule(instance, placement)); });
}

}  // namespace
}  // namespace cosched::moldable::search
