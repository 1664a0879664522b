#include "cosched/dags/proof/transfer_refuter.hpp"

namespace cosched::dags::proof {

TransferRefuter::TransferRefuter(const TypeCosts& costs, std::vector<double> load_weights,
                                 double proven_bound, const TransferRefuterParams& params)
    : costs_(costs),
      proven_bound_(proven_bound),
      params_(params),
      remaining_multiplications_(params.lp_multiplications),
      mixtures_(load_mixtures(std::move(load_weights), params.tries_each_type)) {}

RefutationResult<TransferRefutation> TransferRefuter::refute(const MakespanGuess& question) {
  lp_value_ = 0;
  TransferWindows windows = start_windows(question.makespan);
  if (!is_refuted(windows, question.depth)) {
    if (question.depth == RefuterDepth::full)
      remaining_shaving_steps_ =
          std::min(remaining_shaving_steps_, params_.shaving_steps_left * params_.shaving_steps);
    if (question.depth != RefuterDepth::bare) store_unrefuted(std::move(windows));
    if (!intervals_of_refuted_.empty()) reused_intervals_ = intervals_of_refuted_;
    return {std::nullopt, lp_value_};
  }
  intervals_of_refuted_ = reused_intervals_;
  return {TransferRefutation{question.makespan, std::move(stages_), params_.uses_clusters},
          lp_value_};
}

// The mean over the tasks of their slack on the type of least slack, as a share of T.
double TransferRefuter::mean_slack(const TransferWindows& windows) {
  double sum = 0;
  for (int task = 0; task < windows.instance().tasks(); ++task) {
    double least = kInfinity;
    for (int type = 0; type < windows.instance().types(); ++type)
      if (windows.is_open(task, type)) least = std::min(least, windows.slack(task, type));
    sum += least;
  }
  return sum / (windows.instance().tasks() * windows.makespan());
}

// The windows to begin with: those of a longer T that was not refuted, with the stages that led to
// them, because each of these stages closes at least as much at a shorter T (up to the least rise
// of a head); new ones where there are none.
TransferWindows TransferRefuter::start_windows(double makespan) {
  while (!unrefuted_.empty() && unrefuted_.back().windows.makespan() < makespan)
    unrefuted_.pop_back();
  for (auto unrefuted = unrefuted_.rbegin(); unrefuted != unrefuted_.rend(); ++unrefuted) {
    const double longer = unrefuted->windows.makespan();
    if (longer != makespan && longer < makespan * params_.clearly_longer) continue;
    stages_ = unrefuted->stages;
    return {unrefuted->windows, makespan};
  }
  stages_.clear();
  return TransferWindows(costs_, makespan);
}

void TransferRefuter::store_unrefuted(TransferWindows windows) {
  if (params_.max_passes == 1) return;  // large instances: much memory for little that is closed
  unrefuted_.push_back({std::move(windows), std::move(stages_)});
  if (unrefuted_.size() > params_.max_unrefuted) unrefuted_.erase(unrefuted_.begin());
}

// Carries out the steps on `windows`; returns whether they refute T.
bool TransferRefuter::is_refuted(TransferWindows& windows, RefuterDepth depth) {
  if (!prune(windows)) return true;
  if (depth == RefuterDepth::bare) return false;
  for (int pass = 0; pass < params_.max_passes; ++pass) {
    if (pass < params_.load_head_passes && tighten_by_load(windows)) return true;
    if (refute_by_energy(windows)) return true;
    if (params_.shaving_steps > 0 && (shave(windows, pass, depth) || refute_by_energy(windows)))
      return true;
    if (windows.undecided_tasks() == 0) return false;
    const StageOutcome earlier = apply_earlier_stages(windows);
    if (earlier == StageOutcome::refuted) return true;
    if (depth == RefuterDepth::quick) return false;
    const StageOutcome outcome = apply_programme(windows);
    if (outcome == StageOutcome::refuted) return true;
    if (outcome == StageOutcome::nothing && earlier == StageOutcome::nothing) return false;
    if (!prune(windows)) return true;
  }
  return refute_by_energy(windows);
}

bool TransferRefuter::tighten_by_load(TransferWindows& windows) {
  return proof::tighten_heads_by_load(windows, mixtures_, params_.tries_each_type, stages_,
                                      [&](TransferWindows& raised) { return prune(raised); });
}

// Whether an interval refutes T in which tasks without a choice of type need too much.
bool TransferRefuter::refute_by_energy(const TransferWindows& windows) {
  for (const TypeInterval& interval : violated_intervals(windows, windows.decided_shares())) {
    TransferStage stage;
    stage.loads.assign(costs_.types(), 0.0);
    stage.intervals.push_back({interval, 1});
    if (TransferCombination(windows, stage).excess(kSearchSlack) <= 0) continue;
    stages_.push_back(std::move(stage));
    return true;
  }
  return false;
}

// Shaving, which tries first what it has closed at a shorter T.  Returns whether it refutes T.
bool TransferRefuter::shave(TransferWindows& windows, int pass, RefuterDepth depth) {
  const bool is_full = depth == RefuterDepth::full;
  const double max_steps = params_.shaving_steps * (is_full ? 1 : params_.quick_shaving_share);
  const ShavingBudget budget{std::min(max_steps, remaining_shaving_steps_),
                             is_full ? kUnlimitedTries : params_.quick_tries_in_vain};
  const std::int64_t steps_before = windows.steps();
  ShavingResult result = proof::shave(windows, budget, params_.uses_clusters, earlier_closed_);
  remaining_shaving_steps_ -= static_cast<double>(windows.steps() - steps_before);
  if (pass == 0) earlier_closed_ = result.closed_choices;
  if (!result.closed_choices.empty())
    stages_.emplace_back().guesses = std::move(result.closed_choices);
  return result.is_refuted;
}

StageOutcome TransferRefuter::apply_earlier_stages(TransferWindows& windows) {
  StageOutcome total_outcome = StageOutcome::nothing;
  bool any_closed = true;
  for (int repeat = 0; repeat < 2 && any_closed; ++repeat) {
    any_closed = false;
    for (auto stage = earlier_stages_.rbegin(); stage != earlier_stages_.rend(); ++stage) {
      const StageOutcome outcome = apply_stage(windows, stage->stage_at(windows.makespan()));
      if (outcome == StageOutcome::nothing) continue;
      if (outcome == StageOutcome::refuted || !prune(windows)) return StageOutcome::refuted;
      total_outcome = StageOutcome::closed;
      any_closed = true;
    }
  }
  return total_outcome;
}

StageOutcome TransferRefuter::apply_programme(TransferWindows& windows) {
  if (windows.makespan() > useless_lp_above_ ||
      (proven_bound_ < params_.light_bound * windows.makespan() &&
       mean_slack(windows) > params_.loose_slack))
    return StageOutcome::nothing;
  std::optional<TransferStage> stage = solve_programme(windows);
  if (!stage) return StageOutcome::nothing;
  remember_stage(*stage, windows.makespan());
  return apply_stage(windows, *std::move(stage));
}

StageOutcome TransferRefuter::apply_stage(TransferWindows& windows, TransferStage stage) {
  const TransferCombination combination(windows, stage);
  if (combination.excess(kSearchSlack) > 0) {
    stages_.push_back(std::move(stage));
    return StageOutcome::refuted;
  }
  const std::vector<TaskOnType> pairs = combination.violating_types(kSearchSlack);
  const std::vector<EdgePlacement> placements = combination.violating_placements(kSearchSlack);
  if (pairs.empty() && placements.empty()) return StageOutcome::nothing;
  for (const TaskOnType& pair : pairs) windows.close_type(pair.task, pair.type);
  for (const EdgePlacement& placement : placements) windows.close_placement(placement);
  stages_.push_back(std::move(stage));
  return StageOutcome::closed;
}

// Solves the programme of the open choices, and adds violated intervals to it.  Returns its prices
// as a combined row; none where the solver gives none.
std::optional<TransferStage> TransferRefuter::solve_programme(const TransferWindows& windows) {
  const double makespan = windows.makespan();
  const auto refutes = [&](const TransferStage& stage) {
    return TransferCombination(windows, stage).excess(kSearchSlack) > 0;
  };
  std::vector<TypeInterval> intervals;
  for (const SlidingInterval& sliding : reused_intervals_)
    if (const std::optional<TypeInterval> interval_now = sliding.interval_at(makespan))
      intervals.push_back(*interval_now);
  std::optional<TransferStage> stage;
  double value_before = 0;  // of the last round but one
  for (int round = 0;; ++round) {
    const TransferLp lp(windows, intervals, makespan);
    const auto should_stop = [&](const opt::InteriorPoint& point) {
      if (point.value < params_.hopeless_value) return true;
      if (point.gap > 0.1 || point.gap < 0) return false;
      return point.value * (1 - point.gap) > 1 && refutes(lp.stage(point.prices));
    };
    const opt::InteriorPoint optimum = opt::solve_interior(
        lp.programme(), lp.interior_point(),
        {params_.lp_tolerance, should_stop, remaining_multiplications_ / kUsualInteriorSteps});
    remaining_multiplications_ -= optimum.multiplications;
    if (optimum.prices.empty()) return stage;
    if (optimum.value < params_.hopeless_value) {
      useless_lp_above_ = params_.hopeless_range * makespan;
      return stage;
    }
    stage = lp.stage(optimum.prices);
    const double last_value = round > 0 ? lp_value_ : 0;
    lp_value_ = optimum.value * (1 - optimum.gap) * makespan;
    const bool stagnates = lp_value_ < value_before * (1 + kLeastViolation);
    value_before = last_value;
    if (round >= params_.max_rounds || stagnates || refutes(*stage)) return stage;
    const std::vector<TypeInterval> violated =
        violated_intervals(windows, lp.shares(optimum.point));
    if (violated.empty()) return stage;
    intervals.insert(intervals.end(), violated.begin(), violated.end());
  }
}

// Keeps for other T the intervals with a price, and the whole combined row.
void TransferRefuter::remember_stage(const TransferStage& stage, double makespan) {
  reused_intervals_.clear();
  EarlierStage earlier{stage, {}};
  earlier.rows.intervals.clear();
  for (const PricedInterval& priced : stage.intervals) {
    const SlidingInterval interval(priced.interval, makespan);
    earlier.intervals.push_back({interval, priced.price});
    if (priced.price > params_.reused_price &&
        reused_intervals_.size() < params_.max_reused_intervals)
      reused_intervals_.push_back(interval);
  }
  earlier_stages_.push_back(std::move(earlier));
  if (static_cast<int>(earlier_stages_.size()) > params_.max_earlier_stages)
    earlier_stages_.erase(earlier_stages_.begin());
}

// For each type the intervals that the shares violate most, from different begins.
std::vector<TypeInterval> TransferRefuter::violated_intervals(const TransferWindows& windows,
                                                              const Table& share) const {
  std::vector<TypeInterval> intervals;
  for (int type = 0; type < costs_.types(); ++type) {
    const EnergySweep sweep = make_sweep(windows, type, share);
    std::vector<EnergySweep::Excess> violations =
        sweep.violated_intervals(sweep.candidate_begins(params_.max_begins), windows.makespan());
    std::stable_sort(violations.begin(), violations.end(),
                     [](const auto& a, const auto& b) { return a.amount > b.amount; });
    for (std::size_t k = 0; k < std::min(params_.new_intervals_per_type, violations.size()); ++k)
      intervals.push_back(violations[k].interval);
  }
  return intervals;
}

}  // namespace cosched::dags::proof
