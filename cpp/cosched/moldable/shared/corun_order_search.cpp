#include "cosched/moldable/shared/corun_order_search.hpp"

#include "cosched/core/annealing.hpp"
#include "cosched/core/assert.hpp"

namespace cosched::moldable::shared {

CorunOrderSearch::CorunOrderSearch(const Instance& instance, const list::Decoder& decoder, Rng& rng,
                                   const CorunOrderSearchParams& params)
    : instance_(instance),
      rng_(rng),
      params_(params),
      job_count_(instance.jobs()),
      simulator_(instance, decoder) {
  COSCHED_ASSERT(!instance.has_releases());
}

void CorunOrderSearch::anneal(const Placement& start, double first_temperature,
                              double last_temperature, std::int64_t operations) {
  load_schedule(start);
  const std::int64_t first_operation = operations_;
  const auto spent = [&] { return operations_ - first_operation; };
  const double work = std::max(1.0, static_cast<double>(operations));
  cosched::anneal(last_temperature / first_temperature, work, spent, [&](double warmth) {
    const double temperature = value_ * first_temperature * warmth;
    for (int k = 0; k < params_.moves_per_temperature; ++k) {
      if (!propose_move(temperature) || !(value_ < best_value_ * (1 - kExactTolerance))) continue;
      best_value_ = value_;
      best_order_ = order_;
      best_decisions_ = decisions_;
    }
    return true;
  });
}

Placement CorunOrderSearch::best() const {
  if (best_order_.empty()) return {};
  list::ScheduleBuilder builder(instance_);
  auto next_job = best_order_.begin();
  while (next_job != best_order_.end() || !builder.running_jobs().empty()) {
    for (; next_job != best_order_.end(); ++next_job) {
      const auto [count_index, max_concurrent] = best_decisions_[*next_job];
      const RunningTask run =
          builder.make_run(*next_job, simulator_.counts(*next_job)[count_index].procs);
      const auto others = static_cast<int>(builder.running_jobs().size());
      if (others > 0 && (others > max_concurrent || !builder.has_room_for(run))) break;
      builder.start(run);
    }
    builder.advance();
  }
  return builder.placement();
}

void CorunOrderSearch::load_schedule(const Placement& schedule) {
  order_ = order_by_start(schedule);
  std::vector<double> ends = schedule.end;
  std::sort(ends.begin(), ends.end());
  decisions_.assign(job_count_, {});
  for (int k = 0; k < job_count_; ++k) {
    const int i = order_[k];
    const double start = schedule.start[i] * (1 + kExactTolerance);
    const auto ended_jobs =
        static_cast<int>(std::upper_bound(ends.begin(), ends.end(), start) - ends.begin());
    set_decision(i, {nearest_count(i, schedule.procs[i]), std::max(0, k - ended_jobs)});
  }
  state_ = simulator_.idle_state();
  state_before_.assign(job_count_ + 1, state_);
  job_ends_.assign(job_count_, 0);
  job_starts_ = job_ends_;
  last_changed_ = job_count_;
  accept_move(0, evaluate_from(0, kInfinity));
  best_order_ = order_;
  best_decisions_ = decisions_;
  best_value_ = value_;
}

// Returns whether the move was accepted; else all is as before.
bool CorunOrderSearch::propose_move(double temperature) {
  saved_decisions_.clear();
  saved_order_.clear();
  operations_ += params_.move_operations;
  const int first = apply_random_move();
  if (first < job_count_) {
    const double cutoff = value_ - temperature * std::log(std::max(rng_.uniform(), kTinyPositive));
    const double value = evaluate_from(first, cutoff);
    if (value <= cutoff) {
      accept_move(first, value);
      return true;
    }
  }
  undo_move();
  return false;
}

// Simulates the changed places again, to keep the states before them.
void CorunOrderSearch::accept_move(int first, double value) {
  value_ = value;
  for (const CorunSimulator::JobEnd& job_end : proposal_ends_) job_ends_[job_end.job] = job_end.end;
  CorunSimulator::copy_state(state_before_[first], state_);
  int place = first;
  for (;;) {
    while (place < job_count_ && can_start(state_, place)) {
      simulator_.start(state_, order_[place]);
      ++place;
      if (place == resync_at_) return;
      CorunSimulator::copy_state(state_, state_before_[place]);
    }
    if (place == job_count_) return;
    simulator_.advance_to_next_end(state_, kInfinity, proposal_ends_);
  }
}

void CorunOrderSearch::undo_move() {
  std::copy(saved_order_.begin(), saved_order_.end(), order_.begin() + saved_from_);
  for (; !saved_decisions_.empty(); saved_decisions_.pop_back())
    set_decision(saved_decisions_.back().first, saved_decisions_.back().second);
}

int CorunOrderSearch::apply_random_move() {
  const auto place = static_cast<int>(rng_.below(job_count_));
  const int total_weight = params_.count_moves + params_.count_trades + params_.swaps +
                           params_.insertions + params_.reversals + params_.concurrency_moves;
  auto draw = static_cast<int>(rng_.below(total_weight));
  const auto is_kind = [&](int weight) {
    const bool is_drawn = draw >= 0 && draw < weight;
    draw -= weight;
    return is_drawn;
  };
  if (is_kind(params_.count_moves)) return change_count(place);
  if (is_kind(params_.count_trades)) return trade_counts(place);
  if (is_kind(params_.swaps)) return swap_jobs(place);
  if (is_kind(params_.insertions)) return move_job(place);
  if (is_kind(params_.reversals)) return reverse_segment(place);
  return change_max_concurrent(place);
}

// Gives a job the next larger or smaller count, or once in `any_count_draws` any.
int CorunOrderSearch::change_count(int place) {
  const int i = order_[place];
  const bool draws_any = rng_.below(params_.any_count_draws) == 0;
  const int count_index = draws_any ? static_cast<int>(rng_.below(simulator_.counts(i).size()))
                                    : neighbour_count(i, draw_sign());
  if (count_index == decisions_[i].count_index) return job_count_;
  last_changed_ = place;
  change_decision(i, {count_index, decisions_[i].max_concurrent});
  return place;
}

// Gives a job the next larger count, and a near one the next smaller.
int CorunOrderSearch::trade_counts(int place) {
  const int other = draw_near_place(place);
  const int i = order_[place], j = order_[other];
  const int larger = neighbour_count(i, 1), smaller = neighbour_count(j, -1);
  const bool changes_nothing =
      larger == decisions_[i].count_index && smaller == decisions_[j].count_index;
  if (i == j || changes_nothing) return job_count_;
  last_changed_ = std::max(place, other);
  change_decision(i, {larger, decisions_[i].max_concurrent});
  change_decision(j, {smaller, decisions_[j].max_concurrent});
  return std::min(place, other);
}

// Exchanges two jobs.  max_concurrent belongs to the places; counts go with their jobs, or every
// other time each job gets the count next to that of the other.
int CorunOrderSearch::swap_jobs(int place) {
  const int other = draw_place(place);
  if (other == place) return job_count_;
  const int i = order_[place], j = order_[other];
  const int low = std::min(place, other), high = std::max(place, other);
  save_segment(low, high);
  last_changed_ = high;
  std::swap(order_[low], order_[high]);
  StartDecision decision_i{decisions_[i].count_index, decisions_[j].max_concurrent};
  StartDecision decision_j{decisions_[j].count_index, decisions_[i].max_concurrent};
  if (rng_.below(2) == 0) {
    const int procs_i = simulator_.counts(i)[decision_i.count_index].procs;
    const int procs_j = simulator_.counts(j)[decision_j.count_index].procs;
    decision_i.count_index = nearest_count(i, procs_j);
    decision_j.count_index = nearest_count(j, procs_i);
  }
  change_decision(i, decision_i);
  change_decision(j, decision_j);
  return low;
}

// Moves a job to another place; every other time its decision changes, too.
int CorunOrderSearch::move_job(int place) {
  const int target = draw_place(place), i = order_[place];
  if (target == place) return job_count_;
  save_segment(std::min(place, target), std::max(place, target));
  move_entry(order_, place, target);
  last_changed_ = std::max(place, target);
  if (rng_.below(2) == 0) {
    const int count_index =
        rng_.below(2) == 0 ? neighbour_count(i, draw_sign()) : decisions_[i].count_index;
    change_decision(i, {count_index, std::max(0, decisions_[i].max_concurrent + draw_sign())});
  }
  return std::min(place, target);
}

// Reverses the jobs from a place on in time, so that the same jobs run side by side: by decreasing
// end, each beside the jobs that run when it ends.  The first of them wait for the jobs before as
// the first jobs of the segment did.
int CorunOrderSearch::reverse_segment(int place) {
  if (job_count_ - place < 2) return job_count_;
  const int max_length = rng_.below(2) == 0 ? job_count_ : params_.short_reversal;
  const int end = std::min(place + 2 + static_cast<int>(rng_.below(max_length - 1)), job_count_);
  save_segment(place, end - 1);
  last_changed_ = end - 1;
  std::array<int, kWaitingJobs> first_max_concurrent{};
  for (int k = place; k < end; ++k) {
    job_starts_[order_[k]] = state_before_[k + 1].now;  // the state right after its start
    if (k - place < kWaitingJobs)
      first_max_concurrent[k - place] = decisions_[order_[k]].max_concurrent;
  }
  const auto segment_begin = order_.begin() + place;
  std::stable_sort(segment_begin, order_.begin() + end,
                   [&](int i, int j) { return job_ends_[i] > job_ends_[j]; });
  for (int k = place; k < end; ++k) {
    const int i = order_[k];
    const double end_of_job = job_ends_[i] * (1 - kExactTolerance);
    auto max_concurrent = static_cast<int>(std::count_if(
        segment_begin, order_.begin() + k, [&](int j) { return job_starts_[j] < end_of_job; }));
    if (place > 0 && k - place < kWaitingJobs)
      max_concurrent = std::max(max_concurrent, first_max_concurrent[k - place]);
    change_decision(i, {decisions_[i].count_index, max_concurrent});
  }
  return place;
}

int CorunOrderSearch::change_max_concurrent(int place) {
  const int i = order_[place], max_concurrent = decisions_[i].max_concurrent + draw_sign();
  if (max_concurrent < 0) return job_count_;
  last_changed_ = place;
  change_decision(i, {decisions_[i].count_index, max_concurrent});
  return place;
}

// Any place, or once in `near_draws` one near `place`.
int CorunOrderSearch::draw_place(int place) {
  if (rng_.below(params_.near_draws) > 0) return static_cast<int>(rng_.below(job_count_));
  return draw_near_place(place);
}

int CorunOrderSearch::draw_near_place(int place) {
  const auto distance = static_cast<int>(rng_.between(-params_.near_places, params_.near_places));
  return std::clamp(place + distance, 0, job_count_ - 1);
}

int CorunOrderSearch::neighbour_count(int job, int step) const {
  return std::clamp(decisions_[job].count_index + step, 0, last_count(job));
}

// The index of the largest count up to `procs`, or of the smallest one.
int CorunOrderSearch::nearest_count(int job, int procs) const {
  int count_index = 0;
  while (count_index < last_count(job) && simulator_.counts(job)[count_index + 1].procs <= procs)
    ++count_index;
  return count_index;
}

void CorunOrderSearch::change_decision(int job, StartDecision decision) {
  saved_decisions_.emplace_back(job, decisions_[job]);
  set_decision(job, decision);
}

void CorunOrderSearch::set_decision(int job, StartDecision decision) {
  decisions_[job] = decision;
  simulator_.select_count(job, decision.count_index);
}

// Keeps a part of the order for undo_move().
void CorunOrderSearch::save_segment(int first, int last) {
  saved_from_ = first;
  saved_order_.assign(order_.begin() + first, order_.begin() + last + 1);
}

// Simulates from the first changed place on, until the state is the same as before the move.
// Returns the value of the schedule; infinite where its makespan is above `cutoff`.
double CorunOrderSearch::evaluate_from(int first, double cutoff) {
  CorunSimulator::MachineState& state = state_;
  CorunSimulator::copy_state(state_before_[first], state);
  proposal_ends_.clear();
  resync_at_ = job_count_ + 1;
  int place = first;
  while (place < job_count_ || state.running_count > 0) {
    while (place < job_count_ && can_start(state, place)) {
      simulator_.start(state, order_[place]);
      ++place;
      if (place > last_changed_ && CorunSimulator::has_same_future(state, state_before_[place])) {
        resync_at_ = place;
        return value_;
      }
    }
    operations_ += 1 + state.running_count;
    if (!simulator_.advance_to_next_end(state, cutoff, proposal_ends_)) return kInfinity;
  }
  return state.now + params_.plateau * state.sum_of_ends / job_count_;
}

bool CorunOrderSearch::can_start(const CorunSimulator::MachineState& state, int place) const {
  if (state.running_count == 0) return true;
  const int job = order_[place];
  return state.running_count <= decisions_[job].max_concurrent &&
         simulator_.has_room_for(state, job);
}

}  // namespace cosched::moldable::shared
