#include "cosched/slurm/plan/cycle_memory.hpp"

namespace cosched::slurm {
namespace {

// True when PreemptExemptTime keeps some jobs from being preempted for a while.
bool has_exempt_times(const Scenario& scenario) {
  const std::vector<Qos>& qos = scenario.machine().qos;
  return scenario.settings().preempt.exempt_time > 0 ||
         std::any_of(qos.begin(), qos.end(),
                     [](const Qos& each) { return each.preempt_exempt_time > 0; });
}

}  // namespace

CycleMemory::CycleMemory(const Clocks& clocks, ControllerState& controller, Select& select,
                         bool is_on)
    : clocks_(clocks),
      controller_(controller),
      select_(select),
      settings_(controller.scenario().settings().backfill),
      is_on_(is_on),
      has_exempt_times_(has_exempt_times(controller.scenario())),
      negative_results_(controller.scenario().kind_count()) {}

// --- cycles ---

std::int64_t CycleMemory::change_count() const {
  return controller_.allocations().change_count() + controller_.queue().change_count();
}

bool CycleMemory::is_plan_unchanged(double time, int test_count) const {
  if (!is_on_ || controller_.journal().notes_plans() || controller_.journal().notes_reasons())
    return false;
  const Second now = to_second(time);
  return change_count() == last_cycle_.change_count && now < last_cycle_.valid_until &&
         to_second(time + test_count * clocks_.test_cost) <= now &&
         select_.weights() == last_cycle_.weights_before;
}

void CycleMemory::reapply_last_cycle(Second now, bool has_planned_nodes) {
  select_.restore_weights(last_cycle_.weights_after);
  if (last_cycle_.has_deferred_start) controller_.note_job_change(now);
  if (has_planned_nodes || last_cycle_.marks_allocated_nodes) controller_.note_node_change(now);
}

void CycleMemory::begin_cycle(Second now, Second window_end, bool recalls) {
  recalls_ = recalls;
  window_end_ = window_end;
  next_resolution_step_ = clocks_.round_down(now, settings_.resolution) + settings_.resolution;
  last_cycle_ = {};
  last_cycle_.change_count = change_count();
  last_cycle_.weights_before = select_.weights();
  // The plan may change when the limit of a running job passes; a job whose limit has passed is
  // expected to end "now", which is another time in each cycle.
  const std::vector<int>& running = controller_.allocations().running_jobs();
  last_cycle_.valid_until =
      running.empty() ? kNever
                      : std::max(now, controller_.allocations().expected_end(running.front()));
}

void CycleMemory::end_cycle(Second now, bool can_differ_next_cycle, bool marks_nodes) {
  last_cycle_.weights_after = select_.weights();
  last_cycle_.marks_allocated_nodes = marks_nodes;
  if (can_differ_next_cycle) last_cycle_.valid_until = now;
}

// --- tries ---

void CycleMemory::begin_try(QueueEntry entry, Second now, bool is_first_try) {
  const Scenario& scenario = controller_.scenario();
  entry_ = entry;
  now_ = now;
  valid_until_ = kNever;
  // Where the age of a job matters for its reservation, every second matters.
  if (scenario.settings().reservation_minimums.min_age > 0) expire_now();
  const bool may_preempt_others = !preempted_by(scenario, entry).empty();
  // That a job is not exempt from preemption any more is no change that is counted.
  if (may_preempt_others && has_exempt_times_) expire_now();
  const Job& job = scenario.job(entry);
  const bool is_decided_by_kind = is_first_try && job.request.gpus == 0 && !may_preempt_others;
  kind_result_ = is_on_ && recalls_ && is_decided_by_kind ? &negative_results_[job.kind] : nullptr;
}

const NegativeResult* CycleMemory::recall(const TryKey& key) {
  if (!kind_result_ || !(kind_result_->key == key)) return nullptr;
  const int node_count = kind_result_->effects.limited_node_count;
  if (node_count > 0 && !controller_.policy().violation_with_nodes(entry_, node_count))
    return nullptr;
  last_cycle_.valid_until = std::min(last_cycle_.valid_until, kind_result_->valid_until);
  return kind_result_;
}

void CycleMemory::observe_test(Second from, Second unchanged_until, Second begin) {
  if (from == now_) valid_until_ = std::min(valid_until_, unchanged_until);
  // A slot of now, or of a second later (after a job past its limit, or on a completing node), is
  // another one in each second.
  if (begin <= now_ + 1) valid_until_ = std::min(valid_until_, now_);
}

void CycleMemory::end_try(const TryKey& key, const TryEffects& effects, Verdict verdict,
                          Second begin, Second end) {
  const bool has_reservation = verdict == Verdict::reserved;
  if (verdict == Verdict::after_window)
    valid_until_ = std::min(valid_until_, begin - settings_.window);
  if (has_reservation) limit_validity_to_plan(begin, end);
  last_cycle_.valid_until = std::min(last_cycle_.valid_until, valid_until_);
  // Whether a job starts is not decided by its kind.
  const bool is_negative =
      !has_reservation && verdict != Verdict::node_space_full && !effects.has_tried_start;
  if (kind_result_ && is_negative) *kind_result_ = {key, effects, verdict, valid_until_};
}

// A later cycle cuts this plan at its own begin and at the end of its window: the plan is the same
// until the rounded begin passes that of the plan, or the end of the window passes its end.
void CycleMemory::limit_validity_to_plan(Second begin, Second end) {
  const Second resolution = settings_.resolution;
  if (end + resolution >= window_end_)
    valid_until_ = std::min(
        {valid_until_, next_resolution_step_, window_end_ + resolution - settings_.window});
  valid_until_ = std::min(valid_until_,
                          std::max(clocks_.round_down(begin, resolution), next_resolution_step_));
}

}  // namespace cosched::slurm
