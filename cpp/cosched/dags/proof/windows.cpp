#include "cosched/dags/proof/windows.hpp"

#include "cosched/dags/check/bounds.hpp"
#include "cosched/dags/proof/windows_lp.hpp"

namespace cosched::dags::proof {
namespace {

// Whether the loads alone or one path alone decide LP*: then it is found in a few passes over the
// graph, and on large graphs a single T would cost more.
bool decided_at_once(const hlp::Certificate& relaxation) {
  return relaxation.weights.back() == 0 || relaxation.weights.back() == 1;
}

// A combination of rows that hold for every schedule of at most T, and what it says of the pairs
// (task, type) that are still open.

/// Prices a pair: the sum over rows of price x coefficient of x_jq.
class Combination {
 public:
  Combination(const TimeWindows& windows, const RefutationStage& stage)
      : windows_(windows),
        stage_(stage),
        flow_(windows.instance().tasks(), 0.0),
        intervals_(windows.instance().types()),
        cheapest_(windows.instance().tasks()) {
    const Instance& instance = windows.instance();
    const int n = instance.tasks();
    double weight = 0, left = 0;
    for (const double load : stage.loads) weight += load;
    if (!stage.task_flow.empty()) {
      std::vector<double> in(n, 0.0), out(n, 0.0);
      for (const auto& [from, to, amount] : stage.edge_flow) {
        out[from] += amount;
        in[to] += amount;
      }
      for (int task = 0; task < n; ++task) {
        flow_[task] = std::max({stage.task_flow[task], in[task], out[task]});
        weight += flow_[task] - in[task];
        left += (flow_[task] - in[task]) * windows.head(task) +
                (flow_[task] - out[task]) * windows.tail(task);
      }
    }
    right_ = weight * windows.makespan();
    for (const PricedInterval& priced : stage.intervals) {
      intervals_[priced.interval.type].push_back(&priced);
      right_ += priced.price * instance.units(priced.interval.type) *
                (priced.interval.end - priced.interval.begin);
    }
    for (int task = 0; task < n; ++task) {
      cheapest_[task] = kInfinity;
      for (int type = 0; type < instance.types(); ++type)
        if (windows.open(task, type))
          cheapest_[task] = std::min(cheapest_[task], price(task, type));
      left += cheapest_[task];
    }
    excess_ = left - right_;
  }

  /// By how much even the cheapest types break the combined row, less `slack` relative to its
  /// right side: T is refuted where this is > 0.
  double excess(double slack) const { return excess_ - slack * right_; }
  /// Open pairs of undecided tasks with which a schedule would break it.
  std::vector<Pair> broken_pairs(double slack) const {
    std::vector<Pair> pairs;
    for (int task = 0; task < windows_.instance().tasks(); ++task)
      for (int type = 0; type < windows_.instance().types(); ++type)
        if (windows_.only_type(task) < 0 && windows_.open(task, type) &&
            excess(slack) + price(task, type) - cheapest_[task] > 0)
          pairs.push_back({task, type});
    return pairs;
  }

 private:
  double price(int task, int type) const {
    const Instance& instance = windows_.instance();
    double sum =
        instance.time(task, type) * (stage_.loads[type] / instance.units(type) + flow_[task]);
    for (const PricedInterval* priced : intervals_[type])
      sum += priced->price * energy(windows_, task, priced->interval);
    return sum;
  }

  const TimeWindows& windows_;
  const RefutationStage& stage_;
  std::vector<double> flow_;                                   // through each task
  std::vector<std::vector<const PricedInterval*>> intervals_;  // of each type
  std::vector<double> cheapest_;
  double excess_ = 0, right_ = 0;
};

// Tries to prove that no schedule is as short as a makespan T.
//
// In this order, and from the beginning again after whatever closes a pair:
//   1. prune: longest paths of least times close the types on which a task does not fit
//      (time_windows.hpp);
//   2. load heads raise heads and tails, and prune again (open_types.hpp);
//   3. an interval in which tasks without a choice need too much (energetic.hpp) refutes T;
//   4. the linear programme of what is open (windows_lp.hpp): its prices make one row of all rows,
//      which refutes T or closes the pairs with which it cannot hold (Combination).
// What raised, closed or refuted something is a stage of the proof; pruning is not, the check does
// it after every stage anyway.

class Refuter {
 public:
  /// `relaxation`: proof of LP*; its weights and flow are the programme's first row.
  Refuter(const Instance& instance, const hlp::Certificate& relaxation, const Effort& effort)
      : instance_(instance),
        relaxation_(relaxation),
        effort_(effort),
        mixtures_(load_mixtures({relaxation.weights.begin(), relaxation.weights.end() - 1},
                                effort.each_type)) {}

  /// Rows that mattered are kept for the next T.
  Attempt<Refutation> refute(const Question& question) {
    stages_.clear();
    TimeWindows windows(instance_, question.makespan);
    if (!decide(windows)) return {};
    return {Refutation{question.makespan, std::move(stages_)}, 0};
  }

 private:
  // True: T is refuted.
  bool decide(TimeWindows& windows) {
    if (!windows.prune(kSearchSlack)) return true;
    for (int pass = 0; pass < effort_.passes; ++pass) {
      if (pass < effort_.load_heads && raise_heads(windows)) return true;
      if (energy_alone(windows)) return true;
      if (windows.undecided() == 0) return false;
      const Outcome outcome = by_programme(windows);
      if (outcome != Outcome::closed) return outcome == Outcome::refuted;
      if (!windows.prune(kSearchSlack)) return true;
    }
    return energy_alone(windows);
  }

  bool raise_heads(TimeWindows& windows) {
    return proof::raise_heads(windows, mixtures_, effort_.each_type, stages_,
                              [](TimeWindows& raised) { return raised.prune(kSearchSlack); });
  }

  // Intervals in which tasks without a choice need too much.
  bool energy_alone(const TimeWindows& windows) {
    const Table share = windows.decided();
    for (int type = 0; type < instance_.types(); ++type) {
      const EnergySweep sweep = sweep_of(windows, type, share);
      Poll poll;
      for (const double begin : sweep.begins(effort_.begins)) {
        const EnergySweep::Excess found = sweep.worst_from(begin);
        poll.count(12LL * sweep.tasks());
        const double right = instance_.units(type) * (found.interval.end - found.interval.begin);
        if (found.amount <= 2 * kSearchSlack * right) continue;
        RefutationStage stage;
        stage.loads.assign(instance_.types(), 0.0);
        stage.intervals.push_back({found.interval, 1});
        if (Combination(windows, stage).excess(kSearchSlack) <= 0) continue;
        stages_.push_back(std::move(stage));
        return true;
      }
    }
    return false;
  }

  Outcome by_programme(TimeWindows& windows) {
    WindowsLp programme(windows, relaxation_, kept_, effort_);
    RefutationStage stage = programme.solve();
    kept_ = programme.rows_that_mattered();
    return combine(windows, std::move(stage));
  }

  // A combined row refutes T, closes pairs, or says nothing.
  Outcome combine(TimeWindows& windows, RefutationStage stage) {
    const Combination combination(windows, stage);
    if (combination.excess(kSearchSlack) > 0) {
      stages_.push_back(std::move(stage));
      return Outcome::refuted;
    }
    const std::vector<Pair> pairs = combination.broken_pairs(kSearchSlack);
    if (pairs.empty()) return Outcome::nothing;
    stages_.push_back(std::move(stage));
    for (const Pair& pair : pairs) windows.close(pair.task, pair.type);
    return Outcome::closed;
  }

  const Instance& instance_;
  const hlp::Certificate& relaxation_;
  Effort effort_;
  std::vector<std::vector<double>> mixtures_;  // of load heads
  std::vector<RefutationStage> stages_;        // of the proof for the T in question
  std::vector<KeptRow> kept_;
};

}  // namespace

WindowsBound windows_bound(const Instance& instance, const hlp::Certificate& relaxation,
                           const BoundOptions& options) {
  WindowsBound best;
  best.certificate.relaxation = relaxation;
  best.value = check::certified_bound(instance, best.certificate);
  if (instance.tasks() > kLarge && decided_at_once(relaxation)) return best;
  prove_so_far(best, [&] {
    const HalvingSteps steps(best.value, options.upper_or_none(), time_grain(instance),
                             options.precision_for(instance));
    Refuter refuter(instance, relaxation, effort_for(instance));
    bisect(steps, refuter, best);
  });
  return best;
}

}  // namespace cosched::dags::proof
