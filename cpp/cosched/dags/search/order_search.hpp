// A local search over orders and allocations, with restarts.
#pragma once

#include <functional>

#include "cosched/core/rng.hpp"
#include "cosched/dags/search/order_decoder.hpp"
#include "cosched/dags/search/order_moves.hpp"

namespace cosched::dags::search {

/// A point of the search: tasks in an order that respects precedence, and their types.
struct TypedOrder {
  std::vector<int> order;
  Allocation allocation;
};

/// Tuning of OrderSearch.
struct OrderSearchParams {
  double list_moves = 0.3;           ///< share of moves that list scheduling decodes
  double type_moves = 0.8;           ///< share of moves that change types, where there are choices
  int max_serial_tasks = 5000;       ///< with more tasks every move is decoded by list scheduling
  double deciding_task_share = 0.7;  ///< changed types that are of tasks of the deciding chain
  double another_type_share = 0.4;   ///< changes of a type that are followed by another one
};

class OrderSearch {
 public:
  /// Starts from a plan.  `movable`: tasks whose type is worth changing besides those on the
  /// deciding chain.
  OrderSearch(const Instance& instance, const Plan& plan, std::vector<int> movable,
              std::uint64_t seed);

  /// Goes on until `evaluations` schedules are built in all; calls `on_better_plan` with each that
  /// is the best so far, and ends where that returns false.  May be left by an exception of
  /// check_interrupt().
  void run(std::int64_t evaluations, const std::function<bool(const Plan&)>& on_better_plan);

  /// One descent from the best schedule without restarts, of `evaluations` schedules more.  Accepts
  /// schedules that are longer by up to the share `heat` at first, and by less and less until the
  /// end. Breaks off after `max_schedules`; up to there it does not depend on that limit.
  void search_cooling(std::int64_t evaluations, std::int64_t max_schedules, double heat,
                      const std::function<bool(const Plan&)>& on_better_plan);

  std::int64_t schedules_built() const { return schedules_built_; }

 private:
  static std::vector<int> order_of(const Instance& instance, const Plan& plan);
  double decode(const TypedOrder& candidate, bool uses_list);
  bool change_candidate(TypedOrder& candidate);
  bool change_types(TypedOrder& candidate);
  void restart();
  TypedOrder make_shuffled();
  std::vector<int> order_by_noisy_rank(const Allocation& allocation, double noise);
  bool accept(const TypedOrder& candidate, double makespan,
              const std::function<bool(const Plan&)>& on_better_plan);

  OrderSearchParams params_;
  const Instance& instance_;
  OrderDecoder decoder_;
  Rng rng_;
  std::vector<int> movable_tasks_;
  bool has_type_choices_ = false;  // some task has more than one type
  TypedOrder current_, best_;
  double current_makespan_, best_makespan_;
  std::vector<int> deciding_chain_;
  std::vector<int> position_;
  std::int64_t schedules_built_ = 0;
};

}  // namespace cosched::dags::search
