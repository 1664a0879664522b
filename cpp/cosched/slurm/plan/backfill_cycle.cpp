#include "cosched/slurm/plan/backfill_cycle.hpp"

namespace cosched::slurm {

BackfillCycle::BackfillCycle(const Clocks& clocks, Tables& tables, Select& select)
    : clocks_(clocks),
      tables_(tables),
      select_(select),
      settings_(tables.scenario.settings().backfill),
      planned_(tables.scenario.machine().nodes),
      counts_(tables.scenario),
      nothing_(tables.scenario.kinds()),
      left_(tables.scenario.machine().nodes),
      avail_(tables.scenario.machine().nodes),
      late_(tables.scenario.machine().nodes) {}

std::vector<int> BackfillCycle::run(double time) {
  begun_ = time_ = time;
  begin_ = whole(time);
  looked_ = 0;
  tries_on_ = 0;
  piece_ = 0;
  late_.clear();
  ++cycle_;
  next_slice();
  tables_.journal.cycle(time);
  tables_.admit(time);
  tables_.arrange_queue();
  starts_ = 0;
  if (same_as_last(time)) {
    repeat_last();
    return {};
  }
  clear_planned();
  if (tables_.queue.entries().empty()) {
    kept_ = {};
    return {};
  }
  const Second slot = clocks_.rounded(begin_, settings_.resolution);
  map_end_ = clocks_.rounded(begin_ + settings_.window, settings_.resolution);
  next_slot_ = slot + settings_.resolution;
  map_.reset(slot, map_end_, tables_.allocations.up());
  counts_.reset();
  planned_jobs_.clear();
  rejected_array_ = planned_array_ = -1;
  // When a running job's limit passes next; if one has passed, it is expected "now" from then on.
  const std::vector<int>& running = tables_.allocations.running();
  kept_ = {changes(),
           running.empty() ? kNever : std::max(begin_, tables_.allocations.due(running.front())),
           false,
           0,
           false,
           select_.left()};
  queue_.clear();
  for (const Entry entry : tables_.queue.entries())
    if (!tables_.readiness.array_full(entry.job))
      queue_.emplace_back(entry, tables_.queue.priority(entry.job));
  at_ = 0;
  return plan_queue();
}

// --- in pieces ---

void BackfillCycle::next_slice() {
  slice_ = nullptr;
  ++pieces_;
  looked_before_ = looked_;
  if (cycle_ > clocks_.slices.size()) return;
  const std::vector<Slice>& pieces = clocks_.slices[cycle_ - 1];
  if (piece_ < pieces.size()) slice_ = &pieces[piece_++];
}

std::vector<int> BackfillCycle::resume() {
  next_slice();
  time_ = std::exchange(resumes_, kInfinity);
  begin_ = whole(time_);
  return plan_queue();
}

void BackfillCycle::cleaned(const NodeBits& nodes) {
  if (!rests()) return;
  late_ |= nodes;
  late_ -= tables_.allocations.cleaning();
}

// It rests, or has given up.
bool BackfillCycle::cut_short() {
  if (!slice_ || std::isnan(slice_->resumes) || looked_ < slice_->looked) return false;
  resumes_ = slice_->resumes;
  tries_on_ = slice_->amid ? next_try() : 0;
  return true;
}

// When the next job is tried again, where one try is not enough for it.
Second BackfillCycle::next_try() {
  const Second now = whole(slice_->over);
  for (std::size_t k = at_; k < queue_.size(); ++k) {
    const Entry entry = queue_[k].first;
    if (passed_over(entry) || rejected(entry)) continue;
    if (tables_.readiness.array_full(entry.job) || !tables_.licences.enough(entry.job)) break;
    const Tested tried = test(entry, now, 0, true);
    return tried.then == Then::stop ? tried.until : 0;
  }
  return 0;
}

// When the next job is looked at.
double BackfillCycle::moment() const {
  if (!slice_) return time_ + kept_.tests * clocks_.test_cost;
  const double part =
      static_cast<double>(looked_ - looked_before_) / std::max(1, slice_->looked - looked_before_);
  return time_ + std::min(part, 1.0) * (slice_->over - time_);
}

std::vector<int> BackfillCycle::plan_queue() {
  started_.clear();
  Second now = begin_;
  for (; at_ < queue_.size() && !cut_short(); ++at_) {
    const Entry entry = queue_[at_].first;
    if (kept_.tests >= settings_.max_job_test) break;
    now = whole(moment());
    if (!slice_ && now - begin_ >= settings_.max_time) break;
    const int before = looked_;
    const bool skips = skipped(entry);
    const Second from = looked_ > before ? std::exchange(tries_on_, 0) : 0;
    if (from == 0) restore();
    if (skips) continue;
    const Tested tested = test(entry, now, from);
    kept_.until = std::min(kept_.until, tested.until);
    starts_ += tested.started;
    if (tested.then == Then::stop) break;
    if (tested.started && settings_.max_job_start &&
        static_cast<int>(started_.size()) >= settings_.max_job_start)
      break;
  }
  if (!started_.empty())
    tables_.queue.drop([&](int job) { return tables_.allocations.started(job); });
  tables_.queue.settle();
  if (rests()) return started_;
  kept_.left = select_.left();
  keep_planned(now);
  if (slice_ || now > begin_ || tables_.reservations.any(time_)) kept_.until = begin_;
  return started_;
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
         now_after(kept_.tests) <= begin_ && select_.left() == kept_.begun;
}

// What the plan leaves behind.
void BackfillCycle::repeat_last() {
  select_.leave(kept_.left);
  if (kept_.moved) tables_.updates.jobs = begin_;
  if (planned_.any() || kept_.marked) tables_.updates.nodes = begin_;
}

void BackfillCycle::clear_planned() {
  if (!planned_.any()) return;
  planned_.clear();
  tables_.updates.nodes = begin_;
}

void BackfillCycle::keep_planned(Second now) {
  const Allocations& allocations = tables_.allocations;
  // 24.11 takes the mark off allocated nodes, and that is a change, too.
  kept_.marked = tables_.scenario.settings().since_24 && planned_.any();
  if (kept_.marked) tables_.updates.nodes = now;
  planned_ -= allocations.busy();
  if (tables_.scenario.own_cores() && !tables_.scenario.settings().since_24)
    for (const int job : allocations.running()) planned_ -= allocations.nodes(job);
  if (planned_.any()) tables_.updates.nodes = now;
}

// --- one job ---

int BackfillCycle::array_at(std::size_t at) const {
  return at < queue_.size() ? tables_.scenario.array(queue_[at].first.job) : -1;
}

// What starts: of an array the first task like this one that waits, though it may have a plan.
int BackfillCycle::first_task() const {
  const int array = array_at(at_);
  std::size_t first = at_;
  const Entry at = queue_[at_].first;
  for (std::size_t k = at_; array >= 0 && k-- > 0 && array_at(k) == array;) {
    const Entry one = queue_[k].first;
    const bool like =
        one.part == at.part && tables_.scenario.job(one).kind == tables_.scenario.job(at).kind;
    if (like && !tables_.allocations.started(one.job)) first = k;
  }
  return queue_[first].first.job;
}

// A pass since the cycle's begin is undone, of an array, which is one record of Slurm's queue, for
// all tasks at once.
void BackfillCycle::restore() {
  const int array = array_at(at_);
  if (array >= 0 && at_ > 0 && array_at(at_ - 1) == array) return;
  for (std::size_t k = at_; k == at_ || (array >= 0 && array_at(k) == array); ++k)
    tables_.queue.restore(queue_[k].first.job, queue_[k].second);
}

// Started in another partition, or over a limit.
bool BackfillCycle::passed_over(Entry entry) const {
  return tables_.allocations.started(entry.job) || tables_.preemption.in_progress(entry.job) ||
         tables_.policy.before_nodes(entry);
}

// Behind a task of its array that has no plan.
bool BackfillCycle::rejected(Entry entry) const {
  const int array = tables_.scenario.array(entry.job);
  return array >= 0 && rejected_array_ == array && rejected_part_ == entry.part;
}

// Not looked at; or looked at, and out of licences, or one task more than run at once.
bool BackfillCycle::skipped(Entry entry) {
  if (passed_over(entry) || rejected(entry)) return true;
  if (const int array = tables_.scenario.array(entry.job); array >= 0) {
    rejected_array_ = array;  // until it starts or has a plan
    rejected_part_ = entry.part;
  }
  ++looked_;
  return tables_.readiness.array_full(entry.job) || !tables_.licences.enough(entry.job);
}

// Where plans end: 22.05 rounds down, 24.11 up.
Second BackfillCycle::end_of(Second begin, Second limit) const {
  const Second grid = settings_.resolution;
  const Second up = tables_.scenario.settings().since_24 ? grid - 1 : 0;
  return clocks_.rounded(begin + limit + up, grid);
}

// As the last test of its kind; then this one leaves behind what that did.
bool BackfillCycle::found_nothing(const Nothing& last, const Circumstances& here, Entry entry) {
  if (!(last.at == here)) return false;
  if (last.nodes > 0 && !tables_.policy.with_nodes(entry, last.nodes)) return false;
  kept_.tests += last.counted;
  if (last.found) tables_.queue.tested(entry.job);
  if (last.moved) tables_.updates.jobs = here.now;
  kept_.moved = kept_.moved || last.moved;
  return true;
}

// `probe`: nothing happens; stop: it would be tried again, from `until` on.
// One job in the loop of Slurm's cycle, which goes back to its head from five places.
// NOLINTNEXTLINE(readability-function-cognitive-complexity,readability-function-size)
BackfillCycle::Tested BackfillCycle::test(Entry entry, Second now, Second later, bool probe) {
  const Scenario& scenario = tables_.scenario;
  const Job& job = scenario.job(entry);
  const bool since_24 = scenario.settings().since_24;
  // Where age matters, every second does.
  Second until = scenario.settings().reserve.min_age > 0 ? now : kNever;
  if (probe ? !counts_.admits(job, entry.part) : !counts_.admit(job, entry.part))
    return {Then::next, false, until};
  // One of a QOS with NoReserve has no plan; where jobs are preempted, a minute is enough for it.
  const bool no_reserve = job.qos >= 0 && scenario.machine().qos[job.qos].no_reserve;
  const bool brief = no_reserve && tables_.preemption.enabled();
  const Second limit = brief ? Second{60} : job.limit;
  const bool planned =
      settings_.one_reserve_per_job &&
      std::find(planned_jobs_.begin(), planned_jobs_.end(), entry.job) != planned_jobs_.end();
  const bool at_once = tables_.queue.holds_back(entry.job, now) || planned;
  const bool reserved = job.conditions.reservation >= 0 || tables_.reservations.any(time_);
  const Circumstances here{entry.part,       at_once,        now,
                           pieces_,          map_.changes(), tables_.allocations.version(),
                           select_.weighed()};
  const bool by_kind = !probe && later == 0 && job.ask.gpus == 0 && select_.remembers() &&
                       preempted_by(scenario, entry).empty();
  Nothing* before = by_kind ? &nothing_[job.kind] : nullptr;
  if (before && found_nothing(*before, here, entry)) return {Then::next, false, before->until};
  bool counted = false, moved = false, tested = false;
  const auto nothing = [&](Second holds, int nodes = 0) {
    if (before) *before = {here, counted, tested, moved, nodes, holds};
    return Tested{Then::next, false, holds};
  };
  PlanMap::Window window{{}, kNever, kNever};
  const NodeBits* allowed = &scenario.part(entry).nodes;
  for (Second from = std::max(now, later);;) {
    if (probe && from > now) return {Then::stop, false, from};
    Second reserved_end = 0;
    if (reserved) {
      left_ = scenario.part(entry).nodes;
      const Reservations::Left left = tables_.reservations.leave(entry, from, true, time_, left_);
      if (!left.some) return nothing(until);
      from = left.from;
      if (left.overlap)
        reserved_end =
            tables_.reservations.next_end(from, settings_.resolution, clocks_.epoch, time_);
      allowed = &left_;
    }
    if (late_.any()) {
      if (allowed != &left_) left_ = *allowed;
      left_ -= late_;
      allowed = &left_;
    }
    if (since_24 && from > map_end_) return nothing(until);
    window = map_.window(*allowed, job.nodes, from, limit, since_24);
    if (from == now) until = std::min(until, window.holds_until);
    if (reserved_end > 0 && ++reserved_end < map_end_)
      window.later = std::min(window.later, reserved_end);
    const NodeBits* avail = window.nodes.get();
    if (job.set >= 0) {
      avail_ = *avail;
      avail_ &= scenario.machine().sets[job.set];
      avail = &avail_;
    }
    Select::Slot slot{kNever, {}};
    if (avail->at_least(job.nodes)) {
      if (!std::exchange(counted, true) && !probe) ++kept_.tests;
      const auto found = will_run(entry, *avail, {now, at_once, from, window.later});
      tested = tested || found;
      if (found && !probe) tables_.queue.tested(entry.job);
      slot = found.value_or(slot);
    }
    if (from > slot.begin) {
      slot.begin = from;
      tables_.updates.jobs = now;
      kept_.moved = moved = true;
    }
    if (probe && slot.begin <= std::min(now, window.later)) return {Then::next, false, until};
    if (slot.begin <= now + 1) until = std::min(until, now);
    const bool overlap_first = since_24 && slot.begin > now && slot.begin < kNever;
    if (overlap_first && !map_.free(*slot.nodes, clocks_.rounded(slot.begin, settings_.resolution),
                                    end_of(slot.begin, limit))) {
      from = slot.begin;
      continue;
    }
    if (slot.begin <= now) {
      window.later = kNever;
      before = nullptr;  // whether it starts is not for its kind to say
      if (slot.nodes->meets(tables_.allocations.cleaning()))
        slot.begin = now + 1;
      else if (const Tried tried = start(entry, *avail); tried != Tried::no_nodes)
        return {Then::next, tried == Tried::started, until};
    }
    if (slot.begin > now && at_once) return nothing(until);
    if (slot.begin > window.later) {
      from = window.later;
      continue;
    }
    if (slot.begin == kNever) return nothing(until);
    if (slot.begin > begin_ + settings_.window)
      return nothing(std::min(until, slot.begin - settings_.window));
    const Second first = clocks_.rounded(slot.begin, settings_.resolution);
    const Second last = end_of(slot.begin, limit);
    if (slot.begin > now && !overlap_first && !map_.free(*slot.nodes, first, last)) {
      from = slot.begin;
      continue;
    }
    if (probe || no_reserve) return nothing(until);
    if (const int nodes = slot.nodes->count(); tables_.policy.with_nodes(entry, nodes))
      return nothing(until, nodes);
    return reserve(entry, slot, first, last, until);
  }
}

// On nodes picked anew among the idle ones, if there are enough.  A limit is tested whether there
// are or not.
BackfillCycle::Tried BackfillCycle::start(Entry entry, const NodeBits& avail) {
  const Loan<Choice> choice = select_.now(entry, avail);
  if (tables_.policy.with_nodes(entry, choice.get())) return Tried::over_limit;
  if (!choice) {
    preempt(entry, avail);
    return Tried::no_nodes;
  }
  entry.job = first_task();
  tables_.start(entry, *choice, time_, Scheduler::backfill);
  started_.push_back(entry.job);
  rejected_array_ = -1;
  const Scenario& scenario = tables_.scenario;
  const bool whole_nodes = scenario.own_cores() ? scenario.job(entry.job).ask.exclusive
                                                : scenario.settings().select.cons_tres;
  if (whole_nodes && map_.made() < settings_.node_space_size)
    map_.reserve(tables_.allocations.nodes(entry.job), map_.begin(),
                 end_of(tables_.allocations.due(entry.job), 0), settings_.resolution);
  return Tried::started;
}

// Jobs that it may end are as good as gone, unless it fits beside them now.
std::optional<Select::Slot> BackfillCycle::will_run(Entry entry, const NodeBits& avail,
                                                    const Select::Time& time) {
  std::vector<int> candidates = tables_.preemption.candidates(entry, time.now);
  if (candidates.empty()) return select_.will_run(entry, avail, time);
  Select::Time at_once = time;
  at_once.at_once = true;
  if (const auto slot = select_.will_run(entry, avail, at_once)) return slot;
  const Preemption::Lifted lifted(tables_.preemption, std::move(candidates));
  return select_.will_run(entry, avail, time);
}

void BackfillCycle::preempt(Entry entry, const NodeBits& avail) {
  const Second now = whole(time_);
  const auto victims = tables_.preemption.victims(entry, avail, now, select_);
  if (victims.jobs.empty() || tables_.policy.with_nodes(entry, victims.choice.get())) return;
  if (!tables_.preemption.sends(entry.job, now)) return;
  for (const int job : victims.jobs) tables_.preempt(job, time_);
}

BackfillCycle::Tested BackfillCycle::reserve(Entry entry, const Select::Slot& slot, Second first,
                                             Second last, Second until) {
  tables_.journal.plan(entry, begun_, slot.begin, last, *slot.nodes);
  planned_ |= *slot.nodes;
  if (map_.made() >= settings_.node_space_size) return {Then::stop, false, until};
  // The map's own begin moves on with time: until it reaches this reservation, or the end of the
  // window does, nothing is different.
  if (last + settings_.resolution >= map_end_)
    until = std::min({until, next_slot_, map_end_ + settings_.resolution - settings_.window});
  until = std::min(until, std::max(first, next_slot_));
  map_.reserve(*slot.nodes, first, last, settings_.resolution);
  if (settings_.one_reserve_per_job) planned_jobs_.push_back(entry.job);
  plan_next_task(entry.job);
  return {Then::next, false, until};
}

// Whether the next task of the job's array is looked at, too.
void BackfillCycle::plan_next_task(int job) {
  const Conditions& conditions = tables_.scenario.job(job).conditions;
  if (conditions.array < 0) return;
  if (std::exchange(planned_array_, conditions.array) != conditions.array) array_plans_ = 0;
  ++array_plans_;
  const bool full = tables_.scenario.settings().since_24 && conditions.array_limit > 0 &&
                    array_plans_ + tables_.readiness.array_running(job) >= conditions.array_limit;
  if (array_plans_ < settings_.array_reserve && !full) rejected_array_ = -1;
}

}  // namespace cosched::slurm
