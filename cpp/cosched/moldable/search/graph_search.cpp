#include "cosched/moldable/search/graph_search.hpp"

#include "cosched/core/annealing.hpp"
#include "cosched/core/rng.hpp"
#include "cosched/moldable/graph/list.hpp"
#include "cosched/moldable/search/graph_decoder.hpp"

namespace cosched::moldable::search {
namespace {

constexpr double kHot = 0.02, kCold = 2e-4;  // temperatures, parts of the makespan
constexpr double kDecodingSteps = 1.35;      // the decoder's steps are smaller than those of `work`

// Plateaus lead somewhere: a little of the work and of the ends besides the makespan.
double energy(const graph::Choices& choices, const Decoded& made) {
  double work = 0, ends = 0;
  for (int i = 0; i < choices.jobs(); ++i) {
    const graph::Choice& choice = choices[i][made.chosen[i]];
    work += choice.share[0] * choice.time;
    ends += made.start[i] + choice.time;
  }
  return made.makespan + 0.02 * work + 0.02 * ends / choices.jobs();
}

// Neighbours of a schedule: another count, another place in the order.
class Moves {
 public:
  Moves(const TaskGraph& graph, const graph::Choices& choices, Rng& rng)
      : graph_(graph), choices_(choices), rng_(rng), at_(graph.tasks()) {}

  // Another schedule, not decoded yet.
  Decoded neighbour(const Decoded& made) {
    Decoded next{made.order, made.chosen, {}, 0};
    const std::uint64_t kind = rng_.below(100);
    const int job = pick(made);
    if (kind < 55) change(next, job);
    if (kind >= 45) shift(next, job);
    return next;
  }

 private:
  // Half of the time one that starts late or ends last.
  int pick(const Decoded& made) {
    const int n = graph_.tasks();
    int best = static_cast<int>(rng_.below(n));
    if (rng_.below(2)) return best;
    const auto lateness = [&](int i) { return made.start[i] + choices_[i][made.chosen[i]].time; };
    for (int tries = 0; tries < 3; ++tries) {
      const int other = static_cast<int>(rng_.below(n));
      if (lateness(other) > lateness(best)) best = other;
    }
    return best;
  }

  void change(Decoded& next, int job) {
    const int count = static_cast<int>(choices_[job].size());
    if (count < 2) return shift(next, job);
    int& chosen = next.chosen[job];
    const bool near = rng_.below(3) > 0;
    int other = near ? chosen + (rng_.below(2) ? 1 : -1) : static_cast<int>(rng_.below(count));
    if (other < 0 || other >= count) other = chosen == 0 ? 1 : chosen - 1;
    chosen = other;
  }

  // To another place between the last job before it and the first one after it.
  void shift(Decoded& next, int job) {
    for (int k = 0; k < graph_.tasks(); ++k) at_[next.order[k]] = k;
    int low = 0, high = graph_.tasks() - 1;
    for (const int before : graph_.predecessors(job)) low = std::max(low, at_[before] + 1);
    for (const int after : graph_.successors(job)) high = std::min(high, at_[after] - 1);
    move_within(next.order, at_[job], static_cast<int>(rng_.between(low, high)));
  }

  const TaskGraph& graph_;
  const graph::Choices& choices_;
  Rng& rng_;
  std::vector<int> at_;
};

class GraphSearch {
 public:
  explicit GraphSearch(const Instance& instance)
      : it_(instance), choices_(instance), decoder_(instance, choices_) {}

  const graph::Choices& choices() const { return choices_; }
  const Decoded& best() const { return best_; }
  Placement placement() const {
    return given_.jobs() > 0 && makespan(given_) <= best_.makespan ? given_
                                                                   : decoder_.placement(best_);
  }
  double value() const {
    return given_.jobs() > 0 ? std::min(best_.makespan, makespan(given_)) : best_.makespan;
  }

  // A schedule of the caller's, or of a list: as it stands.
  void offer(const Placement& made) {
    if (given_.jobs() == 0 || makespan(made) < makespan(given_)) given_ = made;
    Decoded same{GraphDecoder::by_start(decoder_.graph(), made.start), chosen_of(made), {}, 0};
    decoder_.decode(same);
    keep(std::move(same));
  }

  void offer_list(const graph::Chosen& chosen) {
    offer(graph::list_schedule(it_, choices_, chosen));
  }

  void offer_simple() {
    graph::Chosen cheapest(it_.jobs(), 0), fastest;
    for (int i = 0; i < it_.jobs(); ++i) {
      fastest.push_back(choices_.fastest(i));
      for (std::size_t k = 0; k < choices_[i].size(); ++k) {
        const auto work = [&](std::size_t j) { return choices_[i][j].procs * choices_[i][j].time; };
        if (work(k) < work(cheapest[i])) cheapest[i] = static_cast<int>(k);
      }
    }
    offer_list(cheapest);
    offer_list(fastest);
  }

  void offer_family(const graph::WorkPath& programme) {
    if (!programme.duration.empty()) {
      offer_list(graph::round_work_path(it_, choices_, programme).chosen);
      for (const double theta : {0.2, 0.5, 0.8})
        offer_list(graph::rounded(choices_, programme.duration, theta, it_.machines()));
    }
    for (const double mu : {0.211, 0.271, 0.324, 0.381})
      offer_list(graph::allot_locally(it_, choices_, mu).chosen);
    for (const std::vector<double>& duration : programme.trade_offs)
      offer_list(graph::rounded(choices_, duration, 0.5, it_.machines()));
    decoder_.justify(best_);
  }

  // Work is counted from now on.
  void anneal(std::int64_t work, std::uint64_t seed, double enough) {
    Rng rng(seed);
    Moves moves(decoder_.graph(), choices_, rng);
    Decoded now = best_;
    double energy_now = energy(choices_, now);
    const std::int64_t begun = decoder_.operations();
    const auto spent = [&] { return decoder_.operations() - begun; };
    const double steps = kDecodingSteps * static_cast<double>(work);
    cosched::anneal(kCold / kHot, steps, spent, [&](double warmth) {
      if (best_.makespan <= enough) return false;
      const double heat = now.makespan * kHot * warmth;
      Decoded next = moves.neighbour(now);
      decoder_.decode(next);
      const double energy_next = energy(choices_, next);
      if (energy_next > energy_now - heat * std::log(1 - rng.uniform())) return true;
      if (next.makespan < best_.makespan) {
        decoder_.justify(next);
        keep(next);
      }
      energy_now = energy(choices_, next);
      now = std::move(next);
      return true;
    });
  }

 private:
  void keep(Decoded made) {
    if (best_.order.empty() || made.makespan < best_.makespan) best_ = std::move(made);
  }

  graph::Chosen chosen_of(const Placement& made) const {
    graph::Chosen chosen;
    for (int i = 0; i < it_.jobs(); ++i) {
      int same = choices_.within(i, made.procs[i]);
      for (int k = 0; k < static_cast<int>(choices_[i].size()); ++k)
        if (choices_[i][k].procs == made.procs[i]) same = k;
      chosen.push_back(same);
    }
    return chosen;
  }

  const Instance& it_;
  const graph::Choices choices_;
  GraphDecoder decoder_;
  Decoded best_;
  Placement given_;
};

}  // namespace

void require_graph_known(const Instance& instance, Objective objective, const char* who) {
  const std::string what(who);
  if (instance.sharing() != nullptr && instance.sharing()->slows())
    throw InvalidInstance(what + " does not know slow-downs" +
                          (instance.graph() != nullptr ? " of jobs with precedence" : "") +
                          ": expected inst.without_slowdowns()");
  if (objective != Objective::makespan)
    throw InvalidInstance(what + ": objective = 'minsum' with " +
                          (instance.graph() != nullptr ? "edges" : "resources") +
                          ": expected 'makespan'");
}

SearchResult graph_search(const Instance& instance, const SearchOptions& options,
                          std::int64_t operations) {
  require_graph_known(instance, options.objective, "local-search");
  GraphSearch search(instance);
  unhurried([&] {
    search.offer_simple();
    for (const Placement& start : options.starts) search.offer(start);
  });
  SearchResult found;
  graph::WorkPath programme;
  // Of a short limit a share goes to the bound.
  (void)finishes_within(seconds_left() < kInfinity
                            ? std::optional(0.3 * std::max(0.0, seconds_left()))
                            : std::nullopt,
                        [&] { programme = graph::work_and_path(instance); });
  found.bound = programme.value;
  found.complete = finishes_within(std::nullopt, [&] {
    found.bound = std::max(found.bound, graph::heads_and_tails(instance, found.bound));
    search.offer_family(programme);
    const double enough = found.bound * (1 + kExactTolerance);
    GrowingRounds(total_work(instance, kSearchWork))
        .run(operations, [&](std::int64_t part, int number) {
          search.anneal(part, options.seed + number, enough);
          return search.value() > enough;
        });
  });
  found.placement = search.placement();
  found.proved = search.value() <= found.bound * (1 + kExactTolerance);
  return found;
}

}  // namespace cosched::moldable::search
