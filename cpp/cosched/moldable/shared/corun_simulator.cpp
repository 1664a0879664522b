#include "cosched/moldable/shared/corun_simulator.hpp"

#include "cosched/core/assert.hpp"

namespace cosched::moldable::shared {

CorunSimulator::CorunSimulator(const Instance& instance, const list::Decoder& decoder)
    : jobs_(instance.jobs()),
      machines_(instance.machines()),
      resources_(instance.sharing()->resources()),
      rule_(instance.sharing()->rule()),
      has_pairwise_slowdowns_(instance.sharing()->slowdowns().has_value()),
      counts_(jobs_),
      needs_(jobs_),
      selected_counts_(jobs_),
      selected_needs_(jobs_ * resources_) {
  const Sharing& sharing = *instance.sharing();
  for (int r = 0; r < resources_; ++r)
    capacity_limits_.push_back(sharing.capacity(r) * (1 + kExactTolerance));
  for (int i = 0; i < jobs_; ++i) {
    stall_shares_.push_back(sharing.stall(i));
    has_stalls_ |= stall_shares_.back() > 0;
    for (const Choice& c : decoder.counts(i)) {
      counts_[i].push_back({c.procs, c.time, sharing.load(i, c.procs)});
      for (int r = 0; r < resources_; ++r) needs_[i].push_back(sharing.need(r, i, c.procs));
    }
  }
  if (!has_pairwise_slowdowns_) return;
  for (int i = 0; i < jobs_; ++i)
    for (int j = 0; j < jobs_; ++j) excess_.push_back(sharing.excess(i, j));
}

void CorunSimulator::start(MachineState& state, int job) const {
  COSCHED_ASSERT(has_room_for(state, job));
  const CountProfile& count = selected_counts_[job];
  double pairwise_factor = 1;
  if (has_pairwise_slowdowns_)
    for (int k = 0; k < state.running_count; ++k) {
      CorunJob& other = state.running[k];
      pairwise_factor = combine_factors(pairwise_factor, excess(job, other.job));
      other.pairwise_factor = combine_factors(other.pairwise_factor, excess(other.job, job));
    }
  for (int r = 0; r < resources_; ++r) state.used_resources[r] += need(job, r);
  state.load += count.load;
  state.free_procs -= count.procs;
  if (state.running_count == static_cast<int>(state.running.size())) state.running.emplace_back();
  state.running[state.running_count] = {.remaining_work = count.time,
                                        .pairwise_factor = pairwise_factor,
                                        .finish_threshold = kFinishedShare * count.time,
                                        .job = job,
                                        .procs = count.procs};
  ++state.running_count;
}

bool CorunSimulator::advance_to_next_end(MachineState& state, double cutoff,
                                         std::vector<JobEnd>& ended) const {
  // Traffic above the bandwidth; a job alone is never slowed.
  const double overload =
      has_stalls_ && state.running_count > 1 ? std::max(0.0, state.load - 1) : 0;
  double step = kInfinity;
  for (int k = 0; k < state.running_count; ++k)
    step = std::min(step,
                    state.running[k].remaining_work * slowdown_factor(state.running[k], overload));
  require_progress(step < kInfinity, "jobs side by side");
  state.now += step;
  if (state.now > cutoff) return false;
  const std::size_t first_ended = ended.size();
  int still_running = 0;
  for (int k = 0; k < state.running_count; ++k) {
    CorunJob& member = state.running[k];
    member.remaining_work -= step / slowdown_factor(member, overload);
    if (member.remaining_work > member.finish_threshold) {
      if (still_running < k) state.running[still_running] = member;
      ++still_running;
    } else {
      ended.push_back({member.job, state.now});
      release_job(state, member);
    }
  }
  state.running_count = still_running;
  if (still_running == 0) {  // rounding errors end with the jobs
    state.load = 0;
    std::fill(state.used_resources.begin(), state.used_resources.end(), 0.0);
  }
  if (has_pairwise_slowdowns_)
    update_pairwise_factors(state, std::span(ended).subspan(first_ended));
  return true;
}

void CorunSimulator::copy_state(const MachineState& from, MachineState& to) {
  to.now = from.now;
  to.sum_of_ends = from.sum_of_ends;
  to.load = from.load;
  to.free_procs = from.free_procs;
  to.running_count = from.running_count;
  if (static_cast<int>(to.running.size()) < from.running_count)
    to.running.resize(from.running_count);
  std::copy_n(from.running.begin(), from.running_count, to.running.begin());
  std::copy(from.used_resources.begin(), from.used_resources.end(), to.used_resources.begin());
}

bool CorunSimulator::has_same_future(const MachineState& a, const MachineState& b) {
  return a.now == b.now && a.running_count == b.running_count && a.sum_of_ends == b.sum_of_ends &&
         std::equal(a.running.begin(), a.running.begin() + a.running_count, b.running.begin(),
                    [](const CorunJob& x, const CorunJob& y) {
                      return x.job == y.job && x.procs == y.procs &&
                             x.remaining_work == y.remaining_work;
                    });
}

void CorunSimulator::update_pairwise_factors(MachineState& state,
                                             std::span<const JobEnd> ended) const {
  for (int k = 0; k < state.running_count; ++k) {
    CorunJob& member = state.running[k];
    if (rule_ == SlowdownRule::sum) {
      for (const JobEnd& job_end : ended) member.pairwise_factor -= excess(member.job, job_end.job);
      if (state.running_count == 1) member.pairwise_factor = 1;
      continue;
    }
    member.pairwise_factor = 1;
    for (int other = 0; other < state.running_count; ++other)
      if (other != k)
        member.pairwise_factor =
            combine_factors(member.pairwise_factor, excess(member.job, state.running[other].job));
  }
}

}  // namespace cosched::moldable::shared
