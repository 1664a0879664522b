#include "cosched/dags/proof/transfer_refuter.hpp"

#include <algorithm>
#include <utility>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/dags/proof/transfer_combination.hpp"

namespace cosched::dags::proof {
namespace {

constexpr int kUsualSteps = 16;  // of the interior point method

constexpr std::size_t kIntervalsAtOnce = 3;  // new intervals of a type
constexpr std::size_t kMostKept = 24;        // intervals

// Types of tasks and ways of edges that pruning alone refutes, once they are the only ones.
class Guesses {
 public:
  Guesses(TransferWindows& windows, double effort)
      : windows_(windows), costs_(windows.costs()), effort_(effort), begun_(windows.steps()) {}

  // Closes them until there are no more.  True: T is refuted.
  bool refute() {
    for (bool changed = true; changed && !done();) {
      changed = false;
      for (int task = 0; task < windows_.instance().tasks() && !done(); ++task)
        changed |= close_types(task);
      for (int edge = 0; edge < costs_.edges() && !done(); ++edge) changed |= close_ways(edge);
    }
    return refuted_;
  }

  std::vector<TransferGuess> take_closed() { return std::move(closed_); }

 private:
  bool done() const { return refuted_ || static_cast<double>(windows_.steps() - begun_) > effort_; }

  bool close_types(int task) {
    bool any = false;
    for (int type = 0; type < costs_.types() && windows_.only_type(task) < 0 && !refuted_; ++type)
      if (windows_.open(task, type)) any |= close({false, task, type});
    return any;
  }

  bool close_ways(int edge) {
    bool any = false;
    for (int way = 0; way < costs_.ways() && !refuted_ && open_ways(edge) > 1; ++way)
      if (windows_.way_open(edge, way)) any |= close({true, edge, way});
    return any;
  }

  int open_ways(int edge) const {
    int count = 0;
    for (int way = 0; way < costs_.ways(); ++way) count += windows_.way_open(edge, way);
    return count;
  }

  // Whether nothing is left with a guess.
  bool fails(const TransferGuess& guess) {
    TransferWindows rest = windows_;
    if (guess.of_edge)
      rest.keep_only_way(guess.item, guess.choice);
    else
      rest.keep_only(guess.item, guess.choice);
    const bool left = rest.prune(kSearchSlack);
    const std::int64_t copying =
        windows_.instance().tasks() * costs_.types() + costs_.edges() * costs_.ways();
    windows_.count(rest.steps() - windows_.steps() + copying);
    return !left;
  }

  // Closes a guess if it fails.
  bool close(const TransferGuess& guess) {
    if (!fails(guess)) return false;
    closed_.push_back(guess);
    if (guess.of_edge)
      windows_.close_way(guess.item, guess.choice);
    else
      windows_.close(guess.item, guess.choice);
    refuted_ = !windows_.prune(kSearchSlack);
    return true;
  }

  TransferWindows& windows_;
  const TypeCosts& costs_;
  double effort_;
  std::int64_t begun_;
  std::vector<TransferGuess> closed_;
  bool refuted_ = false;
};

}  // namespace

TransferRefuter::TransferRefuter(const TypeCosts& costs, std::vector<double> weights,
                                 const TransferEffort& effort)
    : costs_(costs), weights_(std::move(weights)), effort_(effort) {}

Attempt<TransferRefutation> TransferRefuter::refute(const Question& question) {
  proof_ = {question.makespan, {}, effort_.clusters};
  reach_ = 0;
  TransferWindows windows(costs_, question.makespan, effort_.clusters);
  if (!decide(windows, question.quick)) return {std::nullopt, reach_};
  return {std::move(proof_), reach_};
}

bool TransferRefuter::decide(TransferWindows& windows, bool quick) {
  if (!windows.prune(kSearchSlack)) return true;
  bool closed = false;
  for (int pass = 0; pass < effort_.passes; ++pass) {
    if (pass < effort_.load_heads && raise_heads(windows)) return true;
    if (energy_alone(windows)) return true;
    if (effort_.guesses > 0 && (guess(windows) || energy_alone(windows))) return true;
    if (windows.undecided() == 0) return false;
    if (combine_earlier(windows)) return true;
    if (quick) return false;
    closed = false;
    if (programme(windows, closed)) return true;
    if (!closed) return false;
    if (!windows.prune(kSearchSlack)) return true;
  }
  return energy_alone(windows);
}

// Prices of another T: intervals keep the distance of their end from T.
TransferStage TransferRefuter::at(const TransferStage& earlier, double makespan) const {
  TransferStage stage = earlier;
  stage.intervals.clear();
  for (PricedInterval priced : earlier.intervals) {
    priced.interval.end += makespan;
    if (priced.interval.end > priced.interval.begin) stage.intervals.push_back(priced);
  }
  return stage;
}

// What prices of other T close.  True: T is refuted.
bool TransferRefuter::combine_earlier(TransferWindows& windows) {
  bool any = true;
  for (int repeat = 0; repeat < 2 && any; ++repeat) {
    any = false;
    for (auto stage = earlier_.rbegin(); stage != earlier_.rend(); ++stage) {
      bool closed = false;
      if (combine(windows, at(*stage, windows.makespan()), closed)) return true;
      if (closed && !windows.prune(kSearchSlack)) return true;
      any = any || closed;
    }
  }
  return false;
}

// True: T is refuted.
bool TransferRefuter::raise_heads(TransferWindows& windows) {
  const int types = costs_.types();
  std::vector<std::vector<double>> mixtures;
  for (int type = 0; type < types && (effort_.each_type || types == 1); ++type) {
    mixtures.emplace_back(types, 0.0);
    mixtures.back()[type] = 1;
  }
  double sum = 0;
  for (const double weight : weights_) sum += weight;
  if (types > 1 && sum > 1e-6) {
    mixtures.push_back(weights_);
    for (double& weight : mixtures.back()) weight /= sum;
  }
  for (int repeat = 0; repeat < (effort_.each_type ? 2 : 1); ++repeat) {
    bool any = false;
    for (const std::vector<double>& mixture : mixtures) {
      const bool heads = windows.raise(mixture, false), tails = windows.raise(mixture, true);
      if (!heads && !tails) continue;
      TransferStage stage;
      stage.raise = mixture;
      proof_.stages.push_back(std::move(stage));
      if (!windows.prune(kSearchSlack)) return true;
      any = true;
    }
    if (!any) break;
  }
  return false;
}

EnergySweep TransferRefuter::sweep(const TransferWindows& windows, int type,
                                   const Table& share) const {
  const Instance& instance = windows.instance();
  std::vector<EnergySweep::Item> items;
  for (int task = 0; task < instance.tasks(); ++task) {
    if (share(task, type) <= 0 || !windows.open(task, type)) continue;
    const double p = instance.time(task, type);
    if (p > 0)
      items.push_back({windows.head(task, type), p,
                       windows.makespan() - windows.tail(task, type) - p,
                       std::min(1.0, share(task, type))});
  }
  return {type, instance.units(type), std::move(items)};
}

// Intervals in which tasks without a choice need too much.
bool TransferRefuter::energy_alone(const TransferWindows& windows) {
  const Instance& instance = windows.instance();
  Table share(instance.tasks(), instance.types());
  for (int task = 0; task < instance.tasks(); ++task)
    if (windows.only_type(task) >= 0) share(task, windows.only_type(task)) = 1;
  for (const Interval& interval : broken(windows, share)) {
    TransferStage stage;
    stage.loads.assign(instance.types(), 0.0);
    stage.intervals.push_back({interval, 1});
    if (TransferCombination(windows, stage).excess(kSearchSlack) <= 0) continue;
    proof_.stages.push_back(std::move(stage));
    return true;
  }
  return false;
}

// For each type the intervals that shares break most, from different begins.
std::vector<Interval> TransferRefuter::broken(const TransferWindows& windows,
                                              const Table& share) const {
  std::vector<Interval> intervals;
  Poll poll;
  for (int type = 0; type < costs_.types(); ++type) {
    const EnergySweep items = sweep(windows, type, share);
    std::vector<EnergySweep::Excess> found;
    for (const double begin : items.begins(effort_.begins)) {
      poll.count(12LL * items.tasks());
      const EnergySweep::Excess excess = items.worst_from(begin);
      if (excess.amount > kWorthwhile * windows.instance().units(type) * windows.makespan())
        found.push_back(excess);
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.amount > b.amount; });
    for (std::size_t k = 0; k < std::min(kIntervalsAtOnce, found.size()); ++k)
      intervals.push_back(found[k].interval);
  }
  return intervals;
}

// Closes what pruning alone refutes, until there is no more.  True: T is refuted.
bool TransferRefuter::guess(TransferWindows& windows) {
  Guesses guesses(windows, effort_.guesses);
  const bool refuted = guesses.refute();
  TransferStage stage;
  stage.guesses = guesses.take_closed();
  if (!stage.guesses.empty()) proof_.stages.push_back(std::move(stage));
  return refuted;
}

// The linear programme of what is open.  True: T is refuted.
bool TransferRefuter::programme(TransferWindows& windows, bool& closed) {
  const double makespan = windows.makespan();
  std::vector<Interval> intervals;
  for (const Kept& kept : kept_) {
    Interval interval = kept.interval;
    interval.end = makespan - kept.from_end;
    if (interval.end > interval.begin) intervals.push_back(interval);
  }
  TransferStage stage;
  for (int round = 0;; ++round) {
    const TransferLp lp(windows, intervals, makespan);
    const auto enough = [&](const opt::InteriorPoint& at) {
      if (at.gap > 0.1 || at.gap < 0) return false;
      return at.value * (1 - at.gap) > 1 &&
             TransferCombination(windows, lp.stage(at.prices)).excess(kSearchSlack) > 0;
    };
    const opt::InteriorPoint found = opt::solve_interior(
        lp.programme(), lp.inside(), {effort_.tolerance, enough, effort_.work / kUsualSteps});
    effort_.work -= found.work;
    if (found.prices.empty()) {
      if (round == 0) return false;
      break;
    }
    stage = lp.stage(found.prices);
    reach_ = found.value * (1 - found.gap) * makespan;
    if (round >= effort_.rounds || TransferCombination(windows, stage).excess(kSearchSlack) > 0)
      break;
    const std::vector<Interval> more = broken(windows, lp.shares(found.point));
    if (more.empty()) break;
    intervals.insert(intervals.end(), more.begin(), more.end());
  }
  kept_.clear();
  for (const PricedInterval& priced : stage.intervals)
    if (priced.price > 1e-4 && kept_.size() < kMostKept)
      kept_.push_back({priced.interval, makespan - priced.interval.end});
  earlier_.push_back(stage);
  for (PricedInterval& priced : earlier_.back().intervals) priced.interval.end -= makespan;
  if (static_cast<int>(earlier_.size()) > effort_.earlier) earlier_.erase(earlier_.begin());
  return combine(windows, std::move(stage), closed);
}

// True: the combined row refutes T.  Otherwise closes pairs by it.
bool TransferRefuter::combine(TransferWindows& windows, TransferStage stage, bool& closed) {
  const TransferCombination combination(windows, stage);
  const int types = costs_.types();
  if (combination.excess(kSearchSlack) > 0) {
    proof_.stages.push_back(std::move(stage));
    return true;
  }
  std::vector<std::pair<int, int>> pairs;
  for (int task = 0; task < windows.instance().tasks(); ++task)
    for (int type = 0; type < types && windows.only_type(task) < 0; ++type)
      if (windows.open(task, type) && combination.closes(task, type, kSearchSlack))
        pairs.emplace_back(task, type);
  std::vector<std::pair<int, int>> ways;
  for (int edge = 0; edge < costs_.edges(); ++edge)
    for (int way = 0; way < costs_.ways(); ++way)
      if (windows.way_open(edge, way) && combination.closes_way(edge, way, kSearchSlack))
        ways.emplace_back(edge, way);
  for (const auto& [task, type] : pairs) windows.close(task, type);
  for (const auto& [edge, way] : ways) windows.close_way(edge, way);
  closed = !pairs.empty() || !ways.empty();
  if (closed) proof_.stages.push_back(std::move(stage));
  return false;
}

}  // namespace cosched::dags::proof
