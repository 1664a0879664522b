// Schedules of rigid jobs that leave no processor idle before all jobs end.
#pragma once

#include <optional>

#include "cosched/core/rng.hpp"
#include "cosched/moldable/model/placement.hpp"
#include "cosched/moldable/search/work_budget.hpp"

namespace cosched::moldable::search {

struct FullMachineParams {
  /// Jobs at most: a descent keeps sums of their counts at each of its times.
  int max_jobs = 1000;
  /// Times are whole multiples of a unit, the sum of all areas at most so many of them.
  double max_area_units = 1e12;
  /// Nodes of the first descents.  Each descent has a little more than the one before: after
  /// `descents_per_growth` of them the limit has grown by as much as it was at first.
  std::int64_t first_nodes = 1000, descents_per_growth = 8;
  /// The keys of an order are multiplied by exp(x), x uniform between minus and plus this.
  double noise = 0.2;
  /// Remembered states from which no such schedule follows; a power of two.
  std::size_t remembered_states = std::size_t{1} << 16;
};

/// Rigid jobs whose area is that of the whole machine until some time may have a schedule without
/// any idle processor, which no annealing is likely to meet: one that ends one second later is
/// everywhere, and no better.  Cut rectangles (Hopper and Turton 2001) are such jobs.
///
/// At time 0 and at each end, waiting jobs start whose counts add up to the free processors
/// exactly; a table of the sums that can be reached leaves only such sets.  A state is given up
/// where a waiting job would end too late, where the jobs longer than half the remaining time
/// need more than the machine, and where it was given up before.  Each descent tries jobs in a
/// random order near one by area, time, count, or half perimeter, and is cut off after some nodes:
/// an early wrong choice is not repaired by many late ones.
///
/// Example: 2 processors, jobs of 1 x 3, 1 x 2, 1 x 1 (processors x seconds): the area is 2 x 3, and
/// the first job runs beside the two others.
class FullMachineSearch {
 public:
  /// Empty where no such schedule exists for a simple reason: jobs are not rigid or have releases,
  /// their times have no common unit, the area is no multiple of the machine, or a job is longer.
  static std::optional<FullMachineSearch> create(const Instance& instance, std::uint64_t seed,
                                                 const FullMachineParams& params = {});

  /// When all jobs end in such a schedule.
  double makespan() const { return unit_ * static_cast<double>(horizon_); }
  /// Whether all states were looked at: there is no such schedule, or run() has returned it.
  bool is_exhausted() const { return is_exhausted_; }

  /// Goes on with new descents for so many operations.  Returns a schedule of length makespan() if
  /// one is found.  May throw as check_interrupt().
  std::optional<Placement> run(std::int64_t operations);

 private:
  struct RigidJob {
    int procs;
    std::int64_t length;  // in units
  };
  struct RunningJob {
    std::int64_t end;
    int procs;
  };
  // A time at which jobs start, and the waiting jobs that may start then.
  struct StartEvent {
    std::int64_t time;
    std::int64_t shortest_length;  // of them
    std::vector<int> jobs;         // in the order of the descent
    // Bit s of row k: some of the jobs from place k on need s processors together.
    std::vector<std::uint64_t> reachable_sums;
    std::size_t words_per_row;

    bool can_reach(std::size_t first_place, int procs) const {
      const auto bit = static_cast<std::size_t>(procs);
      return reachable_sums[first_place * words_per_row + bit / 64] >> (bit % 64) & 1;
    }
  };

  FullMachineSearch(const Instance& instance, std::vector<RigidJob> jobs, double unit,
                    std::int64_t horizon, std::uint64_t seed, const FullMachineParams& params);

  void draw_order();
  // Whether a schedule follows from these running jobs, the first of which ends next.
  bool descend(const std::vector<RunningJob>& running);
  // Whether a schedule follows where, of the jobs of `start_event`, those from `first_place` on may
  // start on the free processors beside the running ones.
  bool start_jobs(const StartEvent& start_event, std::size_t first_place, int free_procs,
                  std::vector<RunningJob>& running);
  bool can_start(const StartEvent& start_event, std::size_t place, int free_procs) const;
  // The waiting jobs at `time`, and which sums of processors they reach; none where some job cannot
  // end in time, or the long ones need more than the machine.
  std::optional<StartEvent> prepare_start_event(std::int64_t time,
                                                const std::vector<RunningJob>& running,
                                                int free_procs) const;
  std::uint64_t hash_state(const std::vector<RunningJob>& running) const;
  void spend(std::size_t steps) { budget_.spend(static_cast<std::int64_t>(steps)); }
  Placement make_placement() const;

  const Instance* instance_;
  FullMachineParams params_;
  std::vector<RigidJob> jobs_;
  double unit_;  // seconds
  std::int64_t horizon_;
  Rng rng_;
  std::vector<int> equal_jobs_;          // of each job, the first one of its count and length
  std::vector<std::uint64_t> job_keys_;  // for hashes of states; the same for equal jobs
  int descent_count_ = 0;
  bool is_exhausted_ = false;

  // Of a descent.
  std::vector<int> order_;
  std::vector<char> is_waiting_;
  std::vector<std::int64_t> starts_;
  int waiting_jobs_ = 0;
  std::uint64_t waiting_hash_ = 0;
  std::int64_t remaining_nodes_ = 0;
  WorkBudget budget_{0};
  std::vector<std::uint64_t> failed_states_;  // hashes; 0: none

  bool is_cut_off() const { return remaining_nodes_ < 0 || budget_.is_exhausted(); }
};

}  // namespace cosched::moldable::search
