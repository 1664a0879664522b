#include "cosched/moldable/search/full_machine_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "cosched/moldable/search/mutable_schedule.hpp"

namespace cosched::moldable::search {
namespace {

// The greatest number of which all times are whole multiples, up to kExactTolerance of the longest;
// at most that tolerance where there is none.
double common_unit(const std::vector<double>& times) {
  const double tolerance = kExactTolerance * *std::max_element(times.begin(), times.end());
  double unit = 0;
  for (const double time : times) {
    double larger = time, smaller = unit;
    while (smaller > tolerance) {
      double remainder = std::fmod(larger, smaller);
      if (smaller - remainder <= tolerance) remainder = 0;
      larger = smaller;
      smaller = remainder;
    }
    unit = larger;
  }
  return unit;
}

}  // namespace

std::optional<FullMachineSearch> FullMachineSearch::create(const Instance& instance,
                                                           std::uint64_t seed,
                                                           const FullMachineParams& params) {
  if (instance.has_releases() || instance.jobs() > params.max_jobs) return std::nullopt;
  std::vector<int> procs;
  std::vector<double> times;
  for (int i = 0; i < instance.jobs(); ++i) {
    const int fewest_procs = instance.fewest_procs(i);
    const bool is_rigid = instance.next_faster_procs(i, fewest_procs) == 0;
    const double time = instance.time(i, fewest_procs);
    if (!is_rigid || !(time > 0)) return std::nullopt;
    procs.push_back(fewest_procs);
    times.push_back(time);
  }
  const double unit = common_unit(times);
  const double machine_units = instance.machines();
  double area_units = 0, longest = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    area_units += procs[i] * std::round(times[i] / unit);
    longest = std::max(longest, std::round(times[i] / unit));
  }
  const double horizon = area_units / machine_units;
  if (!(area_units <= params.max_area_units) || horizon != std::floor(horizon) || longest > horizon)
    return std::nullopt;
  std::vector<RigidJob> jobs;
  for (std::size_t i = 0; i < times.size(); ++i)
    jobs.push_back({procs[i], std::llround(times[i] / unit)});
  return FullMachineSearch(instance, std::move(jobs), unit, std::llround(horizon), seed, params);
}

FullMachineSearch::FullMachineSearch(const Instance& instance, std::vector<RigidJob> jobs,
                                     double unit, std::int64_t horizon, std::uint64_t seed,
                                     const FullMachineParams& params)
    : instance_(&instance),
      params_(params),
      jobs_(std::move(jobs)),
      unit_(unit),
      horizon_(horizon),
      rng_(seed),
      starts_(jobs_.size(), 0),
      failed_states_(params.remembered_states, 0) {
  std::map<std::pair<int, std::int64_t>, int> first_job_of_shape;
  for (int i = 0; i < instance.jobs(); ++i) {
    const auto [entry, is_new] =
        first_job_of_shape.emplace(std::pair(jobs_[i].procs, jobs_[i].length), i);
    equal_jobs_.push_back(entry->second);
    job_keys_.push_back(is_new ? rng_.bits() : job_keys_[entry->second]);
  }
}

std::optional<Placement> FullMachineSearch::run(std::int64_t operations) {
  budget_ = WorkBudget(operations);
  while (!is_exhausted_ && !budget_.is_exhausted()) {
    draw_order();
    is_waiting_.assign(jobs_.size(), 1);
    waiting_jobs_ = static_cast<int>(jobs_.size());
    waiting_hash_ = 0;  // relative to that of all jobs
    remaining_nodes_ =
        params_.first_nodes + params_.first_nodes * descent_count_ / params_.descents_per_growth;
    ++descent_count_;
    const bool is_found = descend({{0, instance_->machines()}});
    is_exhausted_ = is_found || !is_cut_off();
    if (is_found) return make_placement();
  }
  return std::nullopt;
}

void FullMachineSearch::draw_order() {
  const double seconds_per_proc = static_cast<double>(horizon_) / instance_->machines();
  std::vector<double> keys;
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    const auto first_equal_job = static_cast<std::size_t>(equal_jobs_[i]);
    if (first_equal_job < i) {
      keys.push_back(keys[first_equal_job]);
      continue;
    }
    const RigidJob& job = jobs_[i];
    const auto length = static_cast<double>(job.length);
    const double key_of_kind[] = {length * job.procs, length, static_cast<double>(job.procs),
                                  length + job.procs * seconds_per_proc};
    const double noise = std::exp(params_.noise * (2 * rng_.uniform() - 1));
    const auto kinds = static_cast<int>(std::size(key_of_kind));
    // The first descent of each kind has no noise.
    keys.push_back(key_of_kind[descent_count_ % kinds] * (descent_count_ < kinds ? 1 : noise));
  }
  order_.resize(jobs_.size());
  std::iota(order_.begin(), order_.end(), 0);
  std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) { return keys[a] > keys[b]; });
  spend(jobs_.size() * 10);
}

bool FullMachineSearch::descend(const std::vector<RunningJob>& running) {
  const std::int64_t time = running.front().end;
  int free_procs = 0;
  std::vector<RunningJob> still_running;
  still_running.reserve(running.size() + 8);
  for (const RunningJob& job : running) {
    if (job.end > time)
      still_running.push_back(job);
    else
      free_procs += job.procs;
  }
  spend(running.size() + order_.size());
  const std::optional<StartEvent> start_event =
      prepare_start_event(time, still_running, free_procs);
  if (!start_event) return false;
  spend(start_event->reachable_sums.size());
  if (!start_event->can_reach(0, free_procs)) return false;
  const std::uint64_t hash = hash_state(still_running);
  std::uint64_t& failed_state = failed_states_[hash & (failed_states_.size() - 1)];
  if (failed_state == hash) return false;
  if (start_jobs(*start_event, 0, free_procs, still_running)) return true;
  if (!is_cut_off()) failed_state = hash;
  return false;
}

std::optional<FullMachineSearch::StartEvent> FullMachineSearch::prepare_start_event(
    std::int64_t time, const std::vector<RunningJob>& running, int free_procs) const {
  StartEvent start_event{time, std::numeric_limits<std::int64_t>::max(), {}, {}, 0};
  // Processors of the jobs that run, or must run, in the middle of the remaining time.
  std::int64_t procs_in_the_middle = 0;
  for (const int i : order_) {
    if (!is_waiting_[i]) continue;
    const RigidJob& job = jobs_[i];
    if (time + job.length > horizon_) return std::nullopt;
    start_event.jobs.push_back(i);
    start_event.shortest_length = std::min(start_event.shortest_length, job.length);
    if (2 * job.length > horizon_ - time) procs_in_the_middle += job.procs;
  }
  for (const RunningJob& job : running) {
    if (2 * job.end > time + horizon_) procs_in_the_middle += job.procs;
    const std::int64_t rest = horizon_ - job.end;
    if (rest > 0 && rest < start_event.shortest_length) return std::nullopt;
  }
  if (procs_in_the_middle > instance_->machines()) return std::nullopt;
  const auto sums = static_cast<std::size_t>(free_procs) + 1;
  const std::size_t words = (sums + 63) / 64;
  start_event.words_per_row = words;
  start_event.reachable_sums.assign((start_event.jobs.size() + 1) * words, 0);
  start_event.reachable_sums[start_event.jobs.size() * words] = 1;
  for (std::size_t place = start_event.jobs.size(); place-- > 0;) {
    const std::uint64_t* from = &start_event.reachable_sums[(place + 1) * words];
    std::uint64_t* to = &start_event.reachable_sums[place * words];
    std::copy_n(from, words, to);
    const auto procs = static_cast<std::size_t>(jobs_[start_event.jobs[place]].procs);
    const std::size_t shifted_words = procs / 64, shifted_bits = procs % 64;
    for (std::size_t word = words; word-- > shifted_words;) {
      to[word] |= from[word - shifted_words] << shifted_bits;
      if (shifted_bits > 0 && word > shifted_words)
        to[word] |= from[word - shifted_words - 1] >> (64 - shifted_bits);
    }
  }
  return start_event;
}

bool FullMachineSearch::can_start(const StartEvent& start_event, std::size_t place,
                                  int free_procs) const {
  const RigidJob& job = jobs_[start_event.jobs[place]];
  if (job.procs > free_procs || !start_event.can_reach(place + 1, free_procs - job.procs))
    return false;
  const std::int64_t rest = horizon_ - (start_event.time + job.length);
  return rest == 0 || rest >= start_event.shortest_length;
}

bool FullMachineSearch::start_jobs(const StartEvent& start_event, std::size_t first_place,
                                   int free_procs, std::vector<RunningJob>& running) {
  --remaining_nodes_;
  if (is_cut_off()) return false;
  if (free_procs == 0) return waiting_jobs_ == 0 || descend(running);
  const RigidJob* last_tried_job = nullptr;
  for (std::size_t place = first_place; place < start_event.jobs.size(); ++place) {
    const int i = start_event.jobs[place];
    const RigidJob& job = jobs_[i];
    if (!can_start(start_event, place, free_procs)) continue;
    if (last_tried_job && last_tried_job->procs == job.procs &&
        last_tried_job->length == job.length)
      continue;
    last_tried_job = &job;
    const RunningJob run{start_event.time + job.length, job.procs};
    const auto later_job =
        std::upper_bound(running.begin(), running.end(), run,
                         [](const RunningJob& a, const RunningJob& b) { return a.end < b.end; });
    const auto position = later_job - running.begin();
    running.insert(later_job, run);
    starts_[i] = start_event.time;
    is_waiting_[i] = 0;
    --waiting_jobs_;
    waiting_hash_ -= job_keys_[i];
    if (start_jobs(start_event, place + 1, free_procs - job.procs, running)) return true;
    running.erase(running.begin() + position);
    is_waiting_[i] = 1;
    ++waiting_jobs_;
    waiting_hash_ += job_keys_[i];
    if (is_cut_off()) return false;
  }
  spend(start_event.jobs.size() - first_place);
  return false;
}

std::uint64_t FullMachineSearch::hash_state(const std::vector<RunningJob>& running) const {
  std::uint64_t hash = waiting_hash_;
  for (std::size_t k = 0; k < running.size();) {
    const std::int64_t end = running[k].end;
    std::uint64_t procs = 0;
    for (; k < running.size() && running[k].end == end; ++k) procs += running[k].procs;
    std::uint64_t mixed =
        static_cast<std::uint64_t>(end) * 0x9e3779b97f4a7c15ULL + procs * 0xc2b2ae3d27d4eb4fULL;
    mixed = (mixed ^ (mixed >> 29)) * 0xbf58476d1ce4e5b9ULL;
    hash += mixed ^ (mixed >> 32);
  }
  return std::max<std::uint64_t>(hash, 1);
}

Placement FullMachineSearch::make_placement() const {
  std::vector<int> order(jobs_.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return starts_[a] < starts_[b]; });
  Allotment procs;
  for (const RigidJob& job : jobs_) procs.push_back(job.procs);
  MutableSchedule schedule(*instance_, Objective::makespan);
  schedule.decode(order, procs);
  return schedule.placement();
}

}  // namespace cosched::moldable::search
