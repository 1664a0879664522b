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
      : instance_(instance), rng_(rng), jobs_(instance.jobs()), machine_(instance, decoder) {}

  /// From a schedule, cooling from `hot` to `cold`, which are shares of the makespan.  O(k^2) a job
  /// from the first changed one on, for sets of k.  May end as check_interrupt(): best() stays.
  void anneal(const Placement& from, double hot, double cold, std::int64_t operations) {
    begin(from);
    const std::int64_t first = operations_;
    const auto spent = [&] { return operations_ - first; };
    const double work = std::max(1.0, static_cast<double>(operations));
    cosched::anneal(cold / hot, work, spent, [&](double warmth) {
      const double temperature = value_ * hot * warmth;
      for (int k = 0; k < kBatch; ++k) {
        if (!propose(temperature) || !(value_ < best_value_ * (1 - kExactTolerance))) continue;
        best_value_ = value_;
        best_order_ = order_;
        best_decided_ = decided_;
      }
      return true;
    });
  }

  /// The shortest of the last call, decoded anew; empty before any.
  Placement best() const {
    if (best_order_.empty()) return {};
    list::Making making(instance_);
    for (auto next = best_order_.begin(); next != best_order_.end() || !making.set().empty();) {
      for (; next != best_order_.end(); ++next) {
        const auto [chosen, beside] = best_decided_[*next];
        const Run run = making.run_of(*next, machine_.counts(*next)[chosen].procs);
        const auto others = static_cast<int>(making.set().size());
        if (others > 0 && (others > beside || !making.fits(run))) break;
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
    int count, beside;  // count: a place in the counts of the job
  };

  void begin(const Placement& from) {
    order_ = by_start(from);
    std::vector<double> ends = from.end;
    std::sort(ends.begin(), ends.end());
    decided_.assign(jobs_, {});
    for (int k = 0; k < jobs_; ++k) {
      const int i = order_[k];
      const double start = from.start[i] * (1 + kExactTolerance);
      const auto ended =
          static_cast<int>(std::upper_bound(ends.begin(), ends.end(), start) - ends.begin());
      set(i, {nearest(i, from.procs[i]), std::max(0, k - ended)});
    }
    state_ = machine_.empty();
    before_.assign(jobs_ + 1, state_);
    end_.assign(jobs_, 0);
    start_ = end_;
    last_ = jobs_;
    accept(0, length(0, kInfinity));
    best_order_ = order_;
    best_decided_ = decided_;
    best_value_ = value_;
  }

  bool propose(double temperature) {
    changed_.clear();
    kept_.clear();
    operations_ += 4;
    const int first = change();
    if (first < jobs_) {
      const double longest = value_ - temperature * std::log(std::max(rng_.uniform(), 1e-300));
      const double found = length(first, longest);
      if (found <= longest) {
        accept(first, found);
        return true;
      }
    }
    take_back();
    return false;
  }

  void accept(int first, double value) {
    value_ = value;
    for (const SideBySide::Ended& one : ended_) end_[one.job] = one.end;
    SideBySide::copy(before_[first], state_);
    for (int at = first;;) {
      while (at < jobs_ && starts(state_, at)) {
        machine_.start(state_, order_[at++]);
        if (at == same_from_) return;
        SideBySide::copy(state_, before_[at]);
      }
      if (at == jobs_) return;
      machine_.finish(state_, kInfinity, ended_);
    }
  }

  int change() {
    const auto place = static_cast<int>(rng_.below(jobs_));
    auto kind = static_cast<int>(rng_.below(kCounts + kTrades + kSwaps + kMoves + kTurns + kWaits));
    if ((kind -= kCounts) < 0) return change_count(place);
    if ((kind -= kTrades) < 0) return trade_counts(place);
    if ((kind -= kSwaps) < 0) return swap_jobs(place);
    if ((kind -= kMoves) < 0) return move_job(place);
    if ((kind -= kTurns) < 0) return turn(place);
    return change_beside(place);
  }

  int change_count(int place) {
    const int i = order_[place], now = decided_[i].count;
    const int count = rng_.below(5) == 0 ? static_cast<int>(rng_.below(machine_.counts(i).size()))
                                         : stepped(i, sign());
    if (count == now) return jobs_;
    last_ = place;
    decide(i, {count, decided_[i].beside});
    return place;
  }

  // One more for this, one less for a near one.
  int trade_counts(int place) {
    const int other =
        std::clamp(place + static_cast<int>(rng_.between(-kAround, kAround)), 0, jobs_ - 1);
    const int i = order_[place], j = order_[other];
    const int more = stepped(i, 1), fewer = stepped(j, -1);
    if (i == j || (more == decided_[i].count && fewer == decided_[j].count)) return jobs_;
    last_ = std::max(place, other);
    decide(i, {more, decided_[i].beside});
    decide(j, {fewer, decided_[j].beside});
    return std::min(place, other);
  }

  // Who waits is a matter of places; counts go with their jobs, or are near those of the other.
  int swap_jobs(int place) {
    const int other = drawn_place(place);
    if (other == place) return jobs_;
    const int i = order_[place], j = order_[other];
    const int low = std::min(place, other), high = std::max(place, other);
    keep(low, high);
    last_ = high;
    std::swap(order_[low], order_[high]);
    Decision mine{decided_[i].count, decided_[j].beside};
    Decision theirs{decided_[j].count, decided_[i].beside};
    if (rng_.below(2) == 0) {
      const int procs = machine_.counts(i)[mine.count].procs;
      mine.count = nearest(i, machine_.counts(j)[theirs.count].procs);
      theirs.count = nearest(j, procs);
    }
    decide(i, mine);
    decide(j, theirs);
    return low;
  }

  int move_job(int place) {
    const int to = drawn_place(place), i = order_[place];
    if (to == place) return jobs_;
    move(place, to);
    last_ = std::max(place, to);
    if (rng_.below(2) == 0) {
      const int count = rng_.below(2) == 0 ? stepped(i, sign()) : decided_[i].count;
      decide(i, {count, std::max(0, decided_[i].beside + sign())});
    }
    return std::min(place, to);
  }

  // The jobs from a place on backwards in time, so that the same run side by side: by falling ends,
  // each beside those that run when it ends.  The first of them wait for what runs before as the
  // first did so far.
  int turn(int place) {
    if (jobs_ - place < 2) return jobs_;
    const int most = rng_.below(2) == 0 ? jobs_ : kShortTurn;
    const int end = std::min(place + 2 + static_cast<int>(rng_.below(most - 1)), jobs_);
    keep(place, end - 1);
    last_ = end - 1;
    std::array<int, kTurnedFirst> so_far{};
    for (int k = place; k < end; ++k) {
      start_[order_[k]] = before_[k + 1].now;
      if (k - place < kTurnedFirst) so_far[k - place] = decided_[order_[k]].beside;
    }
    const auto at = order_.begin();
    std::stable_sort(at + place, at + end, [&](int i, int j) { return end_[i] > end_[j]; });
    for (int k = place; k < end; ++k) {
      const int i = order_[k];
      auto beside = static_cast<int>(std::count_if(
          at + place, at + k, [&](int j) { return start_[j] < end_[i] * (1 - kExactTolerance); }));
      const int before = k - place;
      if (place > 0 && before < kTurnedFirst) beside = std::max(beside, so_far[before]);
      decide(i, {decided_[i].count, beside});
    }
    return place;
  }

  int change_beside(int place) {
    const int i = order_[place], beside = decided_[i].beside + sign();
    if (beside < 0) return jobs_;
    last_ = place;
    decide(i, {decided_[i].count, beside});
    return place;
  }

  int drawn_place(int place) {
    if (rng_.below(kDrawnNear) > 0) return static_cast<int>(rng_.below(jobs_));
    return std::clamp(place + static_cast<int>(rng_.between(-kAround, kAround)), 0, jobs_ - 1);
  }

  int last_count(int job) const { return static_cast<int>(machine_.counts(job).size()) - 1; }

  int stepped(int job, int by) const {
    return std::clamp(decided_[job].count + by, 0, last_count(job));
  }

  int nearest(int job, int procs) const {
    int count = 0;
    while (count < last_count(job) && machine_.counts(job)[count + 1].procs <= procs) ++count;
    return count;
  }

  int sign() { return rng_.below(2) == 0 ? 1 : -1; }

  void decide(int job, Decision to) {
    changed_.emplace_back(job, decided_[job]);
    set(job, to);
  }

  void set(int job, Decision to) {
    decided_[job] = to;
    machine_.take(job, to.count);
  }

  // For take_back().
  void keep(int low, int high) {
    kept_from_ = low;
    kept_.assign(order_.begin() + low, order_.begin() + high + 1);
  }

  void move(int from, int to) {
    keep(std::min(from, to), std::max(from, to));
    move_within(order_, from, to);
  }

  void take_back() {
    std::copy(kept_.begin(), kept_.end(), order_.begin() + kept_from_);
    for (; !changed_.empty(); changed_.pop_back())
      set(changed_.back().first, changed_.back().second);
  }

  // From the first place that is another on, until all is as it was; infinite where it is over
  // `longest`.
  double length(int first, double longest) {
    SideBySide::State& state = state_;
    SideBySide::copy(before_[first], state);
    ended_.clear();
    same_from_ = jobs_ + 1;
    for (int at = first; at < jobs_ || state.size > 0;) {
      while (at < jobs_ && starts(state, at)) {
        machine_.start(state, order_[at++]);
        if (at > last_ && SideBySide::same(state, before_[at])) {
          same_from_ = at;
          return value_;
        }
      }
      operations_ += 1 + state.size;
      if (!machine_.finish(state, longest, ended_)) return kInfinity;
    }
    return state.now + kEndsCount * state.ends / jobs_;
  }

  bool starts(const SideBySide::State& state, int place) const {
    if (state.size == 0) return true;
    const int job = order_[place];
    return state.size <= decided_[job].beside && machine_.fits(state, job);
  }

  const Instance& instance_;
  Rng& rng_;
  int jobs_;
  SideBySide machine_;

  std::vector<int> order_, best_order_;
  std::vector<Decision> decided_, best_decided_;  // of each job
  std::vector<SideBySide::State> before_;         // each place, and after the last
  SideBySide::State state_;
  std::vector<double> start_, end_;       // of each job: for turn()
  std::vector<SideBySide::Ended> ended_;  // of a proposal
  double value_ = 0, best_value_ = 0;
  // Of a proposal, to take back.
  std::vector<std::pair<int, Decision>> changed_;
  std::vector<int> kept_;  // the order from kept_from_ on
  int kept_from_ = 0;
  int last_ = 0, same_from_ = 0;  // places: the last that is another; where all is as before
  std::int64_t operations_ = 0;
};

}  // namespace cosched::moldable::shared
