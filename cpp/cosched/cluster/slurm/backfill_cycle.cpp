#include "cosched/cluster/slurm/backfill_cycle.hpp"

#include <algorithm>
#include <utility>

namespace cosched::cluster::slurm {

BackfillCycle::BackfillCycle(const Clocks& clocks, Tables& tables, Select& select)
    : clocks_(clocks),
      tables_(tables),
      select_(select),
      settings_(tables.scenario.settings().backfill),
      planned_(tables.scenario.machine().nodes),
      counts_(tables.scenario) {}

std::vector<int> BackfillCycle::run(double time) {
  time_ = time;
  begin_ = whole(time);
  tables_.journal.cycle(time);
  tables_.queue.recalculate(time);
  if (same_as_last(time)) {
    repeat_last();
    return {};
  }
  clear_planned();
  if (tables_.queue.jobs().empty()) return {};
  const Second slot = clocks_.rounded(begin_, settings_.resolution);
  map_end_ = clocks_.rounded(begin_ + settings_.window, settings_.resolution);
  next_slot_ = slot + settings_.resolution;
  map_.reset(slot, map_end_, tables_.allocations.up());
  counts_.reset();
  return plan_queue();
}

std::vector<int> BackfillCycle::plan_queue() {
  const std::vector<int>& running = tables_.allocations.running();
  // When a running job's limit passes next; if one has passed, it is expected "now" from then on.
  kept_ = {changes(),
           running.empty() ? kNever : std::max(begin_, tables_.allocations.due(running.front())),
           false, 0};
  std::vector<int> started;
  Second now = begin_;
  for (const int job : tables_.queue.jobs()) {
    if (kept_.tests >= settings_.max_job_test) break;
    now = now_after(kept_.tests);
    if (now - begin_ >= settings_.max_time) break;
    const Tested tested = test(job, now);
    kept_.until = std::min(kept_.until, tested.until);
    if (tested.started) started.push_back(job);
    if (tested.then == Then::stop) break;
    if (tested.started && settings_.max_job_start &&
        static_cast<int>(started.size()) >= settings_.max_job_start)
      break;
  }
  if (!started.empty())
    tables_.queue.drop([&](int job) { return tables_.allocations.started(job); });
  keep_planned(now);
  if (now > begin_) kept_.until = begin_;
  return started;
}

// --- the last plan ---

std::int64_t BackfillCycle::changes() const {
  return tables_.allocations.changes() + tables_.queue.changes();
}

// The second after so many tests in this cycle.
Second BackfillCycle::now_after(int tests) const {
  return whole(time_ + tests * clocks_.test_cost);
}

bool BackfillCycle::same_as_last(double time) const {
  const bool silent = !tables_.journal.plans() && !tables_.journal.told();
  return silent && changes() == kept_.changes && whole(time) < kept_.until &&
         now_after(kept_.tests) <= begin_;
}

// What the plan leaves behind.
void BackfillCycle::repeat_last() {
  if (kept_.moved) tables_.updates.jobs = begin_;
  if (planned_.any()) tables_.updates.nodes = begin_;
}

void BackfillCycle::clear_planned() {
  if (!planned_.any()) return;
  planned_.clear();
  tables_.updates.nodes = begin_;
}

void BackfillCycle::keep_planned(Second now) {
  const Allocations& allocations = tables_.allocations;
  planned_ -= allocations.busy();
  if (tables_.scenario.own_cores())
    for (const int job : allocations.running()) planned_ -= allocations.nodes(job);
  if (planned_.any()) tables_.updates.nodes = now;
}

// --- one job ---

BackfillCycle::Tested BackfillCycle::test(int job, Second now) {
  const Scenario& scenario = tables_.scenario;
  const Second limit = scenario.job(job).limit;
  const int wanted = scenario.job(job).nodes;
  const bool at_once = tables_.queue.holds_back(job, now);
  // Where age matters, every second does.
  Second until = scenario.settings().reserve.min_age > 0 ? now : kNever;
  if (!counts_.admit(scenario.job(job))) return {Then::next, false, until};
  bool counted = false;
  PlanMap::Window window{nullptr, kNever, 0, kNever};
  for (Second from = now;;) {
    window = map_.window(scenario.part(job).nodes, wanted, from, limit, window.record);
    if (from == now) until = std::min(until, window.holds_until);
    Select::Slot slot{kNever, nullptr};
    if (window.nodes->count() >= wanted) {
      if (!std::exchange(counted, true)) ++kept_.tests;
      slot = select_.will_run(job, *window.nodes, now, at_once).value_or(slot);
    }
    if (from > slot.begin) {
      slot.begin = from;
      tables_.updates.jobs = now;
      kept_.moved = true;
    }
    if (slot.begin <= now + 1) until = std::min(until, now);
    if (slot.begin <= now) {
      window.later = kNever;
      if (slot.nodes->meets(tables_.allocations.cleaning()))
        slot.begin = now + 1;
      else if (start(job, *window.nodes))
        return {Then::next, true, until};
    }
    if (slot.begin > now && at_once) return {Then::next, false, until};
    if (slot.begin > window.later) {
      from = window.later;
      continue;
    }
    if (slot.begin == kNever) return {Then::next, false, until};
    if (slot.begin > begin_ + settings_.window)
      return {Then::next, false, std::min(until, slot.begin - settings_.window)};
    const Second first = clocks_.rounded(slot.begin, settings_.resolution);
    const Second last = clocks_.rounded(slot.begin + limit, settings_.resolution);
    if (slot.begin > now && !map_.free(*slot.nodes, first, last)) {
      from = slot.begin;
      continue;
    }
    return reserve(job, slot, first, last, until);
  }
}

// On nodes picked anew among the idle ones; whether there are enough.
bool BackfillCycle::start(int job, const NodeBits& avail) {
  const NodeBits* nodes = select_.now(job, avail);
  if (nodes == nullptr) return false;
  tables_.start(job, *nodes, time_, Scheduler::backfill);
  const bool whole_nodes =
      tables_.scenario.settings().select.cons_tres && !tables_.scenario.own_cores();
  if (whole_nodes && map_.made() < settings_.node_space_size)
    map_.reserve(tables_.allocations.nodes(job), map_.begin(),
                 clocks_.rounded(tables_.allocations.due(job), settings_.resolution),
                 settings_.resolution);
  return true;
}

BackfillCycle::Tested BackfillCycle::reserve(int job, const Select::Slot& slot, Second first,
                                             Second last, Second until) {
  tables_.journal.plan(job, time_, slot.begin, last, *slot.nodes);
  planned_ |= *slot.nodes;
  if (map_.made() >= settings_.node_space_size) return {Then::stop, false, until};
  // The map's own begin moves on with time: until it reaches this reservation, or the end of the
  // window does, nothing is different.
  if (last + settings_.resolution >= map_end_)
    until = std::min({until, next_slot_, map_end_ + settings_.resolution - settings_.window});
  until = std::min(until, std::max(first, next_slot_));
  map_.reserve(*slot.nodes, first, last, settings_.resolution);
  return {Then::next, false, until};
}

}  // namespace cosched::cluster::slurm
