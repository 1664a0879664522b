// Rounds of growing length of a local search, for as much work as there is.
#pragma once

#include "cosched/dags/search/order_search.hpp"
#include "cosched/dags/search/place_search.hpp"

namespace cosched::dags::search {

using OnBetterPlan = std::function<bool(const Plan&)>;

struct RoundParams {
  /// Least relative heat of a cooling, for one task; by turns this heat is multiplied by powers of
  /// `heat_factor`, of which there are `heats`.
  double least_heat = 0.3, heat_factor = 3;
  int heats = 3;
  /// A round that improves nothing makes the next ones longer by this factor.
  double growth = 1.25;
  double max_length = 1e15;  ///< schedules of a round: lengths stay exact as doubles
};

/// Each round starts from the best: by turns a slow cooling and the restarts of OrderSearch, or of
/// PlaceSearch where data costs time.  A kind of round that has improved the best is repeated.
class Rounds {
 public:
  /// `movable`: as for OrderSearch.  `length`: schedules that the first round builds.
  Rounds(const Instance& instance, const Plan& plan, std::vector<int> movable, std::uint64_t seed,
         std::int64_t length, const RoundParams& params = {})
      : params_(params),
        heat_(params.least_heat / instance.tasks()),
        length_(static_cast<double>(length)) {
    if (instance.transfers().is_free() && !instance.transfers().has_memory_limits())
      order_search_.emplace(instance, plan, std::move(movable), seed);
    else
      place_search_.emplace(instance, plan, seed);
  }

  /// Runs one round of at most `max_schedules` schedules; calls `on_better_plan` with each plan
  /// that is the best so far, and ends where that returns false.  Returns how many schedules were
  /// built, at most two more.  A longer round breaks off there and does not depend on the limit
  /// until then: so more work with the same seed is never worse.
  std::int64_t run_round(std::int64_t max_schedules, const OnBetterPlan& on_better_plan) {
    return order_search_ ? run_round(*order_search_, max_schedules, on_better_plan)
                         : run_round(*place_search_, max_schedules, on_better_plan);
  }

 private:
  template <class Search>
  std::int64_t run_round(Search& search, std::int64_t max_schedules,
                         const OnBetterPlan& on_better_plan) {
    const std::int64_t built_before = search.schedules_built();
    const std::int64_t length = static_cast<std::int64_t>(length_);
    bool is_improved = false;
    const auto note_better_plan = [&](const Plan& plan) {
      is_improved = true;
      return on_better_plan(plan);
    };
    if (uses_restarts_)
      search.run(built_before + std::min(length, max_schedules), note_better_plan);
    else
      search.search_cooling(length, max_schedules,
                            std::pow(params_.heat_factor, heat_power_) * heat_, note_better_plan);
    if (!is_improved) {
      uses_restarts_ = !uses_restarts_;
      if (!uses_restarts_) heat_power_ = (heat_power_ + 1) % params_.heats;
      length_ = std::min(params_.max_length, params_.growth * length_);
    }
    return search.schedules_built() - built_before;
  }

  RoundParams params_;
  std::optional<OrderSearch> order_search_;
  std::optional<PlaceSearch> place_search_;
  bool uses_restarts_ = false;  // the kind of this round
  double heat_;                 // least relative heat of a cooling
  int heat_power_ = 0;
  double length_;
};

}  // namespace cosched::dags::search
