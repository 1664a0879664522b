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

class Prover {
 public:
  Prover(const Instance& instance, const Placement& start, const ProofOptions& options)
      : it_(instance),
        makespan_(options.objective == Objective::makespan),
        choices_(choices_of(instance)),
        best_(instance, options.objective),
        effort_(options.work),
        usual_work_(options.usual_work),
        bounds_(instance, choices_, options.objective, best_, effort_),
        labels_(instance, choices_, options.objective, best_, bounds_, effort_, options.room) {
    best_.offer(start);
  }

  // Passes that keep more and more labels, until one drops none for their number: then all is
  // proved. May be left by check_interrupt(): bound() and placement() hold at any time.
  bool run() {
    for (std::size_t width = kFirstWidth;; width *= 4) {
      if (!labels_.pass(width)) return false;
      proved_ = bound();
      if (labels_.dropped() >= best_.value()) return true;
      // Not before, so that what is easy stays fast.
      if (width == kFirstWidth) {
        proved_ = std::min(best_.value(), bounds_.sharpen(proved_));
        if (best_.hopeless(proved_)) return true;
      }
      if (width == kLookWidth || width == kLastLook) look_around(width);
    }
  }

  const Placement& placement() const { return best_.placement(); }
  bool is_best(double least) const { return best_.hopeless(least); }
  std::int64_t left() const { return std::max<std::int64_t>(0, effort_.left()); }

  // The best of all passes.
  double bound() const { return std::min(best_.value(), std::max(proved_, labels_.bound())); }

 private:
  // A better schedule first: it drops labels.
  void look_around(std::uint64_t first_seed) {
    // No more than with the default work, so that more work begins with what that does.
    const std::int64_t usual_left = std::min(effort_.left(), usual_work_ - effort_.spent());
    const std::int64_t work =
        std::min(kLookWork * it_.jobs(), std::max<std::int64_t>(0, usual_left / kLookPart));
    for (std::uint64_t look = 0; look < kLooks; ++look) {
      anneal(
          it_, best_.placement(),
          {makespan_ ? Objective::makespan : Objective::minsum, first_seed + look, work, proved_},
          [&](Placement made) { best_.offer(std::move(made)); });
      effort_.count(work / kLookPrice);
    }
  }

  const Instance& it_;
  bool makespan_;
  std::vector<std::vector<Choice>> choices_;
  BestSoFar best_;
  Effort effort_;
  std::int64_t usual_work_;
  LabelBounds bounds_;
  Labels labels_;
  double proved_ = 0;  // the best bound of the passes before
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
void go_on(const Instance& instance, const ProofOptions& options, Proof& proof) {
  SearchOptions search;
  search.objective = options.objective;
  search.seed = 1;
  search.proof = false;
  search.work = proof.left / instance.jobs();
  search.starts = {proof.placement};
  const SearchResult found = local_search(instance, search);
  BestSoFar best(instance, options.objective);
  best.offer(std::move(proof.placement));
  best.offer(found.placement);
  proof.placement = best.placement();
  proof.in_time = found.complete;
  proof.proved = best.hopeless(proof.bound);
}

}  // namespace

void require_provable(const Instance& instance, const ProofOptions& options) {
  if (instance.jobs() > kMostProvedJobs)
    throw InvalidInstance("optimal: " + std::to_string(instance.jobs()) +
                          " jobs: expected at most " + std::to_string(kMostProvedJobs));
  if (options.work < 0)
    throw InvalidInstance("work = " + std::to_string(options.work) + ": expected a number >= 0");
}

Proof prove(const Instance& instance, const Placement& start, const ProofOptions& options) {
  require_provable(instance, options);
  Proof result;
  Prover prover(instance, start, options);
  result.in_time = finishes_within(options.time_limit, [&] { result.proved = prover.run(); });
  result.placement = prover.placement();
  result.bound = prover.bound();
  result.proved = result.proved || prover.is_best(result.bound);
  result.left = prover.left();
  return result;
}

Proof optimal(const Instance& instance, const ProofOptions& options) {
  const ScopedTimeLimit limit(options.time_limit);
  if (!instance.is_alone()) return graph_proof(instance, options);
  require_provable(instance, options);
  Proof proof = prove(instance, first_schedule(instance, options), options);
  if (!proof.proved && proof.in_time && proof.left > 0) go_on(instance, options, proof);
  return proof;
}

}  // namespace cosched::moldable::search
