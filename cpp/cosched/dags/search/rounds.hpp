// What a search does with as much time as there is: rounds of growing length, by turns.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "cosched/dags/model/instance.hpp"
#include "cosched/dags/model/plan.hpp"
#include "cosched/dags/search/order_search.hpp"
#include "cosched/dags/search/place_search.hpp"

namespace cosched::dags::search {

/// Each round goes on from the best: by turns a slow cooling and the restarts of order_search.hpp, where
/// data costs time of place_search.hpp.  A kind of round that has found something better comes again.
class Rounds {
 public:
  /// `movable`: as of OrderSearch.  `length`: schedules of the first round.
  Rounds(const Instance& instance, const Plan& plan, std::vector<int> movable, std::uint64_t seed,
         std::int64_t length);

  /// One round of at most `most` schedules; calls `better(plan)` with each plan that is the best so
  /// far, which says whether to go on.  Returns how many it has built, more by two at most.
  std::int64_t run(std::int64_t most, const std::function<bool(const Plan&)>& better);

 private:
  template <class Search>
  void search(Search& search, std::int64_t length, const std::function<bool(const Plan&)>& better);
  std::int64_t built() const;

  std::optional<OrderSearch> orders_;
  std::optional<PlaceSearch> places_;
  bool restarts_ = false;  // in this round
  double heat_;            // the least; over orders by turns three and nine times that
  int hotter_ = 0;
  double length_;
};

}  // namespace cosched::dags::search
