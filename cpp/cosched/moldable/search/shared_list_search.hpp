// Annealing over lists, and over orders with beams, of jobs that share the machine.
#pragma once

#include <array>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/rng.hpp"
#include "cosched/moldable/model/incumbent.hpp"
#include "cosched/moldable/search/active_search.hpp"
#include "cosched/moldable/search/local_search.hpp"
#include "cosched/moldable/shared/beam.hpp"

namespace cosched::moldable::search {

struct SharedListParams {
  // --- annealing over lists
  /// Temperatures at first and at last, as parts of the value; every other round is cooler at
  /// first.
  double first_temperature = 0.012, last_temperature = 0.0003, cooler_factor = 0.4;
  /// Moves at one temperature.
  int moves_per_temperature = 8;
  /// Every other exchange is between jobs that are at most so many places apart.
  int near_places = 6;
  /// The part of the mean end that counts beside the makespan, so that moves on a plateau of the
  /// makespan lead somewhere; and of the makespan beside the minsum.
  double plateau = 1e-3;
  /// Relative noise of prices that are changed.
  double price_noise = 0.3;

  // --- how many operations of each method take as long as one operation of the work
  double list_operations = 8;
  /// Inverse, for orders: less where jobs slow each other, which leaves more to gain.
  double work_per_order_operation = 0.06, work_per_order_operation_without_slowdowns = 0.3;
  double work_per_beam_operation = 0.5;

  // --- beams
  int beam_width = 64, beam_branches = 12;
  /// The part of the work that beams may use.
  double beam_part = 0.75;
  /// Noise of prices and weights of waste that beams take in turn.
  std::array<double, 2> beam_noises = {0.05, 0.15};
  std::array<double, 2> beam_wastes = {0.05, 0.1};
};

/// The best schedule of jobs that share something, from those that are offered and from rounds of
/// annealing.  For the makespan without releases: beams (shared/beam.hpp) at the prices and near
/// them, then annealing over orders (order_chains.hpp).  Else annealing over lists
/// (list/decoder.hpp), and where jobs do not slow each other also over active schedules
/// (active_search.hpp).
class SharedListSearch {
 public:
  /// `instance` must outlive it, and share something.
  SharedListSearch(const Instance& instance, const SearchOptions& options,
                   const SharedListParams& params = {});

  list::Decoder& decoder() { return decoder_; }

  /// Offers a schedule as it is.  Requires a feasible one.
  void offer(const Placement& placement) { incumbent_.offer(placement); }

  /// Offers a list decoded with every threshold of bans and at the prices; and where jobs do not
  /// slow each other each job at its earliest fit.
  void offer(list::JobList list);

  /// Takes prices of jobs for the rounds.  Where no beams are used, offers as many greedy
  /// schedules: one at these prices, the others at prices near them.
  void set_prices(std::vector<double> prices, int draws);

  /// Spends `work` operations in a round; rounds of odd number are cooler.  May throw as
  /// check_interrupt(): best() stays valid.
  void run_round(std::int64_t work, int number);

  const Placement& best() const { return incumbent_.placement(); }

 private:
  bool uses_orders() const {
    return objective_ == Objective::makespan && !instance_.has_releases();
  }

  // Runs beams of growing width, the first at the prices, the others at prices near them.
  void run_beams(std::int64_t operations);

  // Lists start whatever fits.  Where jobs are released late, or heavy ones come first, it may be
  // better to wait.
  void anneal_active_orders(std::int64_t work, int number) {
    active_search_->offer_placement(best());
    const bool is_complete = finishes_within(
        std::nullopt, [&] { active_search_->anneal(work, seed_ + number, number, 0); });
    offer(active_search_->placement());
    if (!is_complete) check_interrupt();
  }

  void anneal_lists(std::int64_t work, double heat);

  void consider_list(const list::JobList& list);

  double plateau_value(const Placement& placement) const {
    const Criteria value = evaluate_criteria(instance_, placement);
    if (objective_ == Objective::minsum) return value.minsum + params_.plateau * value.makespan;
    double sum = 0;
    for (const double end : placement.end) sum += end;
    return value.makespan + params_.plateau * sum / placement.jobs();
  }

  list::JobList draw_neighbour(const list::JobList& from);

  const Instance& instance_;
  SharedListParams params_;
  Objective objective_;
  list::Decoder decoder_;
  std::uint64_t seed_;
  Rng rng_;
  Incumbent incumbent_;
  // Where jobs do not slow each other, and orders are not used.
  std::optional<ActiveSearch> active_search_;
  list::JobList best_list_;
  std::vector<double> prices_;  // of the jobs; empty: none are known
  double best_list_value_ = kInfinity;
  int beam_count_ = 0;  // beams that were run
};

}  // namespace cosched::moldable::search
