#include "cosched/moldable/graph/search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/rng.hpp"
#include "cosched/moldable/graph/bound.hpp"
#include "cosched/moldable/graph/list.hpp"

namespace cosched::moldable::graph {
namespace {

constexpr double kHot = 0.02, kCold = 2e-4;  // temperatures, parts of the makespan
constexpr std::int64_t kFirstRound = 2'000'000;

// Plateaus lead somewhere: a little of the work and of the ends besides the makespan.
double energy(const Choices& choices, const Decoded& made) {
  double work = 0, ends = 0;
  for (int i = 0; i < choices.jobs(); ++i) {
    const Choice& choice = choices[i][made.chosen[i]];
    work += choice.share[0] * choice.time;
    ends += made.start[i] + choice.time;
  }
  return made.makespan + 0.02 * work + 0.02 * ends / choices.jobs();
}

// Neighbours of a schedule: another count, another place in the order.
class Moves {
 public:
  Moves(const TaskGraph& graph, const Choices& choices, Rng& rng)
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
    const int from = at_[job], to = static_cast<int>(rng_.between(low, high));
    const auto order = next.order.begin();
    if (to < from)
      std::rotate(order + to, order + from, order + from + 1);
    else
      std::rotate(order + from, order + from + 1, order + to + 1);
  }

  const TaskGraph& graph_;
  const Choices& choices_;
  Rng& rng_;
  std::vector<int> at_;
};

class Search {
 public:
  explicit Search(const Instance& instance)
      : it_(instance), choices_(instance), decoder_(instance, choices_) {}

  const Choices& choices() const { return choices_; }
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
    Decoded same{Decoder::by_start(decoder_.graph(), made.start), chosen_of(made), {}, 0};
    decoder_.decode(same);
    keep(std::move(same));
  }

  void offer_list(const Chosen& chosen) { offer(list_schedule(it_, choices_, chosen)); }

  void offer_simple() {
    Chosen cheapest(it_.jobs(), 0), fastest;
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

  void offer_family(const WorkPath& programme) {
    if (!programme.duration.empty()) {
      offer_list(round_work_path(it_, choices_, programme).chosen);
      for (const double theta : {0.2, 0.5, 0.8})
        offer_list(rounded(choices_, programme.duration, theta, it_.machines()));
    }
    for (const double mu : {0.211, 0.271, 0.324, 0.381})
      offer_list(allot_locally(it_, choices_, mu).chosen);
    for (const std::vector<double>& duration : programme.trade_offs)
      offer_list(rounded(choices_, duration, 0.5, it_.machines()));
    decoder_.justify(best_);
  }

  // Work is counted from now on.
  void anneal(std::int64_t work, std::uint64_t seed, double enough) {
    Rng rng(seed);
    Moves moves(decoder_.graph(), choices_, rng);
    const std::int64_t begun = decoder_.operations();
    const double seconds = seconds_left();
    Decoded now = best_;
    double energy_now = energy(choices_, now);
    for (;;) {
      const double by_work =
          static_cast<double>(decoder_.operations() - begun) / static_cast<double>(work);
      const double by_time = seconds < kInfinity ? 1 - seconds_left() / seconds : 0;
      const double part = std::max(by_work, by_time);
      if (part >= 1 || best_.makespan <= enough) break;
      const double heat = now.makespan * kHot * std::pow(kCold / kHot, part);
      Decoded next = moves.neighbour(now);
      decoder_.decode(next);
      poll_.count(20 * it_.jobs());
      const double energy_next = energy(choices_, next);
      if (energy_next > energy_now - heat * std::log(1 - rng.uniform())) continue;
      if (next.makespan < best_.makespan) {
        decoder_.justify(next);
        keep(next);
      }
      energy_now = energy(choices_, next);
      now = std::move(next);
    }
  }

 private:
  void keep(Decoded made) {
    if (best_.order.empty() || made.makespan < best_.makespan) best_ = std::move(made);
  }

  Chosen chosen_of(const Placement& made) const {
    Chosen chosen;
    for (int i = 0; i < it_.jobs(); ++i) {
      int same = choices_.within(i, made.procs[i]);
      for (int k = 0; k < static_cast<int>(choices_[i].size()); ++k)
        if (choices_[i][k].procs == made.procs[i]) same = k;
      chosen.push_back(same);
    }
    return chosen;
  }

  const Instance& it_;
  const Choices choices_;
  Decoder decoder_;
  Decoded best_;
  Placement given_;
  Poll poll_;
};

void require_work(const SearchOptions& options) {
  if (options.work < 0)
    throw InvalidInstance("work = " + std::to_string(options.work) + ": expected a number >= 0");
}

}  // namespace

Found local_search(const Instance& instance, const SearchOptions& options) {
  require_work(options);
  const ScopedTimeLimit limit(options.time_limit);
  Search search(instance);
  unhurried([&] {
    search.offer_simple();
    for (const Placement& start : options.starts) search.offer(start);
  });
  Found found;
  WorkPath programme;
  // Of a short limit a share goes to the bound.
  (void)finishes_within(seconds_left() < kInfinity
                            ? std::optional(0.3 * std::max(0.0, seconds_left()))
                            : std::nullopt,
                        [&] { programme = work_and_path(instance); });
  found.bound = programme.value;
  found.complete = finishes_within(std::nullopt, [&] {
    found.bound = std::max(found.bound, heads_and_tails(instance, found.bound));
    search.offer_family(programme);
    const double enough = found.bound * (1 + kExactTolerance);
    if (options.work >= kUnlimitedWork / 2)
      in_rounds(kFirstRound, [&](std::int64_t part, int number) {
        search.anneal(part, options.seed + number, enough);
        return search.value() > enough;
      });
    else if (options.work > 0)
      search.anneal(options.work, options.seed, enough);
  });
  found.placement = search.placement();
  found.proved = search.value() <= found.bound * (1 + kExactTolerance);
  return found;
}

namespace {

// Jobs in the order of their starts, each at its earliest fit from the last start on.
class BranchAndBound {
 public:
  BranchAndBound(const Instance& instance, Found& best, std::int64_t work)
      : it_(instance),
        choices_(instance),
        graph_(instance),
        best_(best),
        left_(work),
        value_(makespan(best.placement)),
        end_(instance.jobs(), -1.0),
        made_(unplaced(instance.jobs())) {
    std::vector<double> least;
    for (int i = 0; i < it_.jobs(); ++i) {
      least.push_back(choices_[i][choices_.fastest(i)].time);
      double work_of = kInfinity;
      for (const Choice& choice : choices_[i])
        work_of = std::min(work_of, choice.share[0] * choice.time);
      least_work_.push_back(work_of);
    }
    tail_ = bottom_levels(*graph_, least);
  }

  // Whether nothing was left out.
  bool run() {
    branch(0, 0, 0, 0);
    return left_ >= 0;
  }

 private:
  // What is free from `from` on: jobs that have started count until they end.
  double earliest(const Choice& choice, double from) const {
    for (;;) {
      int busy = 0;
      std::vector<double> used(choices_.measures(), 0.0);
      double next = kInfinity;
      for (int i = 0; i < it_.jobs(); ++i) {
        if (end_[i] <= from) continue;
        const Choice& other = *running_[i];
        busy += other.procs;
        for (int r = 1; r < choices_.measures(); ++r) used[r] += other.share[r];
        next = std::min(next, end_[i]);
      }
      bool fits = busy + choice.procs <= it_.machines();
      for (int r = 1; r < choices_.measures(); ++r)
        fits = fits && used[r] + choice.share[r] <= 1 + kExactTolerance;
      if (fits) return from;
      from = next;
    }
  }

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
      for (const Choice& choice : choices_[i])
        try_choice(i, choice, from, placed, longest, done_work);
    }
  }

  void try_choice(int i, const Choice& choice, double from, int placed, double longest,
                  double done_work) {
    const double start = earliest(choice, from), end = start + choice.time;
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
    put(made_, i, choice, start);
    branch(placed + 1, start, std::max(longest, end), work);
    end_[i] = -1;
  }

  const Instance& it_;
  const Choices choices_;
  const Precedence graph_;
  Found& best_;
  std::int64_t left_;
  double value_;
  std::vector<double> end_, tail_, least_work_;
  std::vector<const Choice*> running_ = std::vector<const Choice*>(end_.size(), nullptr);
  Placement made_;
  Poll poll_;
};

}  // namespace

Found optimal(const Instance& instance, const SearchOptions& options) {
  require_work(options);
  if (instance.jobs() > kMostExactJobs)
    throw InvalidInstance("optimal takes at most " + std::to_string(kMostExactJobs) +
                          " jobs with precedence or resources, the instance has " +
                          std::to_string(instance.jobs()));
  const ScopedTimeLimit limit(options.time_limit);
  SearchOptions quick = options;
  quick.work = std::min<std::int64_t>(options.work / 10, 200'000);
  quick.time_limit = seconds_left() < kInfinity ? std::optional(0.1 * std::max(0.0, seconds_left()))
                                                : std::nullopt;
  Found found = local_search(instance, quick);
  if (found.proved) return found;
  bool whole = false;
  found.complete = finishes_within(
      std::nullopt, [&] { whole = BranchAndBound(instance, found, options.work / 20).run(); });
  if (found.complete && whole) {
    found.proved = true;
    found.bound = makespan(found.placement);
  }
  return found;
}

}  // namespace cosched::moldable::graph
