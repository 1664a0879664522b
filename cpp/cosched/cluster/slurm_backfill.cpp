// The backfill cycle: every job in order of the queue gets a plan (SLURM.md 4).
#include <algorithm>
#include <cmath>

#include "cosched/cluster/slurm_controller.hpp"

namespace cosched::cluster {

void SlurmController::clear_planned(Second now) {
  if (!planned_.any()) return;
  planned_.clear();
  node_update_ = now;
}

void SlurmController::keep_planned(Second now) {
  planned_ -= busy_;
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

// Nodes that nobody has reserved in any record that the job would meet, and when to look again.
SlurmController::Window SlurmController::window(int job, Second from, Second limit) const {
  Window found{part(job).nodes, 0};
  const NodeBits& all = part(job).nodes;
  bool later = false;
  for (int j = 0;;) {
    const SlurmMap::Record& record = map_[j];
    if (record.end > from && record.next && !later &&
        !NodeBits::common_within(all, map_[record.next].nodes, found.avail, record.nodes)) {
      found.later = record.end;
      later = true;
    }
    if (record.end > from) {
      if (record.begin > from + limit) break;
      found.avail &= record.nodes;
    }
    if ((j = record.next) == 0) break;
  }
  if (!later) found.later = kNever;
  return found;
}

SlurmController::Test SlurmController::test(int job, Second now, double time, Second cycle) {
  const Second limit = at(job).limit;
  const int wanted = given(job).nodes;
  const bool now_only = holds_back(job, now);
  if (skipped_by_count(job)) return Test::next;
  bool counted = false;
  for (Second from = now;;) {
    Window window = this->window(job, from, limit);
    Slot slot{0, NodeBits(), false};
    if (window.avail.count() >= wanted) {
      if (!std::exchange(counted, true)) ++tests_;
      slot = will_run(job, window.avail, now, now_only);
    }
    if (!slot.found) {
      if (window.later == kNever || now_only) return Test::next;
      from = window.later;
      continue;
    }
    Second begin = slot.start;
    if (from > begin) {
      begin = from;
      job_update_ = now;
    }
    if (begin <= now && slot.nodes.meets(cleaning_)) {
      begin = now + 1;
      window.later = kNever;
    }
    if (begin <= now) {
      NodeBits chosen;
      if (choose_now(job, window.avail, chosen)) {
        start(job, std::move(chosen), time, true);
        ++starts_;
        if (cons_tres_ && map_.made() < bf_map_size_)
          map_.reserve(at(job).nodes, map_[0].begin, rounded(due(job)), bf_resolution_);
        return Test::started;
      }
      window.later = kNever;
    }
    if (begin > now && now_only) return Test::next;
    if (begin > window.later) {
      from = window.later;
      continue;
    }
    const Second first = rounded(begin), last = rounded(begin + limit);
    if (begin > cycle + bf_window_) return Test::next;
    if (begin > now && !map_.free(slot.nodes, first, last)) {
      from = begin;
      continue;
    }
    tell(time, job, SlurmAction::plan, begin);
    if (plans_) note(time, job, SlurmAction::plan, begin, last, &slot.nodes);
    planned_ |= slot.nodes;
    if (map_.made() >= bf_map_size_) return Test::stop;
    map_.reserve(slot.nodes, first, last, bf_resolution_);
    return Test::next;
  }
}

void SlurmController::backfill(double time) {
  const auto cycle = static_cast<Second>(std::floor(time));
  outcome_.cycles.push_back(time);
  clear_planned(cycle);
  if (queue_.empty()) return;
  recalculate(time);
  map_.reset(rounded(cycle), rounded(cycle + bf_window_), up_);
  std::fill(by_user_.begin(), by_user_.end(), 0);
  std::fill(by_part_.begin(), by_part_.end(), 0);
  std::fill(by_user_part_.begin(), by_user_part_.end(), 0);
  tests_ = starts_ = 0;
  Second now = cycle;
  bool any = false;
  for (int& job : queue_) {
    if (tests_ >= bf_max_job_test_) break;
    now = static_cast<Second>(std::floor(time + tests_ * clocks_.test_cost));
    if (now - cycle >= bf_max_time_) break;
    const Test result = test(job, now, time, cycle);
    if (result == Test::stop) break;
    if (result != Test::started) continue;
    job = -1;
    any = true;
    if (bf_max_job_start_ && starts_ >= bf_max_job_start_) break;
  }
  if (any) queue_.erase(std::remove(queue_.begin(), queue_.end(), -1), queue_.end());
  keep_planned(now);
}

}  // namespace cosched::cluster
