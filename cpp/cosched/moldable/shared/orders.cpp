#include "cosched/moldable/shared/orders.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::moldable::shared {
namespace {

// Of a mean end, so that plateaus of the makespan lead somewhere.
constexpr double kEndsCount = 1e-3;
constexpr double kDone = 1e-12;  // of a job is left
constexpr int kBatch = 64;       // proposals at a temperature
constexpr int kAround = 2;       // places from one that is near
// Of each kind of change, how often; one swap or move in kDrawnNear goes near.
constexpr int kCounts = 5, kTrades = 4, kSwaps = 9, kMoves = 3, kTurns = 3, kWaits = 12;
constexpr int kDrawnNear = 3;
constexpr int kTurnedFirst = 3;
constexpr int kShortTurn = 8;  // jobs; every other one may be of all

}  // namespace

OrderSearch::OrderSearch(const Instance& instance, const Decoder& decoder, Rng& rng)
    : instance_(instance),
      sharing_(*instance.sharing()),
      rng_(rng),
      jobs_(instance.jobs()),
      resources_(sharing_.resources()),
      rule_(sharing_.rule()),
      slows_by_pairs_(sharing_.slowdowns().has_value()),
      counts_(jobs_),
      needs_(jobs_) {
  for (int r = 0; r < resources_; ++r)
    room_.push_back(sharing_.capacity(r) * (1 + kExactTolerance));
  for (int i = 0; i < jobs_; ++i) {
    stall_.push_back(sharing_.stall(i));
    stalls_ |= stall_.back() > 0;
    for (const Choice& c : decoder.counts(i)) {
      counts_[i].push_back({c.procs, c.time, sharing_.load(i, c.procs)});
      for (int r = 0; r < resources_; ++r) needs_[i].push_back(sharing_.need(r, i, c.procs));
    }
  }
  if (!slows_by_pairs_) return;
  for (int i = 0; i < jobs_; ++i)
    for (int j = 0; j < jobs_; ++j) excess_.push_back(sharing_.excess(i, j));
}

// --- annealing --------------------------------------------------------------------------------

void OrderSearch::begin(const Placement& from) {
  order_.resize(jobs_);
  std::iota(order_.begin(), order_.end(), 0);
  std::stable_sort(order_.begin(), order_.end(),
                   [&](int a, int b) { return from.start[a] < from.start[b]; });
  std::vector<double> ends = from.end;
  std::sort(ends.begin(), ends.end());
  decided_.assign(jobs_, {});
  taken_.resize(jobs_);
  needed_.resize(jobs_ * resources_);
  for (int k = 0; k < jobs_; ++k) {
    const int i = order_[k];
    const double start = from.start[i] * (1 + kExactTolerance);
    const auto ended =
        static_cast<int>(std::upper_bound(ends.begin(), ends.end(), start) - ends.begin());
    set(i, {nearest(i, from.procs[i]), std::max(0, k - ended)});
  }
  State empty;
  empty.free = instance_.machines();
  empty.used.assign(resources_, 0);
  before_.assign(jobs_ + 1, empty);
  state_ = empty;
  end_.assign(jobs_, 0);
  start_ = end_;
  new_end_ = end_;
  last_ = jobs_;
  accept(0, length(0, kInfinity));
  best_order_ = order_;
  best_decided_ = decided_;
  best_value_ = value_;
}

void OrderSearch::anneal(const Placement& from, double hot, double cold, std::int64_t operations) {
  begin(from);
  const double seconds = seconds_left();
  const std::int64_t first = operations_;
  for (double done = 0; done < 1;) {
    const double passed = seconds < kInfinity ? 1 - seconds_left() / seconds : 0;
    const double temperature = value_ * hot * std::pow(cold / hot, std::max(done, passed));
    for (int k = 0; k < kBatch; ++k) {
      if (!propose(temperature) || !(value_ < best_value_ * (1 - kExactTolerance))) continue;
      best_value_ = value_;
      best_order_ = order_;
      best_decided_ = decided_;
    }
    check_interrupt();
    done = operations > 0
               ? static_cast<double>(operations_ - first) / static_cast<double>(operations)
               : 1;
  }
}

bool OrderSearch::propose(double temperature) {
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

void OrderSearch::accept(int first, double value) {
  value_ = value;
  for (const int job : ended_) end_[job] = new_end_[job];
  copy(before_[first], state_);
  for (int at = first;;) {
    while (at < jobs_ && starts(state_, at)) {
      start(state_, order_[at++]);
      if (at == same_from_) return;
      copy(state_, before_[at]);
    }
    if (at == jobs_) return;
    const double over = this->over(state_), step = next_end(state_, over);
    state_.now += step;
    end(state_, step, over);
  }
}

// --- changes: the first place that they touch, jobs_ where nothing is another ---------------------

int OrderSearch::change() {
  const auto place = static_cast<int>(rng_.below(jobs_));
  auto kind = static_cast<int>(rng_.below(kCounts + kTrades + kSwaps + kMoves + kTurns + kWaits));
  if ((kind -= kCounts) < 0) return change_count(place);
  if ((kind -= kTrades) < 0) return trade_counts(place);
  if ((kind -= kSwaps) < 0) return swap_jobs(place);
  if ((kind -= kMoves) < 0) return move_job(place);
  if ((kind -= kTurns) < 0) return turn(place);
  return change_beside(place);
}

int OrderSearch::change_count(int place) {
  const int i = order_[place], now = decided_[i].count;
  const int count =
      rng_.below(5) == 0 ? static_cast<int>(rng_.below(counts_[i].size())) : stepped(i, sign());
  if (count == now) return jobs_;
  last_ = place;
  decide(i, {count, decided_[i].beside});
  return place;
}

// One more for this, one less for a near one.
int OrderSearch::trade_counts(int place) {
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
int OrderSearch::swap_jobs(int place) {
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
    const int procs = counts_[i][mine.count].procs;
    mine.count = nearest(i, counts_[j][theirs.count].procs);
    theirs.count = nearest(j, procs);
  }
  decide(i, mine);
  decide(j, theirs);
  return low;
}

int OrderSearch::move_job(int place) {
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

// The jobs from a place on backwards in time, so that the same run side by side: by falling ends, each beside those
// that run when it ends.  The first of them wait for what runs before as the first did so far.
int OrderSearch::turn(int place) {
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

int OrderSearch::change_beside(int place) {
  const int i = order_[place], beside = decided_[i].beside + sign();
  if (beside < 0) return jobs_;
  last_ = place;
  decide(i, {decided_[i].count, beside});
  return place;
}

int OrderSearch::drawn_place(int place) {
  if (rng_.below(kDrawnNear) > 0) return static_cast<int>(rng_.below(jobs_));
  return std::clamp(place + static_cast<int>(rng_.between(-kAround, kAround)), 0, jobs_ - 1);
}

int OrderSearch::stepped(int job, int by) const {
  return std::clamp(decided_[job].count + by, 0, last_count(job));
}

int OrderSearch::nearest(int job, int procs) const {
  int count = 0;
  while (count < last_count(job) && counts_[job][count + 1].procs <= procs) ++count;
  return count;
}

void OrderSearch::decide(int job, Decision to) {
  changed_.emplace_back(job, decided_[job]);
  set(job, to);
}

void OrderSearch::set(int job, Decision to) {
  decided_[job] = to;
  taken_[job] = counts_[job][to.count];
  std::copy_n(needs_[job].begin() + to.count * resources_, resources_,
              needed_.begin() + job * resources_);
}

// For take_back().
void OrderSearch::keep(int low, int high) {
  kept_from_ = low;
  kept_.assign(order_.begin() + low, order_.begin() + high + 1);
}

void OrderSearch::move(int from, int to) {
  keep(std::min(from, to), std::max(from, to));
  const auto at = order_.begin();
  if (from < to)
    std::rotate(at + from, at + from + 1, at + to + 1);
  else
    std::rotate(at + to, at + from, at + from + 1);
}

void OrderSearch::take_back() {
  std::copy(kept_.begin(), kept_.end(), order_.begin() + kept_from_);
  for (; !changed_.empty(); changed_.pop_back()) set(changed_.back().first, changed_.back().second);
}

// --- what an order takes --------------------------------------------------------------------------

bool OrderSearch::starts(const State& state, int place) const {
  if (state.size == 0) return true;
  const int job = order_[place];
  if (state.size > decided_[job].beside || taken_[job].procs > state.free) return false;
  for (int r = 0; r < resources_; ++r)
    if (state.used[r] + need(job, r) > room_[r]) return false;
  return true;
}

double OrderSearch::paired(double factor, double excess) const {
  switch (rule_) {
    case SlowdownRule::sum:
      return factor + excess;
    case SlowdownRule::product:
      return factor * (1 + excess);
    default:
      return std::max(factor, 1 + excess);
  }
}

void OrderSearch::start(State& state, int job) const {
  const Count& count = taken_[job];
  double pairs = 1;
  if (slows_by_pairs_)
    for (int k = 0; k < state.size; ++k) {
      Member& other = state.running[k];
      pairs = paired(pairs, excess(job, other.job));
      other.pairs = paired(other.pairs, excess(other.job, job));
    }
  for (int r = 0; r < resources_; ++r) state.used[r] += need(job, r);
  state.load += count.load;
  state.free -= count.procs;
  if (state.size == static_cast<int>(state.running.size())) state.running.emplace_back();
  state.running[state.size++] = {count.time, pairs, kDone * count.time, job, count.procs};
}

void OrderSearch::leave(State& state, const Member& member) {
  ended_.push_back(member.job);
  new_end_[member.job] = state.now;
  state.ends += state.now;
  state.free += member.procs;
  state.load -= taken_[member.job].load;
  for (int r = 0; r < resources_; ++r) state.used[r] -= need(member.job, r);
}

// What is left after `step` more seconds; those that end leave.
void OrderSearch::end(State& state, double step, double over) {
  const std::size_t first = ended_.size();
  int kept = 0;
  for (int k = 0; k < state.size; ++k) {
    Member& member = state.running[k];
    member.left -= step / factor(member, over);
    if (member.left > member.done) {
      if (kept < k) state.running[kept] = member;
      ++kept;
    } else {
      leave(state, member);
    }
  }
  state.size = kept;
  if (kept == 0) {  // rounding errors do not last
    state.load = 0;
    std::fill(state.used.begin(), state.used.end(), 0.0);
  }
  if (!slows_by_pairs_) return;
  for (int k = 0; k < kept; ++k) {
    Member& member = state.running[k];
    if (rule_ == SlowdownRule::sum) {
      for (std::size_t e = first; e < ended_.size(); ++e)
        member.pairs -= excess(member.job, ended_[e]);
      if (kept == 1) member.pairs = 1;
      continue;
    }
    member.pairs = 1;
    for (int other = 0; other < kept; ++other)
      if (other != k)
        member.pairs = paired(member.pairs, excess(member.job, state.running[other].job));
  }
}

void OrderSearch::copy(const State& from, State& to) {
  to.now = from.now;
  to.ends = from.ends;
  to.load = from.load;
  to.free = from.free;
  to.size = from.size;
  if (static_cast<int>(to.running.size()) < from.size) to.running.resize(from.size);
  std::copy_n(from.running.begin(), from.size, to.running.begin());
  std::copy(from.used.begin(), from.used.end(), to.used.begin());
}

// Whether what follows is as before: the same runs with as much left.
bool OrderSearch::same(const State& one, const State& other) {
  return one.now == other.now && one.size == other.size && one.ends == other.ends &&
         std::equal(one.running.begin(), one.running.begin() + one.size, other.running.begin(),
                    [](const Member& a, const Member& b) {
                      return a.job == b.job && a.procs == b.procs && a.left == b.left;
                    });
}

double OrderSearch::over(const State& state) const {
  return stalls_ && state.size > 1 ? std::max(0.0, state.load - 1) : 0;
}

double OrderSearch::next_end(const State& state, double over) const {
  double step = kInfinity;
  for (int k = 0; k < state.size; ++k)
    step = std::min(step, state.running[k].left * factor(state.running[k], over));
  return step;
}

// From the first place that is another on, until all is as it was; infinite where it is over `longest`.
double OrderSearch::length(int first, double longest) {
  State& state = state_;
  copy(before_[first], state);
  ended_.clear();
  same_from_ = jobs_ + 1;
  for (int at = first; at < jobs_ || state.size > 0;) {
    while (at < jobs_ && starts(state, at)) {
      start(state, order_[at++]);
      if (at > last_ && same(state, before_[at])) {
        same_from_ = at;
        return value_;
      }
    }
    operations_ += 1 + state.size;
    const double over = this->over(state), step = next_end(state, over);
    state.now += step;
    if (state.now > longest) return kInfinity;
    end(state, step, over);
  }
  return state.now + kEndsCount * state.ends / jobs_;
}

Placement OrderSearch::best() const {
  Placement placement = unplaced(static_cast<int>(best_order_.size()));
  Running running(&sharing_);
  double now = 0;
  int free = instance_.machines();
  const auto starts = [&](const Run& run, int beside) {
    if (running.size() == 0) return true;
    std::vector<Run> with = running.set();
    with.push_back(run);
    return running.size() <= beside && run.procs <= free && sharing_.fits(with);
  };
  for (auto next = best_order_.begin(); next != best_order_.end() || running.size() > 0;) {
    for (; next != best_order_.end(); ++next) {
      const Count& count = counts_[*next][best_decided_[*next].count];
      const Run run{*next, count.procs, count.time};
      if (!starts(run, best_decided_[*next].beside)) break;
      running.start(run, now);
      placement.procs[run.task] = run.procs;
      placement.start[run.task] = now;
      free -= run.procs;
    }
    for (const Running::Ended& one : running.finish()) {
      placement.end[one.task] = one.end;
      free += placement.procs[one.task];
      now = std::max(now, one.end);
    }
  }
  return placement;
}

}  // namespace cosched::moldable::shared
