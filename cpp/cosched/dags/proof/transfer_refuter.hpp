// Tries to prove that no schedule is as short as a makespan T where transfers cost time: the search
// behind transfers_bound.hpp.
//
// What was closed at a longer T that was not refuted is closed from the beginning, and its stages
// are the first of the proof.  A bare question ends after 1.  In this order, each with pruning
// after whatever it closes, and from 2 again where 5 or 6 has closed something:
//   1. prune: heads and tails by type, joins (transfer_windows.hpp), clusters
//      (transfer_guesses.hpp);
//   2. load heads (open_types.hpp);
//   3. an interval in which tasks without a choice need too much (energetic.hpp) refutes T;
//   4. guesses: types and ways with which 1 leaves nothing (transfer_guesses.hpp), then 3 again;
//   5. the combined rows of linear programmes at other T, with intervals that follow T;
//   6. only if the question is a full one, the programme of what is open (transfer_lp.hpp), with
//      rows of energy as its shares break them; its prices make a combined row
//      (transfer_combination.hpp).
// A combined row refutes T or closes the pairs and ways with which it cannot hold.  What raised,
// closed or refuted something is a stage of the proof.
#pragma once

#include "cosched/dags/proof/transfer_combination.hpp"
#include "cosched/dags/proof/transfer_guesses.hpp"
#include "cosched/dags/proof/transfer_lp.hpp"

namespace cosched::dags::proof {

class TransferRefuter {
 public:
  /// `load_weights`: of the loads in LP*, a mixture of the types.
  TransferRefuter(const TypeCosts& costs, std::vector<double> load_weights, double known,
                  const TransferEffort& effort)
      : costs_(costs),
        known_(known),
        effort_(effort),
        work_left_(effort.work),
        mixtures_(load_mixtures(std::move(load_weights), effort.each_type)) {}

  /// Prices and intervals are kept for the next T.
  Attempt<TransferRefutation> refute(const Question& question) {
    reach_ = 0;
    TransferWindows windows = begin(question.makespan);
    if (!decide(windows, question.depth)) {
      if (question.depth == Depth::full)
        guesses_left_ = std::min(guesses_left_, kLastGuesses * effort_.guesses);
      if (question.depth != Depth::bare) keep_left(std::move(windows));
      if (!kept_refuted_.empty()) kept_ = kept_refuted_;
      return {std::nullopt, reach_};
    }
    kept_refuted_ = kept_;
    return {TransferRefutation{question.makespan, std::move(stages_), effort_.clusters}, reach_};
  }

 private:
  static constexpr std::size_t kIntervalsAtOnce = 3;  // new ones of a type
  static constexpr std::size_t kMostKept = 24;        // intervals
  static constexpr double kLowPrice = 1e-4;           // at which one is not kept
  static constexpr double kHopeless = 0.8;        // share of T: a programme at less says nothing,
  static constexpr double kStaysHopeless = 0.97;  // and none does down to this share of that T
  // Nothing is to be expected of a programme either where tasks leave so much of T on average, and
  // the loads alone come to less than this: it comes to 0.7 to 0.9 T.
  static constexpr double kLoose = 0.2, kLight = 0.6;
  static constexpr double kQuickShare = 0.25;  // of the effort for guesses, without a programme,
  static constexpr int kQuickPatience = 100;   // and this many that do not fail
  static constexpr int kNoEnd = std::numeric_limits<int>::max();
  static constexpr double kLastGuesses = 1.5;  // times that in all, once some T is not refuted

  // Of what the best type of each task leaves, as a share of T.
  static double mean_spare(const TransferWindows& windows) {
    double sum = 0;
    for (int task = 0; task < windows.instance().tasks(); ++task) {
      double least = kInfinity;
      for (int type = 0; type < windows.instance().types(); ++type)
        if (windows.open(task, type)) least = std::min(least, windows.spare(task, type));
      sum += least;
    }
    return sum / (windows.instance().tasks() * windows.makespan());
  }

  // A combined row at another T: its intervals apart, to follow T.
  struct EarlierStage {
    struct Priced {
      KeptInterval interval;
      double price;
    };
    TransferStage rows;
    std::vector<Priced> intervals;

    TransferStage at(double makespan) const {
      TransferStage stage = rows;
      for (const Priced& kept : intervals)
        if (const std::optional<Interval> now = kept.interval.at(makespan))
          stage.intervals.push_back({*now, kept.price});
      return stage;
    }
  };

  // What was closed at a longer T that was not refuted is closed here, by the same stages: each
  // closes no less of a shorter T, up to the least rise of a head.
  TransferWindows begin(double makespan) {
    constexpr double kClearlyLonger = 1 + 1e-5;
    while (!above_.empty() && above_.back().windows.makespan() < makespan) above_.pop_back();
    for (auto left = above_.rbegin(); left != above_.rend(); ++left) {
      const double longer = left->windows.makespan();
      if (longer != makespan && longer < makespan * kClearlyLonger) continue;
      stages_ = left->stages;
      return {left->windows, makespan};
    }
    stages_.clear();
    return TransferWindows(costs_, makespan);
  }

  void keep_left(TransferWindows windows) {
    constexpr std::size_t kMostLeft = 4;
    if (effort_.passes == 1) return;  // little is closed, of what takes much memory
    above_.push_back({std::move(windows), std::move(stages_)});
    if (above_.size() > kMostLeft) above_.erase(above_.begin());
  }

  // True: T is refuted.
  bool decide(TransferWindows& windows, Depth depth) {
    if (!prune(windows)) return true;
    if (depth == Depth::bare) return false;
    for (int pass = 0; pass < effort_.passes; ++pass) {
      if (pass < effort_.load_heads && raise_heads(windows)) return true;
      if (energy_alone(windows)) return true;
      if (effort_.guesses > 0 && (guess(windows, pass, depth) || energy_alone(windows)))
        return true;
      if (windows.undecided() == 0) return false;
      const Outcome earlier = combine_earlier(windows);
      if (earlier == Outcome::refuted) return true;
      if (depth == Depth::quick) return false;
      const Outcome outcome = by_programme(windows);
      if (outcome == Outcome::refuted) return true;
      if (outcome == Outcome::nothing && earlier == Outcome::nothing) return false;
      if (!prune(windows)) return true;
    }
    return energy_alone(windows);
  }

  bool prune(TransferWindows& windows) const {
    return proof::prune(windows, kSearchSlack, effort_.clusters);
  }

  bool raise_heads(TransferWindows& windows) {
    return proof::raise_heads(windows, mixtures_, effort_.each_type, stages_,
                              [&](TransferWindows& raised) { return prune(raised); });
  }

  // Intervals in which tasks without a choice need too much.
  bool energy_alone(const TransferWindows& windows) {
    for (const Interval& interval : broken(windows, windows.decided())) {
      TransferStage stage;
      stage.loads.assign(costs_.types(), 0.0);
      stage.intervals.push_back({interval, 1});
      if (TransferCombination(windows, stage).excess(kSearchSlack) <= 0) continue;
      stages_.push_back(std::move(stage));
      return true;
    }
    return false;
  }

  // What failed at a shorter T is tried first.
  bool guess(TransferWindows& windows, int pass, Depth depth) {
    const bool full = depth == Depth::full;
    const double most = effort_.guesses * (full ? 1 : kQuickShare);
    const GuessEffort effort{std::min(most, guesses_left_), full ? kNoEnd : kQuickPatience};
    const std::int64_t begun = windows.steps();
    FailedGuesses failed = close_failing_guesses(windows, effort, effort_.clusters, failed_before_);
    guesses_left_ -= static_cast<double>(windows.steps() - begun);
    if (pass == 0) failed_before_ = failed.closed;
    if (!failed.closed.empty()) stages_.emplace_back().guesses = std::move(failed.closed);
    return failed.refuted;
  }

  Outcome combine_earlier(TransferWindows& windows) {
    Outcome all = Outcome::nothing;
    bool any = true;
    for (int repeat = 0; repeat < 2 && any; ++repeat) {
      any = false;
      for (auto stage = earlier_.rbegin(); stage != earlier_.rend(); ++stage) {
        const Outcome outcome = combine(windows, stage->at(windows.makespan()));
        if (outcome == Outcome::nothing) continue;
        if (outcome == Outcome::refuted || !prune(windows)) return Outcome::refuted;
        all = Outcome::closed;
        any = true;
      }
    }
    return all;
  }

  Outcome by_programme(TransferWindows& windows) {
    if (windows.makespan() > hopeless_above_ ||
        (known_ < kLight * windows.makespan() && mean_spare(windows) > kLoose))
      return Outcome::nothing;
    std::optional<TransferStage> stage = solve_programme(windows);
    if (!stage) return Outcome::nothing;
    keep(*stage, windows.makespan());
    return combine(windows, *std::move(stage));
  }

  Outcome combine(TransferWindows& windows, TransferStage stage) {
    const TransferCombination combination(windows, stage);
    if (combination.excess(kSearchSlack) > 0) {
      stages_.push_back(std::move(stage));
      return Outcome::refuted;
    }
    const std::vector<Pair> pairs = combination.broken_pairs(kSearchSlack);
    const std::vector<EdgeWay> ways = combination.broken_ways(kSearchSlack);
    if (pairs.empty() && ways.empty()) return Outcome::nothing;
    for (const Pair& pair : pairs) windows.close(pair.task, pair.type);
    for (const EdgeWay& way : ways) windows.close_way(way);
    stages_.push_back(std::move(stage));
    return Outcome::closed;
  }

  // The programme's prices as a combined row; empty: there are none.
  std::optional<TransferStage> solve_programme(const TransferWindows& windows) {
    const double makespan = windows.makespan();
    const auto refutes = [&](const TransferStage& stage) {
      return TransferCombination(windows, stage).excess(kSearchSlack) > 0;
    };
    std::vector<Interval> intervals;
    for (const KeptInterval& kept : kept_)
      if (const std::optional<Interval> now = kept.at(makespan)) intervals.push_back(*now);
    std::optional<TransferStage> stage;
    double before = 0;  // the reach of the last round but one
    for (int round = 0;; ++round) {
      const TransferLp lp(windows, intervals, makespan);
      const auto enough = [&](const opt::InteriorPoint& at) {
        if (at.value < kHopeless) return true;
        if (at.gap > 0.1 || at.gap < 0) return false;
        return at.value * (1 - at.gap) > 1 && refutes(lp.stage(at.prices));
      };
      const opt::InteriorPoint found = opt::solve_interior(
          lp.programme(), lp.inside(), {effort_.tolerance, enough, work_left_ / kUsualSteps});
      work_left_ -= found.work;
      if (found.prices.empty()) return stage;
      if (found.value < kHopeless) {
        hopeless_above_ = kStaysHopeless * makespan;
        return stage;
      }
      stage = lp.stage(found.prices);
      const double last = round > 0 ? reach_ : 0;
      reach_ = found.value * (1 - found.gap) * makespan;
      const bool stalls = reach_ < before * (1 + kWorthwhile);
      before = last;
      if (round >= effort_.rounds || stalls || refutes(*stage)) return stage;
      const std::vector<Interval> more = broken(windows, lp.shares(found.point));
      if (more.empty()) return stage;
      intervals.insert(intervals.end(), more.begin(), more.end());
    }
  }

  // For other T: intervals with a price, and the whole stage.
  void keep(const TransferStage& stage, double makespan) {
    kept_.clear();
    EarlierStage earlier{stage, {}};
    earlier.rows.intervals.clear();
    for (const PricedInterval& priced : stage.intervals) {
      const KeptInterval interval(priced.interval, makespan);
      earlier.intervals.push_back({interval, priced.price});
      if (priced.price > kLowPrice && kept_.size() < kMostKept) kept_.push_back(interval);
    }
    earlier_.push_back(std::move(earlier));
    if (static_cast<int>(earlier_.size()) > effort_.earlier) earlier_.erase(earlier_.begin());
  }

  // For each type the intervals that shares break most, from different begins.
  std::vector<Interval> broken(const TransferWindows& windows, const Table& share) const {
    std::vector<Interval> intervals;
    for (int type = 0; type < costs_.types(); ++type) {
      const EnergySweep sweep = sweep_of(windows, type, share);
      std::vector<EnergySweep::Excess> found =
          sweep.broken(sweep.begins(effort_.begins), windows.makespan());
      std::stable_sort(found.begin(), found.end(),
                       [](const auto& a, const auto& b) { return a.amount > b.amount; });
      for (std::size_t k = 0; k < std::min(kIntervalsAtOnce, found.size()); ++k)
        intervals.push_back(found[k].interval);
    }
    return intervals;
  }

  const TypeCosts& costs_;
  double known_;
  TransferEffort effort_;
  double work_left_;                               // of effort_.work
  double guesses_left_ = kInfinity;                // steps
  std::vector<std::vector<double>> mixtures_;      // of load heads
  std::vector<TransferStage> stages_;              // of the proof for the T in question
  double reach_ = 0;                               // of its last linear programme
  std::vector<KeptInterval> kept_, kept_refuted_;  // of the last programme, of the last T refuted
  std::vector<EarlierStage> earlier_;              // the last ones at last
  std::vector<TransferGuess> failed_before_;       // of the last T, before all else was closed
  // What was left of a T that was not refuted, and how.
  struct Left {
    TransferWindows windows;
    std::vector<TransferStage> stages;
  };
  std::vector<Left> above_;  // by falling T
  double hopeless_above_ = kInfinity;
};

}  // namespace cosched::dags::proof
