#include "cosched/cluster/batch/node_plan_state.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "cosched/core/rng.hpp"
#include "support/show_on_failure.hpp"
#include "support/site_instances.hpp"

namespace cosched::cluster::batch {
namespace {

using testing::site_requests;
using testing::SiteJob;
using testing::three_nodes;

// A share that is not free from `begin` to `end`.
struct PlannedShare {
  double begin;
  double end;
  NodePlacement placement;
};

// A plan as a list of shares, looked at second by second.
struct ListedPlan {
  const Site& site;
  std::vector<PlannedShare> shares;

  FreeAmounts free_at(double time) const {
    FreeAmounts free = site.capacities();
    for (const PlannedShare& share : shares)
      if (share.begin <= time && time < share.end)
        for (const Piece& piece : share.placement) free[piece.node] -= piece.amounts;
    return free;
  }

  NodePlan::JobSlot find_earliest_slot(double now, const Need& need, double duration,
                                       double start_limit) const {
    for (double start = now; start < start_limit; ++start) {
      FreeAmounts minimum = site.capacities();
      for (double time = start; time < start + duration; ++time) {
        const FreeAmounts free = free_at(time);
        for (std::size_t k = 0; k < free.size(); ++k) minimum[k] = minimum_of(minimum[k], free[k]);
      }
      NodePlacement share;
      if (site.find_placement(need, minimum, need.cells, 0, &share)) return {start, share};
    }
    return {start_limit, {}};
  }
};

std::vector<SiteJob> random_site_jobs(Rng& rng, int count) {
  std::vector<SiteJob> jobs;
  for (int job = 0; job < count; ++job) {
    SiteJob request;
    request.tasks = 1 + static_cast<int>(rng.below(6));
    request.parts = static_cast<int>(rng.below(4));
    request.gpus = rng.below(4) == 0 ? 1 : 0;
    request.memory = static_cast<double>(20 * rng.below(4));
    request.cells = rng.below(4) == 0 ? 1 : kFullBitSet;
    jobs.push_back(request);
  }
  return jobs;
}

bool are_equal(const NodePlacement& a, const NodePlacement& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Piece& x, const Piece& y) {
    return x.node == y.node && x.amounts == y.amounts;
  });
}

// How often a case of the test below has occurred.
struct CaseCounts {
  int moves = 0;
  int proofs = 0;
};

// Jobs of all kinds of needs are planned, run, end early, and are moved forward: each slot is that
// of the list, and a job of which it is proven that it has no earlier start has none.
class PlanComparison {
 public:
  PlanComparison(const Site& site, const std::vector<BatchJob>& jobs)
      : site_(site), jobs_(jobs), state_(site, jobs), list_{site, {}} {}

  void plan_all_jobs() {
    const std::vector<int>& oversized = site_.oversized_jobs();
    for (int rank = 0; rank < static_cast<int>(jobs_.size()); ++rank) {
      if (std::count(oversized.begin(), oversized.end(), rank) > 0) continue;
      const double duration = jobs_[rank].expected_runtime;
      const auto slot = state_.find_earliest_slot(rank, 0);
      const auto listed_slot = list_.find_earliest_slot(0, site_.need(rank), duration, 1000);
      ASSERT_EQ(slot.start, listed_slot.start);
      ASSERT_TRUE(are_equal(slot.share, listed_slot.share));
      state_.plan().reserve(slot.start, slot.start + duration, slot.share);
      list_.shares.push_back({slot.start, slot.start + duration, slot.share});
      ranks_.push_back(rank);
    }
  }

  void end_some_jobs(double now, Rng& rng) {
    state_.plan().advance(now);
    for (PlannedShare& share : list_.shares) {
      const bool is_running = share.begin < now && now < share.end;
      if (!is_running || rng.below(2) == 0) continue;
      state_.plan().release(now, share.end, share.placement);
      state_.on_release(share.placement);
      share.end = now;
    }
  }

  void move_waiting_jobs(double now, CaseCounts& counts) {
    for (std::size_t k = 0; k < ranks_.size(); ++k)
      if (list_.shares[k].begin >= now) move_job(k, now, counts);
  }

 private:
  // Where the list would plan the job if it gave its share back.
  double listed_start(std::size_t k, double now) {
    PlannedShare& share = list_.shares[k];
    const double start = share.begin;
    share.begin = share.end;
    const auto slot =
        list_.find_earliest_slot(now, site_.need(ranks_[k]), share.end - start, start);
    share.begin = start;
    return slot.start;
  }

  void move_job(std::size_t k, double now, CaseCounts& counts) {
    PlannedShare& share = list_.shares[k];
    const double start = share.begin;
    const double duration = share.end - start;
    const double earliest_start = listed_start(k, now);
    const bool is_proven_earliest =
        state_.prove_no_earlier_start(ranks_[k], now, {start, share.placement});
    if (is_proven_earliest) {
      ++counts.proofs;
      ASSERT_EQ(earliest_start, start);
      return;
    }
    state_.plan().release(start, share.end, share.placement);
    const auto slot = state_.find_slot_before(ranks_[k], now, start);
    ASSERT_EQ(slot.start, earliest_start);
    if (slot.start < start) {
      ++counts.moves;
      state_.on_release(share.placement);
      share = {slot.start, slot.start + duration, slot.share};
    }
    state_.plan().reserve(share.begin, share.end, share.placement);
  }

  const Site& site_;
  const std::vector<BatchJob>& jobs_;
  NodePlanState state_;
  ListedPlan list_;
  std::vector<int> ranks_;  // of the shares in the list
};

TEST(NodePlanState, PlansAsAListOfSharesDoes) {
  Rng rng(7);
  CaseCounts counts;
  for (int round = 0; round < 60; ++round) {
    SHOW_ON_FAILURE(round);
    const std::vector<SiteJob> requests = random_site_jobs(rng, 14);
    std::vector<BatchJob> jobs;
    for (int job = 0; job < 14; ++job)
      jobs.push_back({.submit = 0,
                      .runtime = 0,
                      .expected_runtime = static_cast<double>(3 + 2 * rng.below(3)),
                      .tasks = requests[job].tasks,
                      .job = job});
    const Site site(three_nodes(), site_requests(requests));
    PlanComparison comparison(site, jobs);
    comparison.plan_all_jobs();
    for (double now = 1; now < 12; ++now) {
      SHOW_ON_FAILURE(now);
      comparison.end_some_jobs(now, rng);
      comparison.move_waiting_jobs(now, counts);
    }
  }
  EXPECT_GT(counts.moves, 100);
  EXPECT_GT(counts.proofs, 200);
}

}  // namespace
}  // namespace cosched::cluster::batch
