// The delay model: costs of edges between units, types and on the mean; what is refused; what the
// validator sees.
#include "cosched/dags/model/transfers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "cosched/core/errors.hpp"
#include "cosched/core/rng.hpp"
#include "cosched/dags/check/requirements.hpp"
#include "cosched/dags/check/validate_memory.hpp"
#include "dags/graphs.hpp"
#include "support/show_dags.hpp"

namespace cosched::dags {
namespace {

std::vector<Place> all_places(const std::vector<int>& units) {
  std::vector<Place> places;
  for (int type = 0; type < static_cast<int>(units.size()); ++type)
    for (int unit = 0; unit < units[type]; ++unit) places.push_back({type, unit});
  return places;
}

TEST(Transfers, CostsAsDefined) {
  const TaskGraph graph(3, {{0, 2}, {0, 1}, {1, 2}});
  const std::vector<int> units{2, 2};
  Table bandwidth(2, 2), latency(2, 2);
  bandwidth = {{1, 2}, {4, 8}};
  latency = {{0.5, 1}, {2, 3}};
  // Given in another order than edges are numbered in: (0, 1), (0, 2), (1, 2).
  const std::vector<Edge> edges{{0, 2}, {1, 2}, {0, 1}, {0, 1}};
  const std::vector<double> data{8, 0, 16, 16};
  const auto with = [&](const Memories& memories) {
    return Transfers(graph, units, edges, data, {bandwidth, latency, memories});
  };
  const Transfers host = with({Memories::MemoryKind::host, {}});
  EXPECT_EQ(host.data(), (std::vector<double>{16, 8, 0}));
  EXPECT_EQ(host.first_out_edge(1), 2);
  EXPECT_EQ(host.in_edges(2)[0], 1);
  EXPECT_EQ(host.in_edges(2)[1], 2);
  EXPECT_EQ(host.cost(0, {0, 0}, {0, 1}), 0);  // one memory
  EXPECT_EQ(host.cost(0, {0, 0}, {1, 1}), 1 + 16 / 2.0);
  EXPECT_EQ(host.cost(0, {1, 0}, {0, 1}), 2 + 16 / 4.0);
  EXPECT_EQ(host.cost(1, {1, 0}, {1, 1}), 3 + 8 / 8.0);
  EXPECT_EQ(host.cost(1, {1, 1}, {1, 1}), 0);
  EXPECT_EQ(host.cost(2, {0, 0}, {1, 1}), 0);  // no data, no latency
  const Transfers unit = with({Memories::MemoryKind::unit, {}});
  EXPECT_EQ(unit.cost(0, {0, 0}, {0, 1}), 0.5 + 16);
  const Transfers listed = with({Memories::MemoryKind::listed, {7, 3, 3, 4}});
  EXPECT_EQ(listed.cost(0, {0, 1}, {1, 0}), 0);
  EXPECT_EQ(listed.cost(0, {0, 0}, {1, 0}), 9);
  EXPECT_EQ(listed.least_cost(0, 0, 1), 0);
  EXPECT_TRUE(listed.has_data() && !listed.is_free());
}

TEST(Transfers, TypeAndMeanCostsAreThoseOfAllPairs) {
  Rng rng(71);
  for (int round = 0; round < 300; ++round) {
    SHOW_ON_FAILURE(round);
    graphs::RandomOptions options;
    options.tasks = 1 + round % 8;
    options.types = 1 + round % 4;
    options.density = 0.5;
    const Instance instance = graphs::with_transfers(rng, graphs::random(rng, options));
    SHOW_ON_FAILURE(instance);
    const Transfers& transfers = instance.transfers();
    const auto places = all_places(instance.units());
    const auto seconds = check::requirements(instance).transfer;
    bool is_free = true;
    for (int edge = 0; edge < instance.graph().edges(); ++edge) {
      Table cheapest(instance.types(), instance.types(), kInfinity);
      double sum = 0;
      for (const Place u : places)
        for (const Place v : places) {
          const double cost = transfers.cost(edge, u, v);
          EXPECT_NEAR(cost, seconds(edge, u.type, u.unit, v.type, v.unit), 1e-12 * cost);
          cheapest(u.type, v.type) = std::min(cheapest(u.type, v.type), cost);
          sum += cost;
          is_free = is_free && cost == 0;
        }
      for (int q = 0; q < instance.types(); ++q)
        for (int r = 0; r < instance.types(); ++r)
          EXPECT_EQ(transfers.least_cost(edge, q, r), cheapest(q, r));
      const auto count = static_cast<double>(places.size());
      const double mean = count > 1 ? sum / (count * (count - 1)) : 0;
      EXPECT_NEAR(transfers.mean_cost(edge), mean, 1e-12 * (1 + mean));
    }
    EXPECT_EQ(transfers.is_free(), is_free);
  }
}

std::string refusal(const std::vector<double>& data, double bandwidth, double latency,
                    std::vector<int> memories = {0, 0}) {
  try {
    const Transfers graph_of_data(TaskGraph(2, {{0, 1}}), {1, 1},
                                  std::vector<Edge>(data.size(), {0, 1}), data,
                                  {Table(2, 2, bandwidth),
                                   Table(2, 2, latency),
                                   {Memories::MemoryKind::listed, std::move(memories)}});
  } catch (const InvalidInstance& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Transfers, RefusesBadNumbersWithTheirPlace) {
  const double nan = std::nan("");
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(has(refusal({-1}, 1, 0), "data[0] = -1"));
  EXPECT_TRUE(has(refusal({nan}, 1, 0), "data[0] = nan"));
  EXPECT_TRUE(has(refusal({kInfinity}, 1, 0), "data[0] = inf"));
  EXPECT_TRUE(has(refusal({1, 2}, 1, 0), "data[1] = 2: edge (0, 1) was there with 1"));
  EXPECT_TRUE(has(refusal({1}, 0, 0), "bandwidth[0, 0] = 0"));
  EXPECT_TRUE(has(refusal({1}, nan, 0), "bandwidth[0, 0] = nan"));
  EXPECT_TRUE(has(refusal({1}, 1, kInfinity), "latency[0, 0] = inf"));
  EXPECT_TRUE(has(refusal({1}, 1, -1), "latency[0, 0] = -1"));
  EXPECT_TRUE(has(refusal({1}, 1, 0, {0}), "memories has 1 entries"));
  EXPECT_TRUE(has(refusal({1e200}, 1e-200, 0), "overflows"));
  EXPECT_EQ(refusal({2, 2}, kInfinity, 0), "accepted");
}

TEST(Transfers, AreCheckedByTheValidator) {
  const TaskGraph graph(2, {{0, 1}});
  const std::vector<int> units{1, 2};
  Instance instance(
      Table(2, 2, 1.0), graph, units,
      Transfers(graph, units, {{0, 1}}, {6}, {Table(2, 2, 2.0), Table(2, 2, 0.5), {}}));
  const auto refused = [&](int type, int unit, double start) -> std::string {
    Schedule schedule;
    schedule.place(0, 1, {0}, 0, 1);
    schedule.place(1, type, {unit}, start, start + 1);
    try {
      validate(schedule, check::requirements(instance));
    } catch (const InvalidSchedule& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refused(1, 0, 1), "");
  EXPECT_EQ(refused(1, 1, 4.5), "");
  EXPECT_EQ(refused(0, 0, 4.5), "");
  EXPECT_NE(refused(1, 1, 4.4).find("the transfer takes 3.5 s"), std::string::npos);
  EXPECT_NE(refused(0, 0, 1).find("task 1 starts at 1 before the data"), std::string::npos);
  EXPECT_NE(refused(1, 1, 0.5).find("before its predecessor 0 ends"), std::string::npos);
}

}  // namespace
}  // namespace cosched::dags
