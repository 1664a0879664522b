#include "cosched/dags/search/optimal.hpp"

#include "cosched/dags/search/hlp_best.hpp"

namespace cosched::dags::search {
namespace {

// The price of a second of each type, from its weight in the relaxation.
std::vector<double> load_prices(const Instance& instance, const std::vector<double>& weights) {
  std::vector<double> prices;
  for (int type = 0; type < instance.types(); ++type)
    prices.push_back(weights[type] / instance.units(type));
  return prices;
}

// A second turn of hlp_best() during a branch and bound that only the clock ends: a better plan
// cuts more nodes, and is the result where the tree is too large.  The turn comes when the default
// nodes are done, or when a share of the time has passed and the rest does not suffice for them.
// So a time limit that leaves time for the default work allows all of it.
class HlpBestPause {
 public:
  HlpBestPause(const Instance& instance, OptimalResult& best, double share)
      : instance_(instance), best_(best), share_(share), seconds_at_begin_(seconds_left()) {}

  void operator()() {
    if (!was_taken_ && is_due()) improve_plan();
  }

  /// Runs hlp_best() now, unless it has had its turn.
  void improve_plan() {
    if (was_taken_) return;
    was_taken_ = true;
    HlpBestOptions options;
    options.time_limit = share_ * std::max(0.0, seconds_left());
    HlpBestResult result = hlp_best(instance_, options);
    if (result.plan.makespan() < best_.plan.makespan()) best_.plan = std::move(result.plan);
  }

 private:
  bool is_due() const {
    const auto usual_nodes = static_cast<double>(OptimalOptions{}.nodes);
    const auto nodes = static_cast<double>(best_.nodes);
    const double passed = seconds_at_begin_ - seconds_left();
    if (nodes >= usual_nodes) return true;
    return passed >= share_ * seconds_at_begin_ && passed * usual_nodes > seconds_at_begin_ * nodes;
  }

  const Instance& instance_;
  OptimalResult& best_;
  double share_;  // OptimalParams::pause_share
  double seconds_at_begin_;
  bool was_taken_ = false;
};

}  // namespace

OptimalResult optimal(const Instance& instance, const OptimalOptions& options) {
  const ScopedTimeLimit limit(options.time_limit);
  HlpBestOptions first_options;
  first_options.evaluations = options.params.first_schedules;
  HlpBestResult first_result = hlp_best(instance, first_options);
  OptimalResult best;
  best.is_transfers_bound = first_result.transfers_bound &&
                            first_result.transfers_bound->value > first_result.windows_bound.value;
  best.bound = best.is_transfers_bound ? first_result.transfers_bound->value
                                       : first_result.windows_bound.value;
  best.failure = first_result.solver_failure();
  best.plan = std::move(first_result.plan);
  best.is_complete = first_result.is_complete;
  best.is_proved = is_proven_optimal(best.plan.makespan(), best.bound);
  if (!best.is_proved && best.is_complete) {
    const std::vector<double> prices =
        load_prices(instance, first_result.relaxation.certificate.weights);
    best.is_complete = finishes_within(std::nullopt, [&] {
      HlpBestPause hlp_best_pause(instance, best, options.params.pause_share);
      const bool is_timed = options.nodes >= kUnlimitedWork && seconds_left() < kInfinity;
      std::function<void()> pause;
      if (is_timed) pause = std::ref(hlp_best_pause);
      best.is_proved = branch_and_bound(instance, prices, best, options.nodes, pause);
      if (!best.is_proved && is_timed) hlp_best_pause.improve_plan();  // memory ended the search
      best.is_proved = best.is_proved || is_proven_optimal(best.plan.makespan(), best.bound);
    });
  }
  if (best.is_proved) best.bound = best.plan.makespan();
  return best;
}

}  // namespace cosched::dags::search
