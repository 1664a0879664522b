// The backfill cycle: every job in order of the queue gets a plan (SLURM.md 4).
#include <algorithm>
#include <cmath>

#include "cosched/cluster/slurm/controller.hpp"

namespace cosched::cluster::slurm {

// When a running job's limit passes next, if none has passed: they are expected "now" from then on.
Second SlurmController::first_due_after(Second now) const {
  const Second first = due(running_.front());
  return first <= now ? now : first;
}

void SlurmController::clear_planned(Second now) {
  if (!planned_.any()) return;
  planned_.clear();
  node_update_ = now;
}

void SlurmController::keep_planned(Second now) {
  planned_ -= busy_;
  if (own_cores())
    for (const int job : running_) planned_ -= at(job).nodes;
  if (planned_.any()) node_update_ = now;
}

// bf_max_job_user and its kind; counts the test.
bool SlurmController::skipped_by_count(int job) {
  const auto partition = static_cast<std::size_t>(given(job).partition);
  const auto user = static_cast<std::size_t>(given(job).user);
  int& both = by_user_part_[user * machine_.parts.size() + partition];
  if (bf_user_part_ && both >= bf_user_part_) return true;
  if (bf_part_ && by_part_[partition] >= bf_part_) return true;
  if (bf_user_ && by_user_[user] >= bf_user_) return true;
  ++both, ++by_part_[partition], ++by_user_[user];
  return false;
}

// Fills avail_ with the nodes that nobody has reserved in any record that the job would meet;
// returns when to look again, or kNever.
// `at` is a record before all that end behind `from`, and moves on to the last such.
Second SlurmController::window(int job, Second from, Second limit, Second now, int& at) {
  const NodeBits& all = part(job).nodes;
  const int wanted = given(job).nodes;
  avail_ = all;
  Second later = kNever;
  for (int j = at;;) {
    const SlurmMap::Record& record = map_[j];
    if (record.end <= from) {
      at = j;
    } else {
      if (from == now) valid_until_ = std::min(valid_until_, record.end);
      if (record.next && later == kNever &&
          !NodeBits::common_within(all, map_[record.next].nodes, avail_, record.nodes))
        later = record.end;
      if (record.begin > from + limit) {
        if (from == now) valid_until_ = std::min(valid_until_, record.begin - limit);
        break;
      }
      avail_ &= record.nodes;
      if (later != kNever && avail_.count() < wanted) break;  // whatever comes
    }
    if ((j = record.next) == 0) break;
  }
  return later;
}

// When the job could begin on nodes of avail_, which are then in chosen_, or kNever.  `counted`: this
// cycle has counted its test; it does so once.
Second SlurmController::begin_on_available(int job, Second now, bool now_only, bool& counted) {
  if (avail_.count() < given(job).nodes) return kNever;
  if (!std::exchange(counted, true)) ++tests_;
  Second begin = 0;
  return will_run(job, now, now_only, begin) ? begin : kNever;
}

// Whether nodes of avail_ are idle for it.
bool SlurmController::start_on_available(int job, double time) {
  if (!choose_now(job, avail_, chosen_)) return false;
  start(job, chosen_, time, true);
  ++starts_;
  if (cons_tres_ && !own_cores() && map_.made() < bf_map_size_)
    map_.reserve(at(job).nodes, map_[0].begin, rounded(due(job)), bf_resolution_);
  return true;
}

SlurmController::Test SlurmController::test(int job, Second now, double time, Second cycle) {
  const Second limit = at(job).limit;
  const bool now_only = holds_back(job, now);
  if (bf_min_age_ > 0) valid_until_ = now;
  if (skipped_by_count(job)) return Test::next;
  bool counted = false;
  int at_record = 0;
  for (Second from = now;;) {
    Second later = window(job, from, limit, now, at_record);
    Second begin = begin_on_available(job, now, now_only, counted);
    if (from > begin) {
      begin = from;
      job_update_ = now;
      moved_ = true;
    }
    if (begin <= now + 1) valid_until_ = now;
    if (begin <= now) {
      later = kNever;
      if (chosen_.meets(cleaning_))
        begin = now + 1;
      else if (start_on_available(job, time))
        return Test::started;
    }
    if (begin > now && now_only) return Test::next;
    if (begin > later) {
      from = later;
      continue;
    }
    if (begin == kNever) return Test::next;
    if (begin > cycle + bf_window_) {
      valid_until_ = std::min(valid_until_, begin - bf_window_);
      return Test::next;
    }
    const Second first = rounded(begin), last = rounded(begin + limit);
    if (begin > now && !map_.free(chosen_, first, last)) {
      from = begin;
      continue;
    }
    return reserve(job, time, begin, first, last);
  }
}

SlurmController::Test SlurmController::reserve(int job, double time, Second begin, Second first,
                                               Second last) {
  tell(time, job, SlurmAction::plan, begin);
  if (plans_) note(time, job, SlurmAction::plan, begin, last, &chosen_);
  planned_ |= chosen_;
  if (map_.made() >= bf_map_size_) return Test::stop;
  // The map's own begin moves on with time: until it reaches this reservation, or the end of the
  // window does, nothing is different.
  if (last + bf_resolution_ >= map_end_)
    valid_until_ = std::min({valid_until_, next_slot_, map_end_ + bf_resolution_ - bf_window_});
  valid_until_ = std::min(valid_until_, std::max(first, next_slot_));
  map_.reserve(chosen_, first, last, bf_resolution_);
  return Test::next;
}

// Nothing has happened since the last cycle, and no comparison with the time has another outcome:
// the plan is the same, and so is what it leaves behind.
bool SlurmController::same_as_last(double time, Second cycle) {
  if (changes_ != planned_changes_ || cycle >= valid_until_ || plans_ || told_) return false;
  if (std::floor(time + tests_ * clocks_.test_cost) > std::floor(time)) return false;
  if (moved_) job_update_ = cycle;
  if (planned_.any()) node_update_ = cycle;
  return true;
}

void SlurmController::backfill(double time) {
  const auto cycle = static_cast<Second>(std::floor(time));
  outcome_.cycles.push_back(time);
  recalculate(time);
  if (same_as_last(time, cycle)) return;
  clear_planned(cycle);
  if (queue_.empty()) return;
  map_end_ = rounded(cycle + bf_window_);
  next_slot_ = rounded(cycle) + bf_resolution_;
  map_.reset(rounded(cycle), map_end_, up_);
  planned_changes_ = changes_;
  valid_until_ = running_.empty() ? kNever : first_due_after(cycle);
  moved_ = false;
  std::fill(by_user_.begin(), by_user_.end(), 0);
  std::fill(by_part_.begin(), by_part_.end(), 0);
  std::fill(by_user_part_.begin(), by_user_part_.end(), 0);
  tests_ = starts_ = 0;
  Second now = cycle;
  for (int& job : queue_) {
    if (tests_ >= bf_max_job_test_) break;
    now = static_cast<Second>(std::floor(time + tests_ * clocks_.test_cost));
    if (now - cycle >= bf_max_time_) break;
    const Test result = test(job, now, time, cycle);
    if (result == Test::stop) break;
    if (result != Test::started) continue;
    job = -1;
    if (bf_max_job_start_ && starts_ >= bf_max_job_start_) break;
  }
  if (starts_ > 0) drop_started();
  keep_planned(now);
  if (now > cycle) valid_until_ = cycle;
}

}  // namespace cosched::cluster::slurm
