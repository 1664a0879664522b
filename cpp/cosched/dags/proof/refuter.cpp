#include "cosched/dags/proof/refuter.hpp"

#include <utility>

#include "cosched/core/interrupt.hpp"
#include "cosched/dags/proof/combination.hpp"
#include "cosched/dags/proof/energetic.hpp"
#include "cosched/dags/proof/load_heads.hpp"

namespace cosched::dags::proof {

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

}  // namespace cosched::dags::proof
