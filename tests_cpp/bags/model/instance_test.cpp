#include "cosched/bags/model/instance.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "cosched/core/errors.hpp"

namespace cosched::bags {
namespace {

// A correct instance; a test breaks one part of it.
struct Parts {
  std::vector<std::int64_t> counts{3, 4}, machines{2, 1};
  Table etc = Table(2, 2, 2), apc = Table(2, 2, 5);
  double price = 100, energy_cost = 1;
  Extensions extensions;

  Instance make() const {
    return Instance(counts, machines, etc, apc, price, energy_cost, extensions);
  }
};

// The message of the refusal, or "" where there is none.
std::string refusal(const std::function<void(Parts&)>& spoil) {
  Parts parts;
  spoil(parts);
  try {
    parts.make();
  } catch (const InvalidInstance& error) {
    std::string text = error.what();
    EXPECT_EQ(text.find('\n'), std::string::npos);
    return text;
  }
  return "";
}

void expect_refused(const std::string& place, const std::function<void(Parts&)>& spoil) {
  EXPECT_NE(refusal(spoil).find(place), std::string::npos) << place << " | " << refusal(spoil);
}

TEST(Instance, RefusesBadEntriesByNameAndPlace) {
  const double nan = std::nan("");
  EXPECT_EQ(refusal([](Parts&) {}), "");
  expect_refused("counts is empty", [](Parts& p) { p.counts = {}; });
  expect_refused("counts are all 0", [](Parts& p) { p.counts = {0, 0}; });
  expect_refused("counts[0] = -2", [](Parts& p) { p.counts[0] = -2; });
  expect_refused("counts", [](Parts& p) { p.counts[0] = Instance::kMostTasks; });
  expect_refused("machines is empty", [](Parts& p) { p.machines = {}; });
  expect_refused("machines[0] = -1", [](Parts& p) { p.machines[0] = -1; });
  expect_refused("machines are all 0", [](Parts& p) { p.machines = {0, 0}; });
  expect_refused("machines", [](Parts& p) { p.machines = {9'000'000, 9'000'000}; });
  expect_refused("etc has shape (1, 2)", [](Parts& p) { p.etc = Table(1, 2, 1); });
  expect_refused("apc has shape (2, 3)", [](Parts& p) { p.apc = Table(2, 3, 1); });
  for (const double bad : {0.0, -1.0, nan, kInfinity}) {
    expect_refused("etc[1, 0] = ", [&](Parts& p) { p.etc(1, 0) = bad; });
    expect_refused("apc[0, 1] = ", [&](Parts& p) { p.apc(0, 1) = bad; });
  }
  for (const double bad : {-1.0, nan, kInfinity}) {
    expect_refused("price = ", [&](Parts& p) { p.price = bad; });
    expect_refused("energy_cost = ", [&](Parts& p) { p.energy_cost = bad; });
    expect_refused("idle_power[1] = ", [&](Parts& p) { p.extensions.idle_power = {1, bad}; });
  }
  expect_refused("sums are finite", [](Parts& p) { p.etc(0, 0) = 1e308; });
  expect_refused("rates that are finite", [](Parts& p) { p.etc(0, 0) = 1e-308; });
}

TEST(Instance, RefusesBadExtensions) {
  expect_refused("idle_power has 1 entries", [](Parts& p) { p.extensions.idle_power = {1}; });
  expect_refused("idle_power[0] = 6 exceeds apc[0, 0] = 5", [](Parts& p) {
    p.extensions.idle_power = {6, 0};
  });
  expect_refused("power_cap = 3: expected more watts than all machines draw idle, 3", [](Parts& p) {
    p.extensions.idle_power = {1, 1};
    p.extensions.power_cap = 3;
  });
  expect_refused("power_cap = ", [](Parts& p) { p.extensions.power_cap = std::nan(""); });
  expect_refused("allowed has 3 entries", [](Parts& p) { p.extensions.allowed = {1, 1, 1}; });
  expect_refused("allowed[1]", [](Parts& p) { p.extensions.allowed = {1, 1, 0, 0}; });
}

TEST(Instance, TypesOfWhichThereAreNoneRunNowhereAndCountForNothing) {
  Parts parts;
  parts.machines[1] = 0;
  parts.counts[0] = 0;
  const Instance instance = parts.make();
  EXPECT_FALSE(instance.is_allowed(0, 1));
  EXPECT_FALSE(instance.is_allowed(1, 1));
  EXPECT_EQ(instance.etc(1, 1), parts.etc(1, 1));  // as given
  EXPECT_EQ(instance.thriftiest_machine_type(1), 0);
  EXPECT_DOUBLE_EQ(instance.least_joules(),
                   static_cast<double>(parts.counts[1]) * instance.joules(1, 0));
}

TEST(Instance, ClosedPairsMayHoldAnything) {
  Parts parts;
  parts.etc(0, 0) = std::nan("");
  parts.apc(0, 0) = -1;
  parts.extensions.allowed = {0, 1, 1, 1};
  const Instance instance = parts.make();
  EXPECT_FALSE(instance.is_allowed(0, 0));
  EXPECT_EQ(instance.etc(0, 0), kInfinity);
  EXPECT_EQ(instance.thriftiest_machine_type(0), 1);
}

TEST(Instance, CountsEnergyAboveIdling) {
  Parts parts;
  parts.extensions.idle_power = {1, 2};
  parts.extensions.power_cap = 10;
  const Instance instance = parts.make();
  EXPECT_DOUBLE_EQ(instance.joules(0, 0), 8);
  EXPECT_DOUBLE_EQ(instance.joules(1, 1), 6);
  EXPECT_DOUBLE_EQ(instance.idle_power(), 4);
  EXPECT_DOUBLE_EQ(instance.power_above_idle(), 6);
  EXPECT_DOUBLE_EQ(instance.least_joules(), 42);
  EXPECT_DOUBLE_EQ(instance.least_period(42), 7);
  EXPECT_DOUBLE_EQ(instance.profit_rate(42, 10), (100.0 - 42 - 4 * 10) / 10);
}

}  // namespace
}  // namespace cosched::bags
