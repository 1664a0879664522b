#include "cosched/moldable/search/proof.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cosched/core/errors.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/moldable/search/annealing.hpp"
#include "cosched/moldable/search/graph_proof.hpp"
#include "cosched/moldable/search/halves.hpp"
#include "cosched/moldable/search/label_bounds.hpp"
#include "cosched/moldable/search/local_search.hpp"
#include "cosched/moldable/search/window_search.hpp"

namespace cosched::moldable::search {
namespace {

constexpr std::size_t kFirstWidth = 100, kLookWidth = 400;
constexpr std::size_t kHalvesWidth =
    1600;  // what is not proved then is hard: halves need less work
// Annealing before the passes get wide: times, operations a job, and of the work that is left at
// most.
constexpr std::uint64_t kLooks = 4;
constexpr std::int64_t kLookWork = 1'000'000, kLookPart = 40;
constexpr std::int64_t kLookPrice = 4;  // its operations that take as long as a step of labels
// Deadlines between bound and value: the first, as a part of the way; how much further each is, and
// where the last took hardly more work than the one before; the part that is left when the next is
// the value itself.
constexpr double kFirstAhead = 0.04, kFurtherAhead = 1.6, kFarAhead = 4, kLastPart = 0.15;
constexpr double kClosed = 0.5;  // of a gap: windows of starts go on
constexpr double kNotDearer = 1.4;
constexpr double kJump = 7;           // times the work of the last deadline
constexpr std::int64_t kSample = 20;  // of the work that is left: a deadline that says something

class Prover {
 public:
  Prover(const Instance& instance, const Placement& start, const ProofOptions& options)
      : it_(instance),
        makespan_(options.objective == Objective::makespan),
        choices_(choices_of(instance)),
        best_(instance, options.objective, start),
        effort_(options.work),
        windows_(instance),
        bounds_(instance, choices_, windows_, options.objective, best_, effort_),
        labels_(instance, choices_, windows_, options.objective, best_, bounds_, effort_,
                options.room) {}

  // Passes that keep more and more labels, until one drops none for their number: then all is
  // proved. May be left by check_interrupt(): bound() and placement() hold at any time.
  bool run() {
    for (std::size_t width = kFirstWidth;; width *= 4) {
      const std::int64_t left = effort_.left();
      // Where there is no room for labels windows may go on.
      if (!labels_.pass(width)) return nodes_ && !effort_.over() && nodes_->run(effort_.left());
      in_labels_ += left - effort_.left();
      proved_ = bound();
      if (labels_.dropped() >= best_.value()) return true;
      // Not before, so that what is easy stays fast.
      if (width == kFirstWidth) {
        proved_ = std::min(best_.value(), bounds_.sharpen(proved_));
        if (best_.hopeless(proved_)) return true;
      }
      if (width == kLookWidth || width == kHalvesWidth) look_around(width);
      if (width >= kLookWidth && bounds_.prices()) {
        if (search_windows()) return true;
        if (effort_.over()) return false;
      }
      if (width == kHalvesWidth && can_be_halved()) {
        if (meet_halves()) return true;
        if (effort_.over()) return false;
      }
    }
  }

  const Placement& placement() const { return best_.placement(); }
  bool is_best(double least) const { return best_.hopeless(least); }
  std::int64_t left() const { return std::max<std::int64_t>(0, effort_.left()); }

  // The best of all passes.
  double bound() const {
    const double least = std::max(labels_.bound(), nodes_ ? nodes_->bound() : 0.0);
    return std::min(best_.value(), std::max(proved_, least));
  }

 private:
  bool can_be_halved() {
    return makespan_ && bounds_.patterns() && !it_.has_releases() &&
           it_.jobs() <= kMostHalvedJobs && it_.machines() <= kMostHalvedMachines;
  }

  // As much work as labels took, and more where that closes the gap that labels leave.
  bool search_windows() {
    if (!nodes_) nodes_.emplace(it_, choices_, proved_, best_, effort_);
    do {
      if (nodes_->run(in_labels_)) return true;
      if (effort_.over()) return false;
    } while (nodes_->bound() - proved_ > kClosed * (best_.value() - proved_));
    return false;
  }

  // A better schedule first: it drops labels.
  void look_around(std::uint64_t first_seed) {
    const std::int64_t work =
        std::min(kLookWork * it_.jobs(), std::max<std::int64_t>(0, effort_.left() / kLookPart));
    for (std::uint64_t look = 0; look < kLooks; ++look) {
      anneal(
          it_, best_.placement(),
          {makespan_ ? Objective::makespan : Objective::minsum, first_seed + look, work, proved_},
          [&](Placement made) { best_.take(std::move(made)); });
      effort_.count(work / kLookPrice);
    }
  }

  // Deadlines further and further from the bound: that no schedule keeps one costs the less, the
  // nearer it is, and what is met for one is often a good schedule for the next.  False: the work
  // is over, or the room for one count of each job.
  bool meet_halves() {
    Halves halves(choices_, it_.machines(), [&](std::int64_t steps) {
      effort_.count(steps);
      return !effort_.over();
    });
    const auto offer = [&](const std::vector<Placed>& order) {
      accept(order);
      return best_.value();
    };
    const double base = proved_;
    std::int64_t before = 0;  // what the last deadline took
    double ahead = kFirstAhead * (best_.value() - base);
    double done = 0, grows = 0;  // how far the last was, to which power of that the work grows
    while (!best_.hopeless(proved_)) {
      const double value = best_.value();
      // The value itself, where deadlines that were not cheap say that it takes little more.
      if (before > effort_.left() / kSample &&
          std::pow((value - base) / done, std::max(1.0, grows)) < kJump)
        ahead = value - base;
      const bool last = base + ahead > value - kLastPart * (value - base);
      const double deadline = last ? value : base + ahead;
      const std::int64_t left = effort_.left();
      const auto outcome = halves.search(proved_, deadline, value, bounds_.patterns(), offer);
      if (outcome == Halves::Outcome::nearer) continue;
      if (outcome != Halves::Outcome::searched) return false;
      if (best_.value() >= deadline) proved_ = std::max(proved_, deadline);
      const std::int64_t spent = left - effort_.left();
      grows = before > 0 ? std::log(static_cast<double>(spent) / static_cast<double>(before)) /
                               std::log((deadline - base) / done)
                         : 0;
      done = deadline - base;
      ahead *= spent < kNotDearer * static_cast<double>(before) ? kFarAhead : kFurtherAhead;
      before = spent;
    }
    return true;
  }

  // Each job as early as the order and its count let it.
  void accept(const std::vector<Placed>& order) {
    Placement made = unplaced(it_.jobs());
    std::vector<double> free(it_.machines(), 0);  // increasing
    for (const Placed& one : order) {
      const auto q = static_cast<std::size_t>(one.procs);
      const double start = free[q - 1];
      place(it_, made, one.job, one.procs, start);
      for (double& time : free) time = std::max(time, start);
      std::fill_n(free.begin(), q, made.end[one.job]);
      std::sort(free.begin(), free.end());
    }
    best_.take(std::move(made));
  }

  const Instance& it_;
  bool makespan_;
  std::vector<std::vector<Choice>> choices_;
  Incumbent best_;
  Effort effort_;
  StartWindows windows_;
  LabelBounds bounds_;
  Labels labels_;
  std::optional<WindowSearch> nodes_;
  std::int64_t in_labels_ = 0;
  double proved_ = 0;  // the best bound of the passes before
};

constexpr double kStartShare = 0.1;

Placement first_schedule(const Instance& instance, const ProofOptions& options) {
  SearchOptions search;
  search.objective = options.objective;
  search.proof = false;
  search.work = std::min(kSearchWork, options.work / (std::int64_t{100} * instance.jobs()));
  if (seconds_left() < kInfinity) search.time_limit = std::max(0.0, kStartShare * seconds_left());
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
  Incumbent best(instance, options.objective, std::move(proof.placement));
  best.take(found.placement);
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
