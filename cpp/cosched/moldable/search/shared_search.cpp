#include "cosched/moldable/search/shared_search.hpp"

#include "cosched/moldable/dual/list_graham.hpp"
#include "cosched/moldable/list/standard.hpp"
#include "cosched/moldable/search/graph_proof.hpp"
#include "cosched/moldable/search/independent_jobs_search.hpp"
#include "cosched/moldable/search/local_search.hpp"
#include "cosched/moldable/search/project_rounds.hpp"
#include "cosched/moldable/search/rounds.hpp"
#include "cosched/moldable/search/shared_list_search.hpp"
#include "cosched/moldable/shared/configurations.hpp"

namespace cosched::moldable::search {
namespace {

constexpr int kMaxPricedJobs = 200;
constexpr std::int64_t kPriceWork = 10'000'000;  // steps of the prices of configurations
constexpr int kGreedySchedules = 60;             // at the prices and near them

// Lists by decreasing time and by Smith's rule, on several allotments.
void offer_lists(const Instance& instance, SharedListSearch& search) {
  list::Decoder& decoder = search.decoder();
  const int n = instance.jobs();
  for (const int share : {1, 2, 4, 8, 16}) {
    Allotment procs(n, std::max(1, instance.machines() / share));
    procs = decoder.fitting_allotment(procs);
    list::JobList longest_first;
    longest_first.procs = procs;
    for (int i = 0; i < n; ++i) longest_first.order.push_back(i);
    std::stable_sort(longest_first.order.begin(), longest_first.order.end(), [&](int a, int b) {
      return instance.exact_time(a, procs[a]) > instance.exact_time(b, procs[b]);
    });
    search.offer(longest_first);
    list::JobList by_smith = longest_first;
    std::stable_sort(by_smith.order.begin(), by_smith.order.end(), [&](int a, int b) {
      return instance.weight(a) * instance.exact_time(b, procs[b]) >
             instance.weight(b) * instance.exact_time(a, procs[a]);
    });
    search.offer(by_smith);
  }
}

class SharedSearchRounds : public SearchRounds {
 public:
  SharedSearchRounds(const Instance& instance, const SearchOptions& options)
      : instance_(instance),
        options_(options),
        list_search_(instance, options),
        project_rounds_(instance, options.objective) {
    without_deadline([&] {
      offer_lists(instance, list_search_);
      for (const Placement& start : options.starts) offer_with_list(start);
      if (!instance.has_releases()) list_search_.offer(list::gang(instance));
    });
  }

  void offer_first_schedules() override {
    if (!instance_.has_releases())
      for (const dual::ListOrder order :
           {dual::ListOrder::shelf, dual::ListOrder::lptf, dual::ListOrder::saf})
        offer_with_list(dual::list_graham(instance_, order));
    if (instance_.jobs() <= kMaxPricedJobs) {
      std::vector<double> prices = shared::configuration_prices(instance_, kPriceWork);
      if (!prices.empty()) list_search_.set_prices(std::move(prices), kGreedySchedules);
    }
    prepare_relaxed_search();
    relaxed_search_->offer_first_schedules();
    offer_relaxed_best();
  }

  bool run_round(std::int64_t work, int number) override {
    run_project_round(total_work(instance_, work));
    if (is_proved()) return false;
    if (has_relaxed_rounds_) has_relaxed_rounds_ = relaxed_search_->run_round(work, number);
    offer_relaxed_best();
    list_search_.run_round(total_work(instance_, work), number);
    return instance_.sharing()->slows() || !is_proved();
  }

  const Placement& best() const override { return list_search_.best(); }

  bool is_proved() const override {
    if (options_.objective != Objective::makespan) return false;
    if (!makespan_bound_)
      makespan_bound_ = without_deadline([&] {  // the time limit may have passed
        return std::max(bounds::longest_bound(instance_), bounds::area_bound(instance_));
      });
    const double bound = std::max(*makespan_bound_, project_rounds_.bound());
    return makespan(best()) <= bound * (1 + kExactTolerance);
  }

 private:
  // Without slow-downs; where there are none, without resources.
  void prepare_relaxed_search() {
    SearchOptions options = options_;
    options.starts.clear();
    options.time_limit.reset();
    // At most the default work: the rest of a time limit belongs to the rounds.
    options.work = std::min(options.work, kSearchWork);
    const Sharing& sharing = *instance_.sharing();
    relaxed_instance_.emplace(
        instance_.with_sharing(sharing.slows() ? sharing.without_slowdowns() : nullptr));
    // Few jobs: the whole search, with its proof.
    if (sharing.slows() && instance_.jobs() <= kExactJobs)
      list_search_.offer(
          list::replay(instance_, local_search(*relaxed_instance_, options).placement));
    if (relaxed_instance_->sharing() != nullptr)
      relaxed_search_ = std::make_unique<SharedSearchRounds>(*relaxed_instance_, options);
    else
      relaxed_search_ = std::make_unique<IndependentJobsSearch>(*relaxed_instance_, options);
  }

  void run_project_round(std::int64_t operations) {
    const bool is_complete =
        finishes_within(std::nullopt, [&] { project_rounds_.run_round(best(), 0, operations); });
    if (const Placement* const placement = project_rounds_.placement())
      list_search_.offer(*placement);
    if (!is_complete) check_interrupt();
  }

  // Offers a schedule, and its order and counts as a list.
  void offer_with_list(const Placement& placement) {
    list_search_.offer(placement);
    list_search_.offer(list::to_list(list_search_.decoder(), placement));
  }

  // The schedule of the relaxed search as a list; where jobs slow each other it is also replayed.
  void offer_relaxed_best() {
    list_search_.offer(list::to_list(list_search_.decoder(), relaxed_search_->best()));
    if (instance_.sharing()->slows())
      list_search_.offer(list::replay(instance_, relaxed_search_->best()));
  }

  const Instance& instance_;
  SearchOptions options_;
  SharedListSearch list_search_;
  ProjectRounds project_rounds_;
  std::optional<Instance> relaxed_instance_;
  std::unique_ptr<SearchRounds> relaxed_search_;
  bool has_relaxed_rounds_ = true;
  mutable std::optional<double> makespan_bound_;  // computed when is_proved() first needs it
};

}  // namespace

SearchResult shared_search(const Instance& instance, const SearchOptions& options) {
  SearchOptions search_options = options;
  const bool is_provable = !instance.sharing()->slows() && is_graph_provable(instance);
  if (is_provable) {
    if (std::optional<ProofResult> quick = prove_quickly(instance, options)) {
      if (quick->is_proved) return {std::move(quick->placement), true, true, 0};
      search_options.starts.push_back(std::move(quick->placement));
    }
  }
  SharedSearchRounds search(instance, search_options);
  const bool has_first_schedules = finishes_within(std::nullopt, [&] {
    if (options.work > 0) search.offer_first_schedules();
  });
  if (!has_first_schedules) return {search.best(), false, search.is_proved(), 0};
  RoundsOptions rounds{.usual_work = kSearchWork, .work = options.work, .prove = {}};
  if (options.proof && is_provable)
    rounds.prove = [&](const Placement& start, const ProofOptions& share) {
      return prove_graph(instance, start, share);
    };
  return run_rounds(search, instance, options, rounds);
}

}  // namespace cosched::moldable::search
