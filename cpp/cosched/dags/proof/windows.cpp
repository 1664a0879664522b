#include "cosched/dags/proof/windows.hpp"

#include <algorithm>
#include <utility>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/dags/check/bounds.hpp"
#include "cosched/dags/model/instance.hpp"
#include "cosched/dags/proof/effort.hpp"
#include "cosched/dags/proof/energetic.hpp"
#include "cosched/dags/proof/open_types.hpp"

namespace cosched::dags::proof {

double Combination::price(int task, int type) const {
  const Instance& instance = windows_.instance();
  double sum =
      instance.time(task, type) * (stage_.loads[type] / instance.units(type) + flow_[task]);
  for (const PricedInterval* priced : intervals_[type])
    sum += priced->price * energy(windows_, task, priced->interval);
  return sum;
}

Combination::Combination(const TimeWindows& windows, const RefutationStage& stage)
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
      if (windows.open(task, type)) cheapest_[task] = std::min(cheapest_[task], price(task, type));
    left += cheapest_[task];
  }
  excess_ = left - right_;
}

std::vector<Pair> Combination::broken_pairs(double slack) const {
  std::vector<Pair> pairs;
  for (int task = 0; task < windows_.instance().tasks(); ++task)
    for (int type = 0; type < windows_.instance().types(); ++type)
      if (windows_.only_type(task) < 0 && windows_.open(task, type) &&
          excess(slack) + price(task, type) - cheapest_[task] > 0)
        pairs.push_back({task, type});
  return pairs;
}

Refuter::Refuter(const Instance& instance, const hlp::Certificate& relaxation, const Effort& effort)
    : instance_(instance),
      relaxation_(relaxation),
      effort_(effort),
      mixtures_(load_mixtures({relaxation.weights.begin(), relaxation.weights.end() - 1},
                              effort.each_type)) {}

Attempt<Refutation> Refuter::refute(const Question& question) {
  stages_.clear();
  TimeWindows windows(instance_, question.makespan);
  if (!decide(windows)) return {};
  return {Refutation{question.makespan, std::move(stages_)}, 0};
}

bool Refuter::decide(TimeWindows& windows) {
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

bool Refuter::raise_heads(TimeWindows& windows) {
  return proof::raise_heads(windows, mixtures_, effort_.each_type, stages_,
                            [](TimeWindows& raised) { return raised.prune(kSearchSlack); });
}

// Intervals in which tasks without a choice need too much.
bool Refuter::energy_alone(const TimeWindows& windows) {
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

Outcome Refuter::by_programme(TimeWindows& windows) {
  WindowsLp programme(windows, relaxation_, kept_, effort_);
  RefutationStage stage = programme.solve();
  kept_ = programme.rows_that_mattered();
  return combine(windows, std::move(stage));
}

Outcome Refuter::combine(TimeWindows& windows, RefutationStage stage) {
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

namespace {

// Whether the loads alone or one path alone decide LP*: then it is found in a few passes over the
// graph, and on large graphs a single T would cost more.
bool decided_at_once(const hlp::Certificate& relaxation) {
  return relaxation.weights.back() == 0 || relaxation.weights.back() == 1;
}

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
