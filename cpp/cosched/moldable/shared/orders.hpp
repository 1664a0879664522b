// Schedules by annealing over orders of jobs.
#pragma once

#include "cosched/core/annealing.hpp"
#include "cosched/core/rng.hpp"
#include "cosched/moldable/shared/side_by_side.hpp"

namespace cosched::moldable::shared {

/// A schedule as an order of jobs, each with a count: it starts after the one before it, at an end,
/// as soon as it fits and no more than `beside` others run.  So any schedule whose jobs start at
/// ends, or at 0, can be said, waiting beside idle processors too; and a job that is moved takes
/// with it when it waits.
///
/// What a change leaves as it was before the first place that it touches is not simulated again,
/// nor what follows when the same jobs run with as much left as before; states are kept for changes
/// that are accepted only.
///
/// Requires an instance without releases; counts on which each job fits.
class OrderSearch {
 public:
  /// What is given must outlive it, and the instance share something.
  OrderSearch(const Instance& instance, const list::Decoder& decoder, Rng& rng)
      : instance_(instance), rng_(rng), jobs_(instance.jobs()), simulator_(instance, decoder) {}

  /// From a schedule, cooling from `hot` to `cold`, which are shares of the makespan.  O(k^2) a job
  /// from the first changed one on, for sets of k.  May end as check_interrupt(): best() stays.
  void anneal(const Placement& from, double hot, double cold, std::int64_t operations) {
    load_schedule(from);
    const std::int64_t first = operations_;
    const auto spent = [&] { return operations_ - first; };
    const double work = std::max(1.0, static_cast<double>(operations));
    cosched::anneal(cold / hot, work, spent, [&](double warmth) {
      const double temperature = value_ * hot * warmth;
      for (int k = 0; k < kBatch; ++k) {
        if (!propose_move(temperature) || !(value_ < best_value_ * (1 - kExactTolerance))) continue;
        best_value_ = value_;
        best_order_ = order_;
        best_decisions_ = decisions_;
      }
      return true;
    });
  }

  /// The shortest of the last call, decoded anew; empty before any.
  Placement best() const {
    if (best_order_.empty()) return {};
    list::ScheduleBuilder making(instance_);
    for (auto next = best_order_.begin();
         next != best_order_.end() || !making.running_jobs().empty();) {
      for (; next != best_order_.end(); ++next) {
        const auto [chosen, beside] = best_decisions_[*next];
        const Run run = making.make_run(*next, simulator_.counts(*next)[chosen].procs);
        const auto others = static_cast<int>(making.running_jobs().size());
        if (others > 0 && (others > beside || !making.has_room_for(run))) break;
        making.start(run);
      }
      making.advance();
    }
    return making.placement();
  }

 private:
  // Of a mean end, so that plateaus of the makespan lead somewhere.
  static constexpr double kEndsCount = 1e-3;
  static constexpr int kBatch = 64;  // proposals at a temperature
  static constexpr int kAround = 2;  // places from one that is near
  // Of each kind of change, how often; one swap or move in kDrawnNear goes near.
  static constexpr int kCounts = 5, kTrades = 4, kSwaps = 9, kMoves = 3, kTurns = 3, kWaits = 12;
  static constexpr int kDrawnNear = 3;
  static constexpr int kTurnedFirst = 3;
  static constexpr int kShortTurn = 8;  // jobs; every other one may be of all

  struct Decision {
    int count_index, max_concurrent;  // count: a place in the counts of the job
  };

  void load_schedule(const Placement& from) {
    order_ = order_by_start(from);
    std::vector<double> ends = from.end;
    std::sort(ends.begin(), ends.end());
    decisions_.assign(jobs_, {});
    for (int k = 0; k < jobs_; ++k) {
      const int i = order_[k];
      const double start = from.start[i] * (1 + kExactTolerance);
      const auto ended =
          static_cast<int>(std::upper_bound(ends.begin(), ends.end(), start) - ends.begin());
      set_decision(i, {nearest_count(i, from.procs[i]), std::max(0, k - ended)});
    }
    state_ = simulator_.idle_state();
    state_before_.assign(jobs_ + 1, state_);
    job_ends_.assign(jobs_, 0);
    job_starts_ = job_ends_;
    last_changed_ = jobs_;
    accept_move(0, evaluate_from(0, kInfinity));
    best_order_ = order_;
    best_decisions_ = decisions_;
    best_value_ = value_;
  }

  bool propose_move(double temperature) {
    saved_decisions_.clear();
    saved_order_.clear();
    operations_ += 4;
    const int first = apply_random_move();
    if (first < jobs_) {
      const double longest = value_ - temperature * std::log(std::max(rng_.uniform(), 1e-300));
      const double found = evaluate_from(first, longest);
      if (found <= longest) {
        accept_move(first, found);
        return true;
      }
    }
    undo_move();
    return false;
  }

  void accept_move(int first, double value) {
    value_ = value;
    for (const CorunSimulator::JobEnd& one : proposal_ends_) job_ends_[one.job] = one.end;
    CorunSimulator::copy_state(state_before_[first], state_);
    for (int at = first;;) {
      while (at < jobs_ && can_start(state_, at)) {
        simulator_.start(state_, order_[at++]);
        if (at == resync_at_) return;
        CorunSimulator::copy_state(state_, state_before_[at]);
      }
      if (at == jobs_) return;
      simulator_.advance_to_next_end(state_, kInfinity, proposal_ends_);
    }
  }

  int apply_random_move() {
    const auto place = static_cast<int>(rng_.below(jobs_));
    auto kind = static_cast<int>(rng_.below(kCounts + kTrades + kSwaps + kMoves + kTurns + kWaits));
    if ((kind -= kCounts) < 0) return change_count(place);
    if ((kind -= kTrades) < 0) return trade_counts(place);
    if ((kind -= kSwaps) < 0) return swap_jobs(place);
    if ((kind -= kMoves) < 0) return move_job(place);
    if ((kind -= kTurns) < 0) return reverse_segment(place);
    return change_max_concurrent(place);
  }

  int change_count(int place) {
    const int i = order_[place], now = decisions_[i].count_index;
    const int count = rng_.below(5) == 0 ? static_cast<int>(rng_.below(simulator_.counts(i).size()))
                                         : neighbour_count(i, draw_sign());
    if (count == now) return jobs_;
    last_changed_ = place;
    change_decision(i, {count, decisions_[i].max_concurrent});
    return place;
  }

  // One more for this, one less for a near one.
  int trade_counts(int place) {
    const int other =
        std::clamp(place + static_cast<int>(rng_.between(-kAround, kAround)), 0, jobs_ - 1);
    const int i = order_[place], j = order_[other];
    const int more = neighbour_count(i, 1), fewer = neighbour_count(j, -1);
    if (i == j || (more == decisions_[i].count_index && fewer == decisions_[j].count_index))
      return jobs_;
    last_changed_ = std::max(place, other);
    change_decision(i, {more, decisions_[i].max_concurrent});
    change_decision(j, {fewer, decisions_[j].max_concurrent});
    return std::min(place, other);
  }

  // Who waits is a matter of places; counts go with their jobs, or are near those of the other.
  int swap_jobs(int place) {
    const int other = draw_place(place);
    if (other == place) return jobs_;
    const int i = order_[place], j = order_[other];
    const int low = std::min(place, other), high = std::max(place, other);
    save_segment(low, high);
    last_changed_ = high;
    std::swap(order_[low], order_[high]);
    Decision mine{decisions_[i].count_index, decisions_[j].max_concurrent};
    Decision theirs{decisions_[j].count_index, decisions_[i].max_concurrent};
    if (rng_.below(2) == 0) {
      const int procs = simulator_.counts(i)[mine.count_index].procs;
      mine.count_index = nearest_count(i, simulator_.counts(j)[theirs.count_index].procs);
      theirs.count_index = nearest_count(j, procs);
    }
    change_decision(i, mine);
    change_decision(j, theirs);
    return low;
  }

  int move_job(int place) {
    const int to = draw_place(place), i = order_[place];
    if (to == place) return jobs_;
    move_job_to(place, to);
    last_changed_ = std::max(place, to);
    if (rng_.below(2) == 0) {
      const int count =
          rng_.below(2) == 0 ? neighbour_count(i, draw_sign()) : decisions_[i].count_index;
      change_decision(i, {count, std::max(0, decisions_[i].max_concurrent + draw_sign())});
    }
    return std::min(place, to);
  }

  // The jobs from a place on backwards in time, so that the same run side by side: by falling ends,
  // each beside those that run when it ends.  The first of them wait for what runs before as the
  // first did so far.
  int reverse_segment(int place) {
    if (jobs_ - place < 2) return jobs_;
    const int most = rng_.below(2) == 0 ? jobs_ : kShortTurn;
    const int end = std::min(place + 2 + static_cast<int>(rng_.below(most - 1)), jobs_);
    save_segment(place, end - 1);
    last_changed_ = end - 1;
    std::array<int, kTurnedFirst> so_far{};
    for (int k = place; k < end; ++k) {
      job_starts_[order_[k]] = state_before_[k + 1].now;
      if (k - place < kTurnedFirst) so_far[k - place] = decisions_[order_[k]].max_concurrent;
    }
    const auto at = order_.begin();
    std::stable_sort(at + place, at + end,
                     [&](int i, int j) { return job_ends_[i] > job_ends_[j]; });
    for (int k = place; k < end; ++k) {
      const int i = order_[k];
      auto beside = static_cast<int>(std::count_if(at + place, at + k, [&](int j) {
        return job_starts_[j] < job_ends_[i] * (1 - kExactTolerance);
      }));
      const int before = k - place;
      if (place > 0 && before < kTurnedFirst) beside = std::max(beside, so_far[before]);
      change_decision(i, {decisions_[i].count_index, beside});
    }
    return place;
  }

  int change_max_concurrent(int place) {
    const int i = order_[place], beside = decisions_[i].max_concurrent + draw_sign();
    if (beside < 0) return jobs_;
    last_changed_ = place;
    change_decision(i, {decisions_[i].count_index, beside});
    return place;
  }

  int draw_place(int place) {
    if (rng_.below(kDrawnNear) > 0) return static_cast<int>(rng_.below(jobs_));
    return std::clamp(place + static_cast<int>(rng_.between(-kAround, kAround)), 0, jobs_ - 1);
  }

  int last_count(int job) const { return static_cast<int>(simulator_.counts(job).size()) - 1; }

  int neighbour_count(int job, int by) const {
    return std::clamp(decisions_[job].count_index + by, 0, last_count(job));
  }

  int nearest_count(int job, int procs) const {
    int count = 0;
    while (count < last_count(job) && simulator_.counts(job)[count + 1].procs <= procs) ++count;
    return count;
  }

  int draw_sign() { return rng_.below(2) == 0 ? 1 : -1; }

  void change_decision(int job, Decision to) {
    saved_decisions_.emplace_back(job, decisions_[job]);
    set_decision(job, to);
  }

  void set_decision(int job, Decision to) {
    decisions_[job] = to;
    simulator_.select_count(job, to.count_index);
  }

  // For take_back().
  void save_segment(int low, int high) {
    saved_from_ = low;
    saved_order_.assign(order_.begin() + low, order_.begin() + high + 1);
  }

  void move_job_to(int from, int to) {
    save_segment(std::min(from, to), std::max(from, to));
    move_entry(order_, from, to);
  }

  void undo_move() {
    std::copy(saved_order_.begin(), saved_order_.end(), order_.begin() + saved_from_);
    for (; !saved_decisions_.empty(); saved_decisions_.pop_back())
      set_decision(saved_decisions_.back().first, saved_decisions_.back().second);
  }

  // From the first place that is another on, until all is as it was; infinite where it is over
  // `longest`.
  double evaluate_from(int first, double longest) {
    CorunSimulator::MachineState& state = state_;
    CorunSimulator::copy_state(state_before_[first], state);
    proposal_ends_.clear();
    resync_at_ = jobs_ + 1;
    for (int at = first; at < jobs_ || state.running_count > 0;) {
      while (at < jobs_ && can_start(state, at)) {
        simulator_.start(state, order_[at++]);
        if (at > last_changed_ && CorunSimulator::has_same_future(state, state_before_[at])) {
          resync_at_ = at;
          return value_;
        }
      }
      operations_ += 1 + state.running_count;
      if (!simulator_.advance_to_next_end(state, longest, proposal_ends_)) return kInfinity;
    }
    return state.now + kEndsCount * state.sum_of_ends / jobs_;
  }

  bool can_start(const CorunSimulator::MachineState& state, int place) const {
    if (state.running_count == 0) return true;
    const int job = order_[place];
    return state.running_count <= decisions_[job].max_concurrent &&
           simulator_.has_room_for(state, job);
  }

  const Instance& instance_;
  Rng& rng_;
  int jobs_;
  CorunSimulator simulator_;

  std::vector<int> order_, best_order_;
  std::vector<Decision> decisions_, best_decisions_;        // of each job
  std::vector<CorunSimulator::MachineState> state_before_;  // each place, and after the last
  CorunSimulator::MachineState state_;
  std::vector<double> job_starts_, job_ends_;          // of each job: for turn()
  std::vector<CorunSimulator::JobEnd> proposal_ends_;  // of a proposal
  double value_ = 0, best_value_ = 0;
  // Of a proposal, to take back.
  std::vector<std::pair<int, Decision>> saved_decisions_;
  std::vector<int> saved_order_;  // the order from kept_from_ on
  int saved_from_ = 0;
  int last_changed_ = 0,
      resync_at_ = 0;  // places: the last that is another; where all is as before
  std::int64_t operations_ = 0;
};

}  // namespace cosched::moldable::shared
