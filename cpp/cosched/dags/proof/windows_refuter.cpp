#include "cosched/dags/proof/windows_refuter.hpp"

namespace cosched::dags::proof {

WindowsRefuter::WindowsRefuter(const Instance& instance, const hlp::HlpCertificate& relaxation,
                               const RefuterParams& params)
    : instance_(instance),
      relaxation_(relaxation),
      params_(params),
      mixtures_(load_mixtures({relaxation.weights.begin(), relaxation.weights.end() - 1},
                              params.tries_each_type)) {}

RefutationResult<Refutation> WindowsRefuter::refute(const MakespanGuess& question) {
  stages_.clear();
  TimeWindows windows(instance_, question.makespan);
  if (!is_refuted(windows)) return {};
  return {Refutation{question.makespan, std::move(stages_)}, 0};
}

// Carries out the steps on `windows`; returns whether they refute T.
bool WindowsRefuter::is_refuted(TimeWindows& windows) {
  if (!windows.prune(kSearchSlack)) return true;
  for (int pass = 0; pass < params_.max_passes; ++pass) {
    if (pass < params_.load_head_passes && tighten_by_load(windows)) return true;
    if (refute_by_energy(windows)) return true;
    if (windows.undecided_tasks() == 0) return false;
    const StageOutcome outcome = apply_programme(windows);
    if (outcome != StageOutcome::closed) return outcome == StageOutcome::refuted;
    if (!windows.prune(kSearchSlack)) return true;
  }
  return refute_by_energy(windows);
}

bool WindowsRefuter::tighten_by_load(TimeWindows& windows) {
  return proof::tighten_heads_by_load(
      windows, mixtures_, params_.tries_each_type, stages_,
      [](TimeWindows& raised) { return raised.prune(kSearchSlack); });
}

// Whether an interval refutes T in which tasks without a choice of type need too much.
bool WindowsRefuter::refute_by_energy(const TimeWindows& windows) {
  constexpr std::int64_t kPollStepsPerTask = 12;  // a nanosecond each
  const Table share = windows.decided_shares();
  for (int type = 0; type < instance_.types(); ++type) {
    const EnergySweep sweep = make_sweep(windows, type, share);
    Poll poll;
    for (const double begin : sweep.candidate_begins(params_.max_begins)) {
      const EnergySweep::Excess worst = sweep.worst_interval_from(begin);
      poll.count(kPollStepsPerTask * sweep.tasks());
      const double right = instance_.units(type) * (worst.interval.end - worst.interval.begin);
      if (worst.amount <= 2 * kSearchSlack * right) continue;
      RefutationStage stage;
      stage.loads.assign(instance_.types(), 0.0);
      stage.intervals.push_back({worst.interval, 1});
      if (WindowsCombination(windows, stage).excess(kSearchSlack) <= 0) continue;
      stages_.push_back(std::move(stage));
      return true;
    }
  }
  return false;
}

StageOutcome WindowsRefuter::apply_programme(TimeWindows& windows) {
  WindowsLp programme(windows, relaxation_, reusable_rows_, params_);
  RefutationStage stage = programme.solve();
  reusable_rows_ = programme.reusable_rows();
  return apply_stage(windows, std::move(stage));
}

// Applies a combined row, which refutes T, closes types, or has no effect.
StageOutcome WindowsRefuter::apply_stage(TimeWindows& windows, RefutationStage stage) {
  const WindowsCombination combination(windows, stage);
  if (combination.excess(kSearchSlack) > 0) {
    stages_.push_back(std::move(stage));
    return StageOutcome::refuted;
  }
  const std::vector<TaskOnType> pairs = combination.violating_types(kSearchSlack);
  if (pairs.empty()) return StageOutcome::nothing;
  stages_.push_back(std::move(stage));
  for (const TaskOnType& pair : pairs) windows.close_type(pair.task, pair.type);
  return StageOutcome::closed;
}

}  // namespace cosched::dags::proof
