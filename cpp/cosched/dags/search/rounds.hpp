// What a search does with as much time as there is: rounds of growing length, by turns.
#pragma once

#include "cosched/dags/search/order_search.hpp"
#include "cosched/dags/search/place_search.hpp"

namespace cosched::dags::search {

using Better = std::function<bool(const Plan&)>;

/// Each round goes on from the best: by turns a slow cooling and the restarts of order_search.hpp,
/// where data costs time of place_search.hpp.  A kind of round that has found something better
/// comes again.
class Rounds {
 public:
  /// `movable`: as of OrderSearch.  `length`: schedules of the first round.
  Rounds(const Instance& instance, const Plan& plan, std::vector<int> movable, std::uint64_t seed,
         std::int64_t length)
      : heat_(0.3 / instance.tasks()), length_(static_cast<double>(length)) {
    if (instance.transfers().free() && !instance.transfers().limited())
      orders_.emplace(instance, plan, std::move(movable), seed);
    else
      places_.emplace(instance, plan, seed);
  }

  /// One round of at most `most` schedules; calls `better(plan)` with each plan that is the best so
  /// far, which says whether to go on.  Returns how many it has built, more by two at most.  A
  /// round that is longer breaks off there and is the same until then: with one seed more work is
  /// never worse.
  std::int64_t run(std::int64_t most, const Better& better) {
    return orders_ ? run(*orders_, most, better) : run(*places_, most, better);
  }

 private:
  static constexpr int kHeats = 3;

  template <class Search>
  std::int64_t run(Search& search, std::int64_t most, const Better& better) {
    constexpr double kGrowth = 1.25;
    const std::int64_t before = search.built();
    const std::int64_t length = static_cast<std::int64_t>(length_);
    bool found = false;
    const auto noted = [&](const Plan& plan) {
      found = true;
      return better(plan);
    };
    if (restarts_)
      search.run(before + std::min(length, most), noted);
    else
      search.cool(length, most, std::pow(3.0, hotter_) * heat_, noted);
    if (!found) {
      restarts_ = !restarts_;
      if (!restarts_) hotter_ = (hotter_ + 1) % kHeats;
      length_ = std::min(1e15, kGrowth * length_);
    }
    return search.built() - before;
  }

  std::optional<OrderSearch> orders_;
  std::optional<PlaceSearch> places_;
  bool restarts_ = false;  // in this round
  double heat_;            // the least; over orders by turns three and nine times that
  int hotter_ = 0;
  double length_;
};

}  // namespace cosched::dags::search
