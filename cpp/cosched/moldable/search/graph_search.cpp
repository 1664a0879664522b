#include "cosched/moldable/search/graph_search.hpp"

#include "cosched/core/interrupt.hpp"
#include "cosched/moldable/graph/heads_and_tails.hpp"
#include "cosched/moldable/search/active_search.hpp"
#include "cosched/moldable/search/graph_proof.hpp"
#include "cosched/moldable/search/project_rounds.hpp"
#include "cosched/moldable/search/rounds.hpp"

namespace cosched::moldable::search {
namespace {

constexpr double kBoundShare = 0.3;  // of a time limit, for the bound

class GraphSearchRounds : public SearchRounds {
 public:
  GraphSearchRounds(const Instance& instance, const SearchOptions& options)
      : instance_(instance),
        options_(options),
        active_search_(instance, options.objective),
        project_rounds_(instance, options.objective) {
    without_deadline([&] {
      active_search_.offer_simple_schedules();
      for (const Placement& start : options.starts) active_search_.offer_placement(start);
    });
    best_placement_ = active_search_.placement();
  }

  void offer_first_schedules() override {
    graph::WorkPath programme;
    std::optional<double> limit;
    if (seconds_left() < kInfinity) limit = kBoundShare * std::max(0.0, seconds_left());
    (void)finishes_within(limit, [&] { programme = graph::work_and_path(instance_); });
    bound_ = programme.value;
    bound_ = std::max(bound_, graph::heads_and_tails(instance_, bound_));
    if (options_.objective == Objective::makespan) target_value_ = bound_ * (1 + kExactTolerance);
    active_search_.offer_family_schedules(programme);
    best_placement_ = active_search_.placement();
  }

  bool run_round(std::int64_t work, int number) override {
    const bool is_complete = finishes_within(std::nullopt, [&] {
      run_project_round(work);
      if (!is_proved()) active_search_.anneal(work, options_.seed + number, number, target_value_);
    });
    best_placement_ = active_search_.placement();
    if (!is_complete) check_interrupt();
    return !is_proved();
  }

  const Placement& best() const override { return best_placement_; }
  bool is_proved() const override { return active_search_.value() <= target_value_; }
  // No schedule is shorter.
  double bound() const { return std::max(bound_, project_rounds_.bound()); }
  bool has_project_bound() const { return project_rounds_.bound() > bound_; }

 private:
  void run_project_round(std::int64_t work) {
    const bool is_complete = finishes_within(
        std::nullopt, [&] { project_rounds_.run_round(active_search_.placement(), bound_, work); });
    if (const Placement* const placement = project_rounds_.placement())
      active_search_.offer_placement(*placement);
    if (options_.objective == Objective::makespan) target_value_ = bound() * (1 + kExactTolerance);
    if (!is_complete) check_interrupt();
  }

  const Instance& instance_;
  SearchOptions options_;
  ActiveSearch active_search_;
  ProjectRounds project_rounds_;
  Placement best_placement_;
  double bound_ = 0;
  double target_value_ = 0;  // nothing is better than this value
};

}  // namespace

SearchResult graph_search(const Instance& instance, const SearchOptions& options,
                          std::int64_t operations) {
  require_no_slowdowns(instance, "local-search");
  SearchOptions search_options = options;
  if (std::optional<ProofResult> quick = prove_quickly(instance, options)) {
    if (quick->is_proved) return {std::move(quick->placement), true, true, 0};
    search_options.starts.push_back(std::move(quick->placement));
  }
  GraphSearchRounds search(instance, search_options);
  const bool has_first_schedules =
      finishes_within(std::nullopt, [&] { search.offer_first_schedules(); });
  RoundsOptions rounds{
      .usual_work = total_work(instance, kSearchWork), .work = operations, .prove = {}};
  if (options.proof && is_graph_provable(instance))
    rounds.prove = [&](const Placement& start, const ProofOptions& share) {
      return prove_graph(instance, start, share);
    };
  SearchResult result;
  if (has_first_schedules)
    result = run_rounds(search, instance, options, rounds);
  else
    result = {.placement = search.best(), .is_complete = false, .is_proved = search.is_proved()};
  result.bound = search.bound();
  result.has_destructive_bound = search.has_project_bound();
  return result;
}

}  // namespace cosched::moldable::search
