// A local search over orders and allocations, with restarts.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "cosched/core/rng.hpp"
#include "cosched/dags/model/instance.hpp"
#include "cosched/dags/search/decoder.hpp"

namespace cosched::dags::search {

/// What the search walks over: tasks in an order that respects precedence, and their types.
struct Candidate {
  std::vector<int> order;
  Allocation allocation;
};

class OrderSearch {
 public:
  /// Starts from a plan.  `movable`: tasks whose type is worth changing besides those on the
  /// deciding chain.
  OrderSearch(const Instance& instance, const Plan& plan, std::vector<int> movable,
              std::uint64_t seed);

  /// Builds up to `evaluations` schedules, and calls `better(plan)` with each that is the best so
  /// far; it says whether to go on.  May be left by an exception of check_interrupt().
  void run(std::int64_t evaluations, const std::function<bool(const Plan&)>& better);

  /// One descent from the best without restarts, `evaluations` schedules more: at first up to `heat`
  /// (relative) longer ones are taken as well, at the end none.
  void cool(std::int64_t evaluations, double heat, const std::function<bool(const Plan&)>& better);

  std::int64_t built() const { return built_; }

 private:
  double decode(const Candidate& candidate, bool list);
  bool change(Candidate& candidate);
  bool change_types(Candidate& candidate);
  void restart();
  Candidate shuffled();
  std::vector<int> by_rank(const Allocation& allocation, double noise);
  bool take_over(const Candidate& candidate, double makespan,
                 const std::function<bool(const Plan&)>& better);

  const Instance& instance_;
  Decoder decoder_;
  Rng rng_;
  std::vector<int> movable_;
  bool choices_ = false;  // some task has more than one type
  Candidate current_, best_;
  double current_makespan_, best_makespan_;
  std::vector<int> chain_;
  std::vector<int> position_;
  std::int64_t built_ = 0;
};

}  // namespace cosched::dags::search
