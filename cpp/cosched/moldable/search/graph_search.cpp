#include "cosched/moldable/search/graph_search.hpp"

#include "cosched/moldable/graph/list.hpp"
#include "cosched/moldable/search/active_search.hpp"
#include "cosched/moldable/search/rounds.hpp"

namespace cosched::moldable::search {
namespace {

// Of a short limit, for the bound.
constexpr double kBoundShare = 0.3;

class GraphSearch : public Search {
 public:
  GraphSearch(const Instance& instance, const SearchOptions& options)
      : instance_(instance), options_(options), active_(instance, options.objective) {
    unhurried([&] {
      active_.offer_simple();
      for (const Placement& start : options.starts) active_.offer(start);
    });
    best_ = active_.placement();
  }

  void begin() override {
    graph::WorkPath programme;
    (void)finishes_within(seconds_left() < kInfinity
                              ? std::optional(kBoundShare * std::max(0.0, seconds_left()))
                              : std::nullopt,
                          [&] { programme = graph::work_and_path(instance_); });
    bound_ = programme.value;
    bound_ = std::max(bound_, graph::heads_and_tails(instance_, bound_));
    if (options_.objective == Objective::makespan) enough_ = bound_ * (1 + kExactTolerance);
    active_.offer_family(programme);
    best_ = active_.placement();
  }

  bool round(std::int64_t work, int number) override {
    const bool is_complete = finishes_within(
        std::nullopt, [&] { active_.anneal(work, options_.seed + number, number, enough_); });
    best_ = active_.placement();
    if (!is_complete) check_interrupt();
    return !is_proved();
  }

  const Placement& best() const override { return best_; }
  bool is_proved() const override { return active_.value() <= enough_; }
  /// No schedule is shorter.
  double bound() const { return bound_; }

 private:
  const Instance& instance_;
  SearchOptions options_;
  ActiveSearch active_;
  Placement best_;
  double bound_ = 0;
  double enough_ = 0;  // a value that nothing is below
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
  if (std::optional<Proof> quick = prove_quickly(instance, options)) {
    if (quick->proved) return {std::move(quick->placement), true, true, 0};
    started.starts.push_back(std::move(quick->placement));
  }
  GraphSearch search(instance, started);
  const bool has_begun = finishes_within(std::nullopt, [&] { search.begin(); });
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
