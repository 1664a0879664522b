#include "cosched/moldable/search/proof.hpp"

#include "cosched/moldable/search/annealing.hpp"
#include "cosched/moldable/search/graph_search.hpp"

namespace cosched::moldable::search {
namespace {

constexpr std::size_t kFirstWidth = 100, kLookWidth = 400, kLastLook = 1600;
// Annealing before the passes get wide: times, operations a job, and of the work that is left at
// most.
constexpr std::uint64_t kLooks = 4;
constexpr std::int64_t kLookWork = 1'000'000, kLookPart = 40;
constexpr std::int64_t kLookPrice = 4;  // its operations that take as long as a step of labels

class LabelProver {
 public:
  LabelProver(const Instance& instance, const Placement& start, const ProofOptions& options)
      : instance_(instance),
        minimizes_makespan_(options.objective == Objective::makespan),
        choices_(fastest_choices(instance)),
        incumbent_(instance, options.objective),
        budget_(options.work),
        usual_work_(options.usual_work),
        bounds_(instance, choices_, options.objective, incumbent_, budget_),
        labels_(instance, choices_, options.objective, incumbent_, bounds_, budget_,
                options.label_steps) {
    incumbent_.offer(start);
  }

  // Passes that keep more and more labels, until one drops none for their number: then all is
  // proved. May be left by check_interrupt(): bound() and placement() hold at any time.
  bool run() {
    for (std::size_t width = kFirstWidth;; width *= 4) {
      if (!labels_.run_pass(width)) return false;
      proved_bound_ = bound();
      if (labels_.dropped_bound() >= incumbent_.value()) return true;
      // Not before, so that what is easy stays fast.
      if (width == kFirstWidth) {
        proved_bound_ = std::min(incumbent_.value(), bounds_.enable_strong_bounds(proved_bound_));
        if (incumbent_.can_prune(proved_bound_)) return true;
      }
      if (width == kLookWidth || width == kLastLook) improve_incumbent(width);
    }
  }

  const Placement& placement() const { return incumbent_.placement(); }
  bool is_best(double least) const { return incumbent_.can_prune(least); }
  std::int64_t remaining_work() const {
    return std::max<std::int64_t>(0, budget_.remaining_steps());
  }

  // The best of all passes.
  double bound() const {
    return std::min(incumbent_.value(), std::max(proved_bound_, labels_.bound()));
  }

 private:
  // A better schedule first: it drops labels.
  void improve_incumbent(std::uint64_t first_seed) {
    // No more than with the default work, so that more work begins with what that does.
    const std::int64_t usual_left =
        std::min(budget_.remaining_steps(), usual_work_ - budget_.used_steps());
    const std::int64_t work =
        std::min(kLookWork * instance_.jobs(), std::max<std::int64_t>(0, usual_left / kLookPart));
    for (std::uint64_t look = 0; look < kLooks; ++look) {
      anneal(instance_, incumbent_.placement(),
             {minimizes_makespan_ ? Objective::makespan : Objective::minsum, first_seed + look,
              work, proved_bound_},
             [&](Placement made) { incumbent_.offer(std::move(made)); });
      budget_.spend(work / kLookPrice);
    }
  }

  const Instance& instance_;
  bool minimizes_makespan_;
  std::vector<std::vector<Choice>> choices_;
  Incumbent incumbent_;
  WorkBudget budget_;
  std::int64_t usual_work_;
  LabelBounds bounds_;
  Labels labels_;
  double proved_bound_ = 0;  // the best bound of the passes before
};

Placement first_schedule(const Instance& instance, const ProofOptions& options) {
  SearchOptions search;
  search.objective = options.objective;
  search.proof = false;
  const std::int64_t work = std::min(options.work, options.usual_work);
  search.work = std::min(kSearchWork, work / (std::int64_t{100} * instance.jobs()));
  return local_search(instance, search).placement;
}

// Where there was no room for a proof: a better schedule, with what is left of work and time.
void improve_with_remaining_work(const Instance& instance, const ProofOptions& options,
                                 ProofResult& proof) {
  SearchOptions search;
  search.objective = options.objective;
  search.seed = 1;
  search.proof = false;
  search.work = proof.remaining_work / instance.jobs();
  search.starts = {proof.placement};
  const SearchResult found = local_search(instance, search);
  Incumbent best(instance, options.objective);
  best.offer(std::move(proof.placement));
  best.offer(found.placement);
  proof.placement = best.placement();
  proof.is_in_time = found.is_complete;
  proof.is_proved = best.can_prune(proof.bound);
}

}  // namespace

void require_provable(const Instance& instance, const ProofOptions& options) {
  if (instance.jobs() > kMostProvedJobs)
    throw InvalidInstance("optimal: " + std::to_string(instance.jobs()) +
                          " jobs: expected at most " + std::to_string(kMostProvedJobs));
  if (options.work < 0)
    throw InvalidInstance("work = " + std::to_string(options.work) + ": expected a number >= 0");
}

ProofResult prove(const Instance& instance, const Placement& start, const ProofOptions& options) {
  require_provable(instance, options);
  ProofResult result;
  LabelProver prover(instance, start, options);
  result.is_in_time = finishes_within(options.time_limit, [&] { result.is_proved = prover.run(); });
  result.placement = prover.placement();
  result.bound = prover.bound();
  result.is_proved = result.is_proved || prover.is_best(result.bound);
  result.remaining_work = prover.remaining_work();
  return result;
}

ProofResult optimal(const Instance& instance, const ProofOptions& options) {
  const ScopedTimeLimit limit(options.time_limit);
  if (!instance.has_independent_jobs()) return graph_proof(instance, options);
  require_provable(instance, options);
  ProofResult proof = prove(instance, first_schedule(instance, options), options);
  if (!proof.is_proved && proof.is_in_time && proof.remaining_work > 0)
    improve_with_remaining_work(instance, options, proof);
  return proof;
}

}  // namespace cosched::moldable::search
