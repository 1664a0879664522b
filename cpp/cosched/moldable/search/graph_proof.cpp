#include "cosched/moldable/search/graph_proof.hpp"

#include "cosched/core/assert.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/moldable/graph/heads_and_tails.hpp"
#include "cosched/moldable/graph/project_search.hpp"
#include "cosched/moldable/graph/work_path.hpp"
#include "cosched/moldable/search/active_search.hpp"
#include "cosched/moldable/search/graph_labels.hpp"
#include "cosched/moldable/search/graph_search.hpp"
#include "cosched/moldable/shared/configurations.hpp"

namespace cosched::moldable::search {
namespace {

constexpr std::int64_t kGraphPriceWork = 1'000'000;  // steps of the prices of configurations
constexpr int kMaxProvedCounts = 4096;               // of a job
constexpr std::int64_t kQuickWork = 10'000'000;      // of a proof before a search
constexpr std::int64_t kFirstSearchWork = 100'000;   // before a proof: operations for each job

// Operations of the active search take longer than those of annealing.
constexpr ProofPassParams kGraphPasses{.annealing_work = 500'000};

class GraphProver {
 public:
  GraphProver(const Instance& instance, const Placement& start, const ProofOptions& options)
      : instance_(instance),
        objective_(options.objective),
        usual_work_(options.usual_work),
        jobs_(instance),
        incumbent_(instance, options.objective),
        budget_(options.work) {
    incumbent_.offer(start);
  }

  // Runs passes that keep more and more labels, until one drops none because of its width: then the
  // incumbent is optimal.  May throw as check_interrupt(): bound() and placement() hold at any
  // time.
  bool run() {
    prepare_bounds();
    for (std::size_t width = params_.first_width;; width *= params_.width_factor) {
      if (is_best(proved_bound_)) return true;
      const bool is_complete = labels_->run_pass(width);
      proved_bound_ = bound();
      if (!is_complete) return false;
      if (labels_->dropped_bound() >= incumbent_.value()) return true;
      if (width == params_.first_width)
        proved_bound_ = std::min(incumbent_.value(), bounds_->enable_strong_bounds(proved_bound_));
      if (width == params_.annealing_width || width == params_.last_annealing_width)
        improve_incumbent(width);
    }
  }

  const Placement& placement() const { return incumbent_.placement(); }
  bool is_best(double lower_bound) const { return incumbent_.can_prune(lower_bound); }
  std::int64_t remaining_work() const {
    return std::max<std::int64_t>(0, budget_.remaining_steps());
  }

  // The best bound of all passes.
  double bound() const {
    const double pass_bound = labels_ ? labels_->bound() : 0;
    return std::min(incumbent_.value(), std::max(proved_bound_, pass_bound));
  }

 private:
  void prepare_bounds() {
    const graph::WorkPath programme = graph::work_and_path(instance_);
    add_mix_of(programme);
    const std::vector<double> prices = shared::configuration_prices(
        make_sharing_instance(), std::min(kGraphPriceWork, budget_.remaining_steps()));
    if (!prices.empty()) jobs_.add_earnings(prices);
    bounds_.emplace(jobs_, objective_, incumbent_, budget_);
    labels_.emplace(jobs_, objective_, incumbent_, *bounds_, budget_);
    if (objective_ == Objective::makespan)
      proved_bound_ = graph::heads_and_tails(instance_, programme.value);
  }

  // Adds the mix of measures at the prices of the programme, where there are several.
  void add_mix_of(const graph::WorkPath& programme) {
    if (programme.certificate.weights.empty() || jobs_.real_measures() == 1) return;
    std::vector<double> prices(programme.certificate.weights.begin(),
                               programme.certificate.weights.begin() + jobs_.real_measures());
    const double sum = std::accumulate(prices.begin(), prices.end(), 0.0);
    if (!(sum > 0)) return;
    for (double& price : prices) price /= sum;
    jobs_.add_mix(prices);
  }

  // Without precedence, and with a Sharing in any case, which may be of nothing.
  Instance make_sharing_instance() const {
    const Instance independent = instance_.with_precedence(nullptr);
    if (independent.sharing() != nullptr) return independent;
    return independent.with_sharing(std::make_shared<const Sharing>(
        instance_.jobs(), std::vector<Resource>{}, std::nullopt, std::nullopt));
  }

  // Anneals for a better schedule, because that drops labels.
  void improve_incumbent(std::size_t first_seed) {
    const std::int64_t remaining_usual_work =
        std::min(budget_.remaining_steps(), usual_work_ - budget_.used_steps());
    const std::int64_t work =
        std::min(params_.annealing_work * instance_.jobs(),
                 std::max<std::int64_t>(0, remaining_usual_work / params_.work_divisor));
    ActiveSearch search(instance_, objective_);
    search.offer_placement(incumbent_.placement());
    for (int k = 0; k < params_.annealings; ++k) {
      search.anneal(work, first_seed + k, k, proved_bound_);
      incumbent_.offer(search.placement());
      budget_.spend(work / params_.operations_per_step);
    }
  }

  const Instance& instance_;
  Objective objective_;
  std::int64_t usual_work_;
  ProofPassParams params_ = kGraphPasses;
  GraphJobs jobs_;
  Incumbent incumbent_;
  WorkBudget budget_;
  std::optional<GraphLabelBounds> bounds_;
  std::optional<GraphLabels> labels_;
  double proved_bound_ = 0;  // the best bound of the passes so far
};

}  // namespace

void require_no_slowdowns(const Instance& instance, const char* algorithm) {
  if (instance.sharing() != nullptr && instance.sharing()->slows())
    throw InvalidInstance(std::string(algorithm) + " does not know slow-downs" +
                          (instance.graph() != nullptr ? " of jobs with precedence" : "") +
                          ": expected inst.without_slowdowns()");
}

bool is_graph_provable(const Instance& instance) {
  return instance.jobs() <= kMostGraphJobs && instance.useful_machines() <= kMaxProvedCounts;
}

ProofResult prove_graph(const Instance& instance, const Placement& start,
                        const ProofOptions& options) {
  ProofResult result;
  COSCHED_ASSERT(instance.sharing() == nullptr || !instance.sharing()->slows());
  GraphProver prover(instance, start, options);
  result.is_in_time = finishes_within(options.time_limit, [&] { result.is_proved = prover.run(); });
  result.placement = prover.placement();
  result.bound = prover.bound();
  result.is_proved = result.is_proved || prover.is_best(result.bound);
  if (result.is_proved) {
    const Criteria value = evaluate_criteria(instance, result.placement);
    result.bound = options.objective == Objective::makespan ? value.makespan : value.minsum;
  }
  result.remaining_work = prover.remaining_work();
  return result;
}

std::optional<ProofResult> prove_quickly(const Instance& instance, const SearchOptions& options) {
  if (!options.proof || options.work == 0 || !is_graph_provable(instance)) return std::nullopt;
  ActiveSearch lists(instance, options.objective);
  without_deadline([&] {
    lists.offer_simple_schedules();
    for (const Placement& start : options.starts) lists.offer_placement(start);
  });
  const std::int64_t work = std::min(kQuickWork, total_work(instance, options.work));
  return prove_graph(instance, lists.placement(), {options.objective, work});
}

namespace {

// The proof of graph::ProjectSearch from simple lists; empty: it does not suit the instance.
std::optional<ProofResult> prove_project(const Instance& instance, const ProofOptions& options) {
  ActiveSearch lists(instance, Objective::makespan);
  without_deadline([&] { lists.offer_simple_schedules(); });
  ProofResult result;
  result.placement = lists.placement();
  const std::unique_ptr<graph::ProjectSearch> search =
      graph::ProjectSearch::make(instance, 0, makespan(result.placement));
  if (search == nullptr) return std::nullopt;
  result.is_in_time = finishes_within(options.time_limit, [&] { search->improve(options.work); });
  if (search->placement()) result.placement = *search->placement();
  result.bound = search->bound();
  result.is_proved = search->is_closed();
  return result;
}

}  // namespace

ProofResult graph_proof(const Instance& instance, const ProofOptions& options) {
  require_no_slowdowns(instance, "optimal");
  if (options.work < 0)
    throw InvalidInstance("work = " + std::to_string(options.work) + ": expected a number >= 0");
  if (instance.jobs() > kMostGraphJobs && options.objective == Objective::makespan)
    if (std::optional<ProofResult> proof = prove_project(instance, options)) return *proof;
  if (instance.jobs() > kMostGraphJobs)
    throw InvalidInstance("optimal takes at most " + std::to_string(kMostGraphJobs) +
                          " jobs with precedence or resources, the instance has " +
                          std::to_string(instance.jobs()) + " (more, up to " +
                          std::to_string(graph::kMaxProjectJobs) +
                          ", where each has one count and integer times, for the makespan)");
  SearchOptions search_options;
  search_options.objective = options.objective;
  search_options.proof = false;
  const std::int64_t work = std::min(options.work, options.usual_work);
  search_options.work = std::min(kFirstSearchWork, work / (std::int64_t{100} * instance.jobs()));
  const SearchResult searched =
      graph_search(instance, search_options, total_work(instance, search_options.work));
  if (searched.is_proved) {
    const double value = options.objective == Objective::makespan
                             ? searched.bound
                             : weighted_completion(instance, searched.placement);
    return {searched.placement, value, true, searched.is_complete, options.work};
  }
  return prove_graph(instance, searched.placement, options);
}

}  // namespace cosched::moldable::search
