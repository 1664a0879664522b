#include "cosched/moldable/search/graph_search.hpp"

#include "cosched/moldable/graph/list.hpp"
#include "cosched/moldable/search/active_search.hpp"
#include "cosched/moldable/search/rounds.hpp"

namespace cosched::moldable::search {
namespace {

// Of a short limit, for the bound.
constexpr double kBoundShare = 0.3;

class GraphSearchRounds : public SearchRounds {
 public:
  GraphSearchRounds(const Instance& instance, const SearchOptions& options)
      : instance_(instance), options_(options), active_search_(instance, options.objective) {
    without_deadline([&] {
      active_search_.offer_simple_schedules();
      for (const Placement& start : options.starts) active_search_.offer_placement(start);
    });
    best_placement_ = active_search_.placement();
  }

  void offer_first_schedules() override {
    graph::WorkPath programme;
    (void)finishes_within(seconds_left() < kInfinity
                              ? std::optional(kBoundShare * std::max(0.0, seconds_left()))
                              : std::nullopt,
                          [&] { programme = graph::work_and_path(instance_); });
    bound_ = programme.value;
    bound_ = std::max(bound_, graph::heads_and_tails(instance_, bound_));
    if (options_.objective == Objective::makespan) target_value_ = bound_ * (1 + kExactTolerance);
    active_search_.offer_family_schedules(programme);
    best_placement_ = active_search_.placement();
  }

  bool run_round(std::int64_t work, int number) override {
    const bool is_complete = finishes_within(std::nullopt, [&] {
      active_search_.anneal(work, options_.seed + number, number, target_value_);
    });
    best_placement_ = active_search_.placement();
    if (!is_complete) check_interrupt();
    return !is_proved();
  }

  const Placement& best() const override { return best_placement_; }
  bool is_proved() const override { return active_search_.value() <= target_value_; }
  /// No schedule is shorter.
  double bound() const { return bound_; }

 private:
  const Instance& instance_;
  SearchOptions options_;
  ActiveSearch active_search_;
  Placement best_placement_;
  double bound_ = 0;
  double target_value_ = 0;  // a value that nothing is below
};

}  // namespace

void require_no_slowdowns(const Instance& instance, const char* who) {
  if (instance.sharing() != nullptr && instance.sharing()->slows())
    throw InvalidInstance(std::string(who) + " does not know slow-downs" +
                          (instance.graph() != nullptr ? " of jobs with precedence" : "") +
                          ": expected inst.without_slowdowns()");
}

SearchResult graph_search(const Instance& instance, const SearchOptions& options,
                          std::int64_t operations) {
  require_no_slowdowns(instance, "local-search");
  SearchOptions started = options;
  if (std::optional<ProofResult> quick = prove_quickly(instance, options)) {
    if (quick->is_proved) return {std::move(quick->placement), true, true, 0};
    started.starts.push_back(std::move(quick->placement));
  }
  GraphSearchRounds search(instance, started);
  const bool has_begun = finishes_within(std::nullopt, [&] { search.offer_first_schedules(); });
  RoundsOptions rounds{total_work(instance, kSearchWork), operations, {}};
  if (options.proof && is_graph_provable(instance))
    rounds.prove = [&](const Placement& start, const ProofOptions& share) {
      return prove_graph(instance, start, share);
    };
  SearchResult result = has_begun ? run_rounds(search, instance, options, rounds)
                                  : SearchResult{search.best(), false, search.is_proved(), 0};
  result.bound = search.bound();
  return result;
}

}  // namespace cosched::moldable::search
