#include <gtest/gtest.h>

#include <algorithm>

#include "cosched/cluster/batch/backfilling.hpp"
#include "cosched/cluster/batch/layout.hpp"
#include "cosched/cluster/batch/profile.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/core/rng.hpp"
#include "support/show_cluster.hpp"

namespace cosched::cluster::batch {
namespace {

// The header, with everything recomputed at every instant.
struct ConservativeTextbook {
  const Instance& instance;
  const Layout& layout;
  const Order& order;
  bool requested;

  ConservativeTextbook(const Instance& instance_, const Layout& layout_, const Order& order_,
                       bool requested_)
      : instance(instance_), layout(layout_), order(order_), requested(requested_) {}

  struct Slot {
    double start = kInfinity;
    std::vector<int> share;
  };
  std::vector<Slot> slot = std::vector<Slot>(instance.size());
  std::vector<double> start = std::vector<double>(instance.size(), -1), end = start;
  std::vector<int> queue, running;
  bool early = false, overdue = false;

  const Jobs& jobs() const { return instance.jobs(); }
  double expected(int j) const {
    const double length = requested ? jobs().estimate[j] : jobs().runtime[j];
    return length == 0 ? 1 : length;
  }
  double until(int j) const { return slot[j].start + expected(j); }

  // Free nodes of each cell at `time`, by who runs (to its expected end) and who is promised.
  std::vector<int> free_at(double time, double now) const {
    std::vector<int> free = layout.nodes;
    const auto take = [&](int j) {
      for (std::size_t c = 0; c < free.size(); ++c) free[c] -= slot[j].share[c];
    };
    for (const int j : running)
      if (until(j) > now && time < until(j)) take(j);
    for (const int j : queue)
      if (slot[j].start <= time && time < until(j)) take(j);
    return free;
  }

  Slot earliest(int job, double now) const {
    std::vector<double> times{now};
    for (const std::vector<int>* some : {&running, &queue})
      for (const int j : *some)
        for (const double time : {slot[j].start, until(j)})
          if (time > now && time < kInfinity) times.push_back(time);
    std::sort(times.begin(), times.end());
    for (const double from : times) {
      std::vector<int> least = free_at(from, now);
      for (const double time : times)
        if (time > from && time < from + expected(job)) {
          const std::vector<int> free = free_at(time, now);
          for (std::size_t c = 0; c < least.size(); ++c) least[c] = std::min(least[c], free[c]);
        }
      int left = jobs().tasks[job];
      for (std::size_t c = 0; c < least.size(); ++c) {
        const bool open = layout.allowed[job] >> c & 1;
        least[c] = open ? std::min(std::max(least[c], 0), left) : 0;
        left -= least[c];
      }
      if (left == 0) return {from, least};
    }
    return {};
  }

  void plan(double now) {
    const bool late = std::any_of(running.begin(), running.end(),
                                  [&](int j) { return until(j) <= now && end[j] > now; });
    if (late || overdue)
      for (const int j : queue) slot[j].start = kInfinity;
    for (const int j : queue) {
      if (slot[j].start < kInfinity && !early) continue;
      const Slot own = slot[j];
      slot[j].start = kInfinity;
      const Slot found = earliest(j, now);
      slot[j] = found.start < own.start ? found : own;
    }
    overdue = late;
    early = false;
  }

  void begin(double now) {
    std::vector<int> waiting;
    for (const int j : queue) {
      std::vector<int> free = layout.nodes;
      for (const int other : running)
        for (std::size_t c = 0; c < free.size(); ++c) free[c] -= slot[other].share[c];
      bool fits = slot[j].start <= now;
      for (std::size_t c = 0; c < free.size(); ++c)
        fits = fits && (slot[j].start == kInfinity || slot[j].share[c] <= free[c]);
      if (!fits) {
        waiting.push_back(j);
        continue;
      }
      slot[j].start = start[j] = now;
      end[j] = now + jobs().runtime[j];
      running.push_back(j);
    }
    queue = waiting;
  }

  void run() {
    std::size_t come = 0;
    for (double now = 0;;) {
      double next =
          come < instance.order().size() ? jobs().submit[instance.order()[come]] : kInfinity;
      for (const int j : running) {
        next = std::min(next, end[j]);
        if (until(j) > now) next = std::min(next, until(j));
      }
      for (const int j : queue)
        if (slot[j].start > now) next = std::min(next, slot[j].start);
      if (next == kInfinity) return;
      now = std::max(now, next);
      for (std::size_t k = 0; k < running.size();) {
        const int j = running[k];
        if (end[j] > now) {
          ++k;
          continue;
        }
        early = early || until(j) > now;
        running.erase(running.begin() + static_cast<std::ptrdiff_t>(k));
      }
      for (; come < instance.order().size() && jobs().submit[instance.order()[come]] <= now; ++come)
        queue.push_back(instance.order()[come]);
      if (!order.key.empty())
        std::stable_sort(queue.begin(), queue.end(),
                         [&](int a, int b) { return order.key[a] < order.key[b]; });
      plan(now);
      begin(now);
    }
  }
};

Jobs drawn(Rng& rng, int count, int nodes) {
  Jobs jobs;
  for (int j = 0; j < count; ++j) {
    jobs.submit.push_back(static_cast<double>(rng.below(60)));
    jobs.tasks.push_back(1 + static_cast<int>(rng.below(nodes)));
    jobs.cpu.push_back(1);
    jobs.memory.push_back(0.5);
    jobs.runtime.push_back(static_cast<double>(rng.below(30)));
    jobs.estimate.push_back(
        std::max(0.0, jobs.runtime.back() + static_cast<double>(rng.between(-8, 20))));
  }
  return jobs;
}

TEST(Conservative, AJobWithoutALimitDelaysNoPromise) {
  const double none = kInfinity;
  // A runs on 3 of 4 nodes without a limit; B needs 4; C has no limit either and comes behind B.
  for (const double submit : {0.0, 1.0}) {
    Jobs jobs{{0, 0, submit, 5}, {3, 4, 1, 1},      {1, 1, 1, 1},
              {1, 1, 1, 1},      {100, 50, 30, 30}, {none, 50, none, 30}};
    DecisionLog log;
    const Instance instance(jobs, 4);
    const PlacedOutcome made =
        backfill(instance, one_cell(instance), Rule::conservative, {}, Estimates::requested, &log);
    EXPECT_EQ(made.outcome.start, (std::vector<double>{0, 100, 150, 5}));
    const auto waits = std::find_if(log.begin(), log.end(), [](const Decision& one) {
      return one.action == Action::wait && one.job == 1;
    });
    EXPECT_EQ(waits->value, none);
    EXPECT_EQ(explain(*waits, jobs), "promised a start behind a job without a time limit");
  }
}

TEST(Conservative, EqualsTheTextbookOnNodesOfOneKind) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SHOW_ON_FAILURE(seed);
    Rng rng(seed);
    const Instance instance(drawn(rng, 12, 5), 5);
    SHOW_ON_FAILURE(instance);
    const Layout layout = one_cell(instance);
    Order order;
    if (seed % 3 == 0)
      for (int j = 0; j < 12; ++j) order.key.push_back(static_cast<double>(rng.below(4)));
    for (const bool requested : {false, true}) {
      ConservativeTextbook book(instance, layout, order, requested);
      book.run();
      const PlacedOutcome made = backfill(instance, layout, Rule::conservative, order,
                                          requested ? Estimates::requested : Estimates::perfect);
      EXPECT_EQ(made.outcome.start, book.start) << seed << " " << requested;
    }
  }
}

TEST(Conservative, EqualsTheTextbookOnCells) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SHOW_ON_FAILURE(seed);
    Rng rng(seed);
    const Jobs jobs = drawn(rng, 12, 3);
    const Instance instance(jobs, 7);
    SHOW_ON_FAILURE(instance);
    Layout layout{{3, 1, 3}, {}};
    for (const int tasks : jobs.tasks)
      layout.allowed.push_back(rng.below(2) == 0 ? 7 : tasks == 1 && rng.below(2) == 0 ? 2 : 4);
    const Order order;
    for (const bool requested : {false, true}) {
      ConservativeTextbook book(instance, layout, order, requested);
      book.run();
      const PlacedOutcome made = backfill(instance, layout, Rule::conservative, order,
                                          requested ? Estimates::requested : Estimates::perfect);
      EXPECT_EQ(made.outcome.start, book.start) << seed << " " << requested;
      for (int j = 0; j < 12; ++j)
        for (int c = 0; c < 3; ++c) EXPECT_EQ(made.shares[j * 3 + c], book.slot[j].share[c]);
      EXPECT_NO_THROW(placed_trace(instance, layout, made));
    }
  }
}

// On one node cores are as the nodes of one cell, whether a job's nodes are known or not.
TEST(Conservative, CoresOfANodeAreNodesOfACell) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SHOW_ON_FAILURE(seed);
    Rng rng(seed);
    const Jobs jobs = drawn(rng, 12, 5);
    const Instance instance(jobs, 5);
    SHOW_ON_FAILURE(instance);
    const std::vector<std::uint64_t> any(12, 1);
    for (const bool known : {false, true}) {
      const Site site({{{100, 5, 0}, 0, 0, 0}},
                      {jobs.tasks, std::vector<int>(12, known ? 1 : 0), std::vector<int>(12, 0),
                       std::vector<double>(12, 0.0), any, any});
      for (const Estimates estimates : {Estimates::perfect, Estimates::requested}) {
        const SiteOutcome made = backfill(instance, site, Rule::conservative, {}, estimates);
        const PlacedOutcome plain =
            backfill(instance, one_cell(instance), Rule::conservative, {}, estimates);
        EXPECT_EQ(made.outcome.start, plain.outcome.start) << seed << " " << known;
        EXPECT_NO_THROW(site_trace(instance, site, made));
      }
    }
  }
}

TEST(Batch, EachJobHasItsNodesOfItsCells) {
  Rng rng(5);
  const Jobs jobs = drawn(rng, 40, 3);
  const Instance instance(jobs, 7);
  SHOW_ON_FAILURE(instance);
  Layout layout{{3, 1, 3}, {}};
  for (int j = 0; j < 40; ++j) layout.allowed.push_back(rng.below(2) == 0 ? 7 : 4);
  for (const Rule rule : {Rule::fcfs, Rule::easy, Rule::conservative}) {
    const PlacedOutcome made = backfill(instance, layout, rule, {}, Estimates::perfect);
    for (int j = 0; j < 40; ++j) {
      int nodes = 0;
      for (int c = 0; c < 3; ++c) {
        nodes += made.shares[j * 3 + c];
        EXPECT_TRUE(layout.allowed[j] >> c & 1 || made.shares[j * 3 + c] == 0);
      }
      EXPECT_EQ(nodes, jobs.tasks[j]);
    }
    EXPECT_NO_THROW(placed_trace(instance, layout, made));
  }
}

// At 10 s the second has waited 9 s for 20, the third 8 s for 5.
TEST(Batch, Wfp3PutsLongWaitsForShortRunsFirst) {
  const Instance instance({{0, 1, 2}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {10, 20, 5}, {}}, 1);
  const Layout layout = one_cell(instance);
  EXPECT_EQ(backfill(instance, layout, Rule::fcfs, {true, {}}, Estimates::perfect).outcome.start,
            (std::vector<double>{0, 15, 10}));
  EXPECT_EQ(
      backfill(instance, layout, Rule::fcfs, {true, {0, 0, 1}}, Estimates::perfect).outcome.start,
      (std::vector<double>{0, 10, 30}));
}

TEST(Batch, Wfp3PutsWideJobsFirst) {
  const Instance instance({{0, 1, 1}, {4, 1, 4}, {1, 1, 1}, {1, 1, 1}, {10, 20, 20}, {}}, 4);
  EXPECT_EQ(backfill(instance, one_cell(instance), Rule::fcfs, {true, {}}, Estimates::perfect)
                .outcome.start,
            (std::vector<double>{0, 30, 10}));
}

// A cell of one node and one of two, each with a node taken until 100 s: the third job waits for
// the first cell, the fourth for all of the second, whose other node the last would take for 500 s.
TEST(Batch, WhoWaitsForAnotherCellIsNotPassed) {
  const Instance instance({{0, 0, 1, 2, 3},
                           {1, 1, 1, 2, 1},
                           {1, 1, 1, 1, 1},
                           {1, 1, 1, 1, 1},
                           {100, 100, 10, 10, 500},
                           {}},
                          3);
  const Layout layout{{1, 2}, {1, 2, 1, 2, 2}};
  const std::vector<double> starts{0, 0, 100, 100, 110};
  EXPECT_EQ(backfill(instance, layout, Rule::fcfs, {}, Estimates::perfect).outcome.start, starts);
  EXPECT_EQ(backfill(instance, layout, Rule::easy, {}, Estimates::perfect).outcome.start, starts);
}

TEST(Profile, RoomBeforeATime) {
  Profile profile({1, 3});
  const NodesPerCell all{1, 3};
  profile.change(0, 10, all, -1);
  EXPECT_FALSE(profile.room(4, 10));
  EXPECT_TRUE(profile.room(4, 11));
}

}  // namespace
}  // namespace cosched::cluster::batch
