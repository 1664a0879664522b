#include "cosched/moldable/graph/choices.hpp"
#include "cosched/moldable/search/graph_search.hpp"

namespace cosched::moldable::search {
namespace {

// Jobs in the order of their starts, each at its earliest fit from the last start on.
class StartsSearch {
 public:
  StartsSearch(const Instance& instance, Proof& best, std::int64_t work)
      : it_(instance),
        choices_(instance),
        graph_(instance),
        best_(best),
        left_(work),
        value_(makespan(best.placement)),
        end_(instance.jobs(), -1.0),
        made_(unplaced(instance.jobs())),
        free_(instance.jobs() + 1, FreeProfile(instance.machines(), choices_.measures() - 1)) {
    std::vector<double> least;
    for (int i = 0; i < it_.jobs(); ++i) {
      least.push_back(choices_[i][choices_.fastest(i)].time);
      double work_of = kInfinity;
      for (const graph::Choice& choice : choices_[i])
        work_of = std::min(work_of, choice.share[0] * choice.time);
      least_work_.push_back(work_of);
    }
    tail_ = graph::bottom_levels(*graph_, least);
  }

  // Whether nothing was left out.
  bool run() {
    branch(0, 0, 0, 0);
    return left_ >= 0;
  }

 private:
  void branch(int placed, double last, double longest, double done_work) {
    if (placed == it_.jobs()) {
      if (longest < value_ * (1 - kExactTolerance)) {
        value_ = longest;
        best_.placement = made_;
      }
      return;
    }
    if ((left_ -= 1) < 0) return;
    poll_.count(200);
    for (int i = 0; i < it_.jobs() && left_ >= 0; ++i) {
      if (end_[i] >= 0) continue;
      double from = std::max(last, it_.release(i));
      bool ready = true;
      for (const int before : graph_->predecessors(i)) {
        ready = ready && end_[before] >= 0;
        from = std::max(from, end_[before]);
      }
      if (!ready) continue;
      for (const graph::Choice& choice : choices_[i])
        try_choice(i, choice, from, placed, longest, done_work);
    }
  }

  void try_choice(int i, const graph::Choice& choice, double from, int placed, double longest,
                  double done_work) {
    const Need need{choice.procs, choice.share.data() + 1};
    const double start = free_[placed].earliest(need, choice.time, from);
    const double end = start + choice.time;
    double bound = std::max(longest, end);
    const double work = done_work + choice.share[0] * choice.time;
    double rest = work;
    for (int k = 0; k < it_.jobs(); ++k) {
      if (k == i || end_[k] >= 0) continue;
      double head = std::max(start, it_.release(k));
      for (const int before : graph_->predecessors(k))
        head = std::max(head, before == i ? end : end_[before]);
      bound = std::max(bound, head + tail_[k]);
      rest += least_work_[k];
    }
    // No job starts before `start` any more: what was idle until then stays idle.
    double idle = start;
    for (int k = 0; k < it_.jobs(); ++k)
      if (end_[k] >= 0) idle -= running_[k]->share[0] * (std::min(end_[k], start) - made_.start[k]);
    bound = std::max(bound, rest + idle);
    if (bound >= value_ * (1 - kExactTolerance)) return;
    end_[i] = end;
    running_[i] = &choice;
    graph::put(made_, i, choice, start);
    free_[placed + 1] = free_[placed];
    free_[placed + 1].take(start, end, need);
    branch(placed + 1, start, std::max(longest, end), work);
    end_[i] = -1;
  }

  const Instance& it_;
  const graph::Choices choices_;
  const graph::Precedence graph_;
  Proof& best_;
  std::int64_t left_;
  double value_;
  std::vector<double> end_, tail_, least_work_;
  std::vector<const graph::Choice*> running_ =
      std::vector<const graph::Choice*>(end_.size(), nullptr);
  Placement made_;
  std::vector<FreeProfile> free_;  // beside so many jobs
  Poll poll_;
};

}  // namespace

Proof graph_proof(const Instance& instance, const ProofOptions& options) {
  require_graph_known(instance, options.objective, "optimal");
  if (instance.jobs() > kMostGraphJobs)
    throw InvalidInstance("optimal takes at most " + std::to_string(kMostGraphJobs) +
                          " jobs with precedence or resources, the instance has " +
                          std::to_string(instance.jobs()));
  SearchOptions quick;
  if (seconds_left() < kInfinity) quick.time_limit = 0.1 * std::max(0.0, seconds_left());
  SearchResult found;
  {
    const ScopedTimeLimit limit(quick.time_limit);
    found = graph_search(instance, quick, std::min<std::int64_t>(options.work / 10, 200'000));
  }
  Proof proof{std::move(found.placement), found.bound, found.proved, found.complete, 0};
  if (proof.proved) return proof;
  bool whole = false;
  proof.in_time = finishes_within(
      std::nullopt, [&] { whole = StartsSearch(instance, proof, options.work / 20).run(); });
  if (proof.in_time && whole) {
    proof.proved = true;
    proof.bound = makespan(proof.placement);
  }
  return proof;
}

}  // namespace cosched::moldable::search
