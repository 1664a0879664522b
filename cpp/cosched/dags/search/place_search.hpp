// A local search over orders and units, with restarts, where data costs time.
#pragma once

#include <functional>
#include <numeric>

#include "cosched/dags/search/reinsertion.hpp"

namespace cosched::dags::search {

/// Tuning of PlaceSearch.
struct PlaceSearchParams {
  double justified_share = 0.1;       ///< schedules that are decoded with justification
  double restart_heat = 0.05;         ///< relative; accepted increase after a restart
  double cooling = 0.99;              ///< factor of the heat after each move
  int max_removed_tasks = 8;          ///< removed together
  int max_order_distance = 4;         ///< in the order, between removed tasks that no data joins
  double data_neighbour_share = 0.6;  ///< removed tasks that data joins to another removed task
  double exchange_share = 0.2;        ///< moves that exchange tasks of two memories
  double displacement_share = 0.05;   ///< moves that displace tasks, where data is cheap
  int max_displaced_tasks = 16;
  double return_share = 0.6;  ///< exchanges in which tasks come back from the other memory
  double blink_share = 0.05;  ///< places that Reinsertion overlooks
  /// Restarts from the best, and from all tasks on one unit; the others rebuild a heuristic.
  double best_restart_share = 0.5, one_unit_restart_share = 0.1;
  int restart_moves = 4;             ///< after a restart that does not rebuild
  double deciding_task_share = 0.6;  ///< moved tasks drawn from those that decide the makespan
};

/// As OrderSearch, but a task is given a unit, not a type: which of two alike units it is decides
/// what has to move.  There are three kinds of moves:
///   - up to eight related tasks are removed, and each is inserted where it fits best
///     (reinsertion.hpp);
///   - tasks in one memory that data joins go to another memory, and mostly others from there back;
///   - where data is cheap, a task takes the place of those that its new unit runs then.
/// Every schedule in which nothing can start earlier can be reached.  After a restart slightly
/// longer schedules are accepted as well, less and less so.
class PlaceSearch {
 public:
  PlaceSearch(const Instance& instance, const Plan& plan, std::uint64_t seed);

  /// Goes on until `evaluations` schedules are built in all; calls `on_better_plan` with each that
  /// is the best so far, and ends where that returns false.  May be left by an exception of
  /// check_interrupt().
  void run(std::int64_t evaluations, const std::function<bool(const Plan&)>& on_better_plan);

  /// As OrderSearch::search_cooling().
  void search_cooling(std::int64_t evaluations, std::int64_t max_schedules, double heat,
                      const std::function<bool(const Plan&)>& on_better_plan);

  std::int64_t schedules_built() const { return schedules_built_; }

 private:
  // A point of the search: tasks in an order that respects precedence, and the unit of each.
  struct PlacedOrder {
    std::vector<int> order, units;
  };

  // A task that is removed, and the unit in whose memory it is inserted again; -1: any memory.
  struct RemovedTask {
    int task, unit;
  };

  double move(PlacedOrder& next, double limit);
  double decode(const PlacedOrder& candidate);
  void accept(const PlacedOrder& candidate, double makespan);
  void restart();
  void reset_heat();
  PlacedOrder rebuild();
  PlacedOrder place_on_one_unit();
  PlacedOrder candidate_of(const Plan& plan);
  bool change_candidate(PlacedOrder& candidate, double limit);
  void remove_related_tasks(const std::vector<int>& order);
  bool remove_displaced_tasks(const PlacedOrder& candidate, int target_unit);
  void exchange_memories(const PlacedOrder& candidate, int target_unit);

  // Whether two units share a memory.
  bool share_memory(int unit, int other_unit) const {
    return decoder_.numbers().memory(unit) == decoder_.numbers().memory(other_unit);
  }

  void remove_joined_tasks(const PlacedOrder& candidate, int from, int to, int max_tasks);
  void add_removed(int task, int unit);
  int random_task();
  int random_neighbour(int task);

  PlaceSearchParams params_;
  const Instance& instance_;
  PlaceDecoder decoder_;
  Reinsertion reinsertion_;
  Rng rng_;
  Table optimistic_costs_;  // optimistic_costs()
  std::vector<double> mean_times_;
  PlacedOrder current_, best_;
  double current_makespan_, best_makespan_, displacement_share_ = 0;
  // Of run(), which goes on where it was: more work is never worse than less.
  bool should_reset_heat_ = true;
  std::int64_t moves_in_vain_ = 0;
  double heat_ = 0, lowest_makespan_ = 0;
  std::vector<int> deciding_chain_, position_;
  std::vector<RemovedTask> removed_tasks_;
  std::int64_t schedules_built_ = 0;
};

}  // namespace cosched::dags::search
