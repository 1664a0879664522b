#include "cosched/cluster/batch/conservative.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "cosched/cluster/batch/backfilling.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/core/rng.hpp"
#include "support/show_cluster.hpp"
#include "support/site_instances.hpp"

namespace cosched::cluster::batch {
namespace {

// The rules of backfilling.hpp, with everything recomputed at every instant.
struct ConservativeTextbook {
  const Instance& instance;
  const Layout& layout;
  const QueueOrder& order;
  bool requested;

  ConservativeTextbook(const Instance& instance_, const Layout& layout_, const QueueOrder& order_,
                       bool requested_)
      : instance(instance_), layout(layout_), order(order_), requested(requested_) {}

  struct CellSlot {
    double start = kInfinity;
    std::vector<int> share;
  };
  std::vector<CellSlot> slot = std::vector<CellSlot>(instance.size());
  std::vector<double> start = std::vector<double>(instance.size(), -1), end = start;
  std::vector<int> queue, running;
  bool has_early_completion = false;
  bool was_overdue = false;

  const Jobs& jobs() const { return instance.jobs(); }
  double expected(int j) const {
    const double length = requested ? jobs().estimate[j] : jobs().runtime[j];
    return length == 0 ? 1 : length;
  }
  double expected_end(int j) const { return slot[j].start + expected(j); }

  // Free nodes of each cell at `time`, by who runs (to its expected end) and who is promised.
  std::vector<int> free_at(double time, double now) const {
    std::vector<int> free = layout.nodes;
    const auto subtract = [&](int j) {
      for (std::size_t c = 0; c < free.size(); ++c) free[c] -= slot[j].share[c];
    };
    for (const int j : running)
      if (expected_end(j) > now && time < expected_end(j)) subtract(j);
    for (const int j : queue)
      if (slot[j].start <= time && time < expected_end(j)) subtract(j);
    return free;
  }

  CellSlot earliest(int job, double now) const {
    std::vector<double> times{now};
    for (const std::vector<int>* jobs_of_kind : {&running, &queue})
      for (const int j : *jobs_of_kind)
        for (const double time : {slot[j].start, expected_end(j)})
          if (time > now && time < kInfinity) times.push_back(time);
    std::sort(times.begin(), times.end());
    for (const double from : times) {
      std::vector<int> min_free = free_at(from, now);
      for (const double time : times)
        if (time > from && time < from + expected(job)) {
          const std::vector<int> free = free_at(time, now);
          for (std::size_t c = 0; c < min_free.size(); ++c)
            min_free[c] = std::min(min_free[c], free[c]);
        }
      int missing = jobs().tasks[job];
      for (std::size_t c = 0; c < min_free.size(); ++c) {
        const bool open = layout.open_cells[job] >> c & 1;
        min_free[c] = open ? std::min(std::max(min_free[c], 0), missing) : 0;
        missing -= min_free[c];
      }
      if (missing == 0) return {from, min_free};
    }
    return {};
  }

  void plan(double now) {
    const bool is_overdue = std::any_of(running.begin(), running.end(), [&](int j) {
      return expected_end(j) <= now && end[j] > now;
    });
    if (is_overdue || was_overdue)
      for (const int j : queue) slot[j].start = kInfinity;
    for (const int j : queue) {
      if (slot[j].start < kInfinity && !has_early_completion) continue;
      const CellSlot previous_slot = slot[j];
      slot[j].start = kInfinity;
      const CellSlot earliest_slot = earliest(j, now);
      slot[j] = earliest_slot.start < previous_slot.start ? earliest_slot : previous_slot;
    }
    was_overdue = is_overdue;
    has_early_completion = false;
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
    std::size_t submitted = 0;
    for (double now = 0;;) {
      double next = submitted < instance.order().size() ? jobs().submit[instance.order()[submitted]]
                                                        : kInfinity;
      for (const int j : running) {
        next = std::min(next, end[j]);
        if (expected_end(j) > now) next = std::min(next, expected_end(j));
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
        has_early_completion = has_early_completion || expected_end(j) > now;
        running.erase(running.begin() + static_cast<std::ptrdiff_t>(k));
      }
      for (;
           submitted < instance.order().size() && jobs().submit[instance.order()[submitted]] <= now;
           ++submitted)
        queue.push_back(instance.order()[submitted]);
      if (!order.keys.empty())
        std::stable_sort(queue.begin(), queue.end(),
                         [&](int a, int b) { return order.keys[a] < order.keys[b]; });
      plan(now);
      begin(now);
    }
  }
};

Jobs random_batch_jobs(Rng& rng, int count, int nodes) {
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
  const double no_limit = kInfinity;
  // A runs on 3 of 4 nodes without a limit; B needs 4; C has no limit either and comes behind B.
  for (const double submit : {0.0, 1.0}) {
    Jobs jobs{.submit = {0, 0, submit, 5},
              .tasks = {3, 4, 1, 1},
              .cpu = {1, 1, 1, 1},
              .memory = {1, 1, 1, 1},
              .runtime = {100, 50, 30, 30},
              .estimate = {no_limit, 50, no_limit, 30}};
    DecisionLog log;
    const Instance instance(jobs, 4);
    const PlacedOutcome outcome = backfill(instance, one_cell_layout(instance),
                                           BatchRule::conservative, {}, Estimates::requested, &log);
    EXPECT_EQ(outcome.outcome.start, (std::vector<double>{0, 100, 150, 5}));
    const auto waits = std::find_if(log.begin(), log.end(), [](const Decision& decision) {
      return decision.action == JobAction::wait && decision.job == 1;
    });
    EXPECT_EQ(waits->value, no_limit);
    EXPECT_EQ(explain(*waits, jobs), "promised a start behind a job without a time limit");
  }
}

TEST(Conservative, EqualsTheTextbookOnNodesOfOneKind) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SHOW_ON_FAILURE(seed);
    Rng rng(seed);
    const Instance instance(random_batch_jobs(rng, 12, 5), 5);
    SHOW_ON_FAILURE(instance);
    const Layout layout = one_cell_layout(instance);
    QueueOrder order;
    if (seed % 3 == 0)
      for (int j = 0; j < 12; ++j) order.keys.push_back(static_cast<double>(rng.below(4)));
    for (const bool requested : {false, true}) {
      ConservativeTextbook book(instance, layout, order, requested);
      book.run();
      const PlacedOutcome outcome = backfill(instance, layout, BatchRule::conservative, order,
                                             requested ? Estimates::requested : Estimates::perfect);
      EXPECT_EQ(outcome.outcome.start, book.start) << seed << " " << requested;
    }
  }
}

// Cells, as bits of Layout::open_cells.
constexpr BitSet64 kFirstCell = 1, kSecondCell = 2, kThirdCell = 4;
constexpr BitSet64 kAllCells = kFirstCell | kSecondCell | kThirdCell;

TEST(Conservative, EqualsTheTextbookOnCells) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SHOW_ON_FAILURE(seed);
    Rng rng(seed);
    const Jobs jobs = random_batch_jobs(rng, 12, 3);
    const Instance instance(jobs, 7);
    SHOW_ON_FAILURE(instance);
    Layout layout{.nodes = {3, 1, 3}, .open_cells = {}};
    for (const int tasks : jobs.tasks) {
      const bool is_open_everywhere = rng.below(2) == 0;
      const bool is_in_second = !is_open_everywhere && tasks == 1 && rng.below(2) == 0;
      layout.open_cells.push_back(is_open_everywhere ? kAllCells
                                  : is_in_second     ? kSecondCell
                                                     : kThirdCell);
    }
    const QueueOrder order;
    for (const bool requested : {false, true}) {
      ConservativeTextbook book(instance, layout, order, requested);
      book.run();
      const PlacedOutcome outcome = backfill(instance, layout, BatchRule::conservative, order,
                                             requested ? Estimates::requested : Estimates::perfect);
      EXPECT_EQ(outcome.outcome.start, book.start) << seed << " " << requested;
      for (int j = 0; j < 12; ++j)
        for (int c = 0; c < 3; ++c) EXPECT_EQ(outcome.shares[j * 3 + c], book.slot[j].share[c]);
      EXPECT_NO_THROW(placed_trace(instance, layout, outcome));
    }
  }
}

// On one node cores are as the nodes of one cell, whether a job's nodes are known or not.
TEST(Conservative, CoresOfANodeAreNodesOfACell) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SHOW_ON_FAILURE(seed);
    Rng rng(seed);
    const Jobs jobs = random_batch_jobs(rng, 12, 5);
    const Instance instance(jobs, 5);
    SHOW_ON_FAILURE(instance);
    for (const bool is_distribution_known : {false, true}) {
      std::vector<testing::SiteJob> requests;
      for (const int tasks : jobs.tasks)
        requests.push_back({.tasks = tasks, .parts = is_distribution_known ? 1 : 0});
      const ResourceAmounts capacity{.memory = 100, .cores = 5, .gpus = 0};
      const Site site({{.capacity = capacity, .cell = 0, .gpu_type = 0, .first_core = 0}},
                      testing::site_requests(requests));
      for (const Estimates estimates : {Estimates::perfect, Estimates::requested}) {
        const SiteOutcome outcome =
            backfill(instance, site, BatchRule::conservative, {}, estimates);
        const PlacedOutcome cell_outcome =
            backfill(instance, one_cell_layout(instance), BatchRule::conservative, {}, estimates);
        EXPECT_EQ(outcome.outcome.start, cell_outcome.outcome.start)
            << seed << " " << is_distribution_known;
        EXPECT_NO_THROW(site_trace(instance, site, outcome));
      }
    }
  }
}

TEST(Batch, EachJobHasItsNodesOfItsCells) {
  Rng rng(5);
  const Jobs jobs = random_batch_jobs(rng, 40, 3);
  const Instance instance(jobs, 7);
  SHOW_ON_FAILURE(instance);
  Layout layout{.nodes = {3, 1, 3}, .open_cells = {}};
  for (int j = 0; j < 40; ++j)
    layout.open_cells.push_back(rng.below(2) == 0 ? kAllCells : kThirdCell);
  for (const BatchRule rule : {BatchRule::fcfs, BatchRule::easy, BatchRule::conservative}) {
    const PlacedOutcome outcome = backfill(instance, layout, rule, {}, Estimates::perfect);
    for (int j = 0; j < 40; ++j) {
      int nodes = 0;
      for (int c = 0; c < 3; ++c) {
        nodes += outcome.shares[j * 3 + c];
        EXPECT_TRUE(layout.open_cells[j] >> c & 1 || outcome.shares[j * 3 + c] == 0);
      }
      EXPECT_EQ(nodes, jobs.tasks[j]);
    }
    EXPECT_NO_THROW(placed_trace(instance, layout, outcome));
  }
}

// At 10 s the second has waited 9 s for 20, the third 8 s for 5.
TEST(Batch, Wfp3PutsLongWaitsForShortRunsFirst) {
  const Instance instance(Jobs{.submit = {0, 1, 2},
                               .tasks = {1, 1, 1},
                               .cpu = {1, 1, 1},
                               .memory = {1, 1, 1},
                               .runtime = {10, 20, 5},
                               .estimate = {}},
                          1);
  const Layout layout = one_cell_layout(instance);
  EXPECT_EQ(
      backfill(instance, layout, BatchRule::fcfs, {true, {}}, Estimates::perfect).outcome.start,
      (std::vector<double>{0, 15, 10}));
  EXPECT_EQ(backfill(instance, layout, BatchRule::fcfs, {true, {0, 0, 1}}, Estimates::perfect)
                .outcome.start,
            (std::vector<double>{0, 10, 30}));
}

TEST(Batch, Wfp3PutsWideJobsFirst) {
  const Instance instance(Jobs{.submit = {0, 1, 1},
                               .tasks = {4, 1, 4},
                               .cpu = {1, 1, 1},
                               .memory = {1, 1, 1},
                               .runtime = {10, 20, 20},
                               .estimate = {}},
                          4);
  EXPECT_EQ(
      backfill(instance, one_cell_layout(instance), BatchRule::fcfs, {true, {}}, Estimates::perfect)
          .outcome.start,
      (std::vector<double>{0, 30, 10}));
}

// A cell of one node and one of two, each with a node taken until 100 s: the third job waits for
// the first cell, the fourth for all of the second, whose other node the last would take for 500 s.
TEST(Batch, WhoWaitsForAnotherCellIsNotPassed) {
  const Instance instance(Jobs{.submit = {0, 0, 1, 2, 3},
                               .tasks = {1, 1, 1, 2, 1},
                               .cpu = {1, 1, 1, 1, 1},
                               .memory = {1, 1, 1, 1, 1},
                               .runtime = {100, 100, 10, 10, 500},
                               .estimate = {}},
                          3);
  const Layout layout{
      .nodes = {1, 2},
      .open_cells = {kFirstCell, kSecondCell, kFirstCell, kSecondCell, kSecondCell}};
  const std::vector<double> starts{0, 0, 100, 100, 110};
  EXPECT_EQ(backfill(instance, layout, BatchRule::fcfs, {}, Estimates::perfect).outcome.start,
            starts);
  EXPECT_EQ(backfill(instance, layout, BatchRule::easy, {}, Estimates::perfect).outcome.start,
            starts);
}

}  // namespace
}  // namespace cosched::cluster::batch
