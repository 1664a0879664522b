#include "cosched/moldable/search/proof.hpp"

#include "cosched/core/interrupt.hpp"
#include "cosched/moldable/search/annealing.hpp"
#include "cosched/moldable/search/fastest_choices.hpp"

namespace cosched::moldable::search {
namespace {

class LabelProver {
 public:
  LabelProver(const Instance& instance, const Placement& start, const ProofOptions& options)
      : instance_(instance),
        objective_(options.objective),
        choices_(fastest_choices(instance)),
        incumbent_(instance, options.objective),
        budget_(options.work),
        usual_work_(options.usual_work),
        bounds_(instance, choices_, options.objective, incumbent_, budget_),
        labels_(instance, choices_, options.objective, incumbent_, bounds_, budget_,
                options.labels) {
    incumbent_.offer(start);
  }

  // Runs passes that keep more and more labels, until one drops none because of its width: then the
  // incumbent is optimal.  May throw as check_interrupt(): bound() and placement() hold at any
  // time.
  bool run() {
    for (std::size_t width = params_.first_width;; width *= params_.width_factor) {
      if (!labels_.run_pass(width)) return false;
      proved_bound_ = bound();
      if (labels_.dropped_bound() >= incumbent_.value()) return true;
      // Only after the first pass, so that easy proofs stay fast.
      if (width == params_.first_width) {
        proved_bound_ = std::min(incumbent_.value(), bounds_.enable_strong_bounds(proved_bound_));
        if (incumbent_.can_prune(proved_bound_)) return true;
      }
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
    return std::min(incumbent_.value(), std::max(proved_bound_, labels_.bound()));
  }

 private:
  // Anneals for a better schedule, because that drops labels.
  void improve_incumbent(std::uint64_t first_seed) {
    // No more than with the default work, so that more work begins with what that does.
    const std::int64_t remaining_usual_work =
        std::min(budget_.remaining_steps(), usual_work_ - budget_.used_steps());
    const std::int64_t work =
        std::min(params_.annealing_work * instance_.jobs(),
                 std::max<std::int64_t>(0, remaining_usual_work / params_.work_divisor));
    for (int k = 0; k < params_.annealings; ++k) {
      const AnnealOptions options{.objective = objective_,
                                  .seed = first_seed + k,
                                  .work = work,
                                  .target_value = proved_bound_};
      anneal(instance_, incumbent_.placement(), options,
             [&](Placement placement) { incumbent_.offer(std::move(placement)); });
      budget_.spend(work / params_.operations_per_step);
    }
  }

  const Instance& instance_;
  Objective objective_;
  ProofPassParams params_;
  std::vector<std::vector<Choice>> choices_;
  Incumbent incumbent_;
  WorkBudget budget_;
  std::int64_t usual_work_;
  LabelBounds bounds_;
  Labels labels_;
  double proved_bound_ = 0;  // the best bound of the passes so far
};

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

}  // namespace cosched::moldable::search
