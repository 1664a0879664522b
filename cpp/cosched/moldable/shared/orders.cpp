#include "cosched/moldable/shared/orders.hpp"

#include <algorithm>
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
constexpr int kCounts = 5, kTrades = 4, kSwaps = 9, kMoves = 3, kWaits = 3;
constexpr int kDrawnNear = 3;

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
  decided_.resize(jobs_);
  for (int k = 0; k < jobs_; ++k) {
    const int i = order_[k];
    const double start = from.start[i] * (1 + kExactTolerance);
    const auto ended =
        static_cast<int>(std::upper_bound(ends.begin(), ends.end(), start) - ends.begin());
    decided_[i] = {nearest(i, from.procs[i]), std::max(0, k - ended)};
  }
  before_.assign(jobs_, {});
  before_[0].free = instance_.machines();
  before_[0].used.assign(resources_, 0);
  fresh_ = before_;
  value_ = length(0, kInfinity);
  std::swap_ranges(before_.begin() + 1, before_.end(), fresh_.begin() + 1);
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
  moved_.clear();
  operations_ += 4;
  const int first = change();
  if (first < jobs_) {
    const double longest = value_ - temperature * std::log(std::max(rng_.uniform(), 1e-300));
    const double found = length(first, longest);
    if (found <= longest) {
      value_ = found;
      std::swap_ranges(before_.begin() + first + 1, before_.end(), fresh_.begin() + first + 1);
      return true;
    }
  }
  take_back();
  return false;
}

// --- changes: the first place that they touch, jobs_ where nothing is another ---------------------

int OrderSearch::change() {
  const auto place = static_cast<int>(rng_.below(jobs_));
  auto kind = static_cast<int>(rng_.below(kCounts + kTrades + kSwaps + kMoves + kWaits));
  if ((kind -= kCounts) < 0) return change_count(place);
  if ((kind -= kTrades) < 0) return trade_counts(place);
  if ((kind -= kSwaps) < 0) return swap_jobs(place);
  if ((kind -= kMoves) < 0) return move_job(place);
  return change_beside(place);
}

int OrderSearch::change_count(int place) {
  const int i = order_[place], now = decided_[i].count;
  const int count =
      rng_.below(5) == 0 ? static_cast<int>(rng_.below(counts_[i].size())) : stepped(i, sign());
  if (count == now) return jobs_;
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
  move(low, high);
  if (high - 1 > low) move(high - 1, low);
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
  if (rng_.below(2) == 0) {
    const int count = rng_.below(2) == 0 ? stepped(i, sign()) : decided_[i].count;
    decide(i, {count, std::max(0, decided_[i].beside + sign())});
  }
  return std::min(place, to);
}

int OrderSearch::change_beside(int place) {
  const int i = order_[place], beside = decided_[i].beside + sign();
  if (beside < 0) return jobs_;
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
  decided_[job] = to;
}

void OrderSearch::move(int from, int to) {
  const auto at = order_.begin();
  if (from < to)
    std::rotate(at + from, at + from + 1, at + to + 1);
  else
    std::rotate(at + to, at + from, at + from + 1);
  moved_.emplace_back(from, to);
}

void OrderSearch::take_back() {
  while (!moved_.empty()) {
    const auto [from, to] = moved_.back();
    move(to, from);
    moved_.resize(moved_.size() - 2);
  }
  for (; !changed_.empty(); changed_.pop_back())
    decided_[changed_.back().first] = changed_.back().second;
}

// --- what an order takes --------------------------------------------------------------------------

bool OrderSearch::fits(const State& state, int job) const {
  if (counts_[job][decided_[job].count].procs > state.free) return false;
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
  const Count& count = counts_[job][decided_[job].count];
  double pairs = 1;
  if (slows_by_pairs_)
    for (Member& other : state.running) {
      pairs = paired(pairs, excess(job, other.job));
      other.pairs = paired(other.pairs, excess(other.job, job));
    }
  for (int r = 0; r < resources_; ++r) state.used[r] += need(job, r);
  state.load += count.load;
  state.free -= count.procs;
  state.running.push_back({job, count.procs, count.time, count.time, pairs, stall_[job], 1});
}

// What is left after `step` more seconds; those that end leave.
void OrderSearch::end(State& state, double step) const {
  std::size_t kept = 0;
  std::vector<Member>& running = state.running;
  for (std::size_t k = 0; k < running.size(); ++k) {
    Member member = running[k];
    member.left -= step / member.factor;
    if (member.left > kDone * member.alone) {
      running[kept++] = member;
      continue;
    }
    state.free += member.procs;
    state.load -= counts_[member.job][decided_[member.job].count].load;
    for (int r = 0; r < resources_; ++r) state.used[r] -= need(member.job, r);
  }
  if (kept == running.size()) return;
  running.resize(kept);
  if (kept == 0) {  // rounding errors do not last
    state.load = 0;
    std::fill(state.used.begin(), state.used.end(), 0.0);
  }
  if (!slows_by_pairs_) return;
  for (Member& member : running) {
    member.pairs = 1;
    for (const Member& other : running)
      if (other.job != member.job)
        member.pairs = paired(member.pairs, excess(member.job, other.job));
  }
}

// From the first place that is another on; the states before the others become fresh_.
double OrderSearch::length(int first, double longest) {
  State& state = state_;
  state = before_[first];
  for (int at = first; at < jobs_ || !state.running.empty();) {
    while (at < jobs_ && (state.running.empty() ||
                          (static_cast<int>(state.running.size()) <= decided_[order_[at]].beside &&
                           fits(state, order_[at])))) {
      start(state, order_[at++]);
      if (at < jobs_) fresh_[at] = state;
    }
    const std::size_t size = state.running.size();
    operations_ += 1 + static_cast<std::int64_t>(size);
    const double over = size > 1 ? std::max(0.0, state.load - 1) : 0;
    double step = kInfinity;
    for (Member& member : state.running) {
      member.factor = std::max(member.pairs, 1 + member.stall * over);
      step = std::min(step, member.left * member.factor);
    }
    state.now += step;
    if (state.now > longest) return kInfinity;
    end(state, step);
    state.ends += state.now * static_cast<double>(size - state.running.size());
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
