#include "cosched/moldable/shared/side_by_side.hpp"

#include "cosched/core/numeric.hpp"
#include "cosched/core/progress.hpp"

namespace cosched::moldable::shared {
namespace {

constexpr double kDone = 1e-12;  // of a job is left

}  // namespace

SideBySide::SideBySide(const Instance& instance, const list::Decoder& decoder)
    : jobs_(instance.jobs()),
      machines_(instance.machines()),
      resources_(instance.sharing()->resources()),
      rule_(instance.sharing()->rule()),
      slows_by_pairs_(instance.sharing()->slowdowns().has_value()),
      counts_(jobs_),
      needs_(jobs_),
      taken_(jobs_),
      needed_(jobs_ * resources_) {
  const Sharing& sharing = *instance.sharing();
  for (int r = 0; r < resources_; ++r) room_.push_back(sharing.capacity(r) * (1 + kExactTolerance));
  for (int i = 0; i < jobs_; ++i) {
    stall_.push_back(sharing.stall(i));
    stalls_ |= stall_.back() > 0;
    for (const Choice& c : decoder.counts(i)) {
      counts_[i].push_back({c.procs, c.time, sharing.load(i, c.procs)});
      for (int r = 0; r < resources_; ++r) needs_[i].push_back(sharing.need(r, i, c.procs));
    }
  }
  if (!slows_by_pairs_) return;
  for (int i = 0; i < jobs_; ++i)
    for (int j = 0; j < jobs_; ++j) excess_.push_back(sharing.excess(i, j));
}

void SideBySide::take(int job, int count) {
  taken_[job] = counts_[job][count];
  std::copy_n(needs_[job].begin() + count * resources_, resources_,
              needed_.begin() + job * resources_);
}

SideBySide::State SideBySide::empty() const {
  State state;
  state.free = machines_;
  state.used.assign(resources_, 0);
  return state;
}

bool SideBySide::fits(const State& state, int job) const {
  if (taken_[job].procs > state.free) return false;
  for (int r = 0; r < resources_; ++r)
    if (state.used[r] + need(job, r) > room_[r]) return false;
  return true;
}

void SideBySide::start(State& state, int job) const {
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

void SideBySide::leave(State& state, const Member& member) const {
  state.ends += state.now;
  state.free += member.procs;
  state.load -= taken_[member.job].load;
  for (int r = 0; r < resources_; ++r) state.used[r] -= need(member.job, r);
}

bool SideBySide::finish(State& state, double latest, std::vector<Ended>& ended) const {
  const double over = stalls_ && state.size > 1 ? std::max(0.0, state.load - 1) : 0;
  double step = kInfinity;
  for (int k = 0; k < state.size; ++k)
    step = std::min(step, state.running[k].left * factor(state.running[k], over));
  require_progress(step < kInfinity, "jobs side by side");
  state.now += step;
  if (state.now > latest) return false;
  const std::size_t first = ended.size();
  int kept = 0;
  for (int k = 0; k < state.size; ++k) {
    Member& member = state.running[k];
    member.left -= step / factor(member, over);
    if (member.left > member.done) {
      if (kept < k) state.running[kept] = member;
      ++kept;
    } else {
      ended.push_back({member.job, state.now});
      leave(state, member);
    }
  }
  state.size = kept;
  if (kept == 0) {  // rounding errors do not last
    state.load = 0;
    std::fill(state.used.begin(), state.used.end(), 0.0);
  }
  if (slows_by_pairs_) pair_anew(state, ended.data() + first, ended.data() + ended.size());
  return true;
}

// Those that run on, without those that ended.
void SideBySide::pair_anew(State& state, const Ended* left, const Ended* end) const {
  for (int k = 0; k < state.size; ++k) {
    Member& member = state.running[k];
    if (rule_ == SlowdownRule::sum) {
      for (const Ended* one = left; one < end; ++one) member.pairs -= excess(member.job, one->job);
      if (state.size == 1) member.pairs = 1;
      continue;
    }
    member.pairs = 1;
    for (int other = 0; other < state.size; ++other)
      if (other != k)
        member.pairs = paired(member.pairs, excess(member.job, state.running[other].job));
  }
}

void SideBySide::copy(const State& from, State& to) {
  to.now = from.now;
  to.ends = from.ends;
  to.load = from.load;
  to.free = from.free;
  to.size = from.size;
  if (static_cast<int>(to.running.size()) < from.size) to.running.resize(from.size);
  std::copy_n(from.running.begin(), from.size, to.running.begin());
  std::copy(from.used.begin(), from.used.end(), to.used.begin());
}

bool SideBySide::same(const State& one, const State& other) {
  return one.now == other.now && one.size == other.size && one.ends == other.ends &&
         std::equal(one.running.begin(), one.running.begin() + one.size, other.running.begin(),
                    [](const Member& a, const Member& b) {
                      return a.job == b.job && a.procs == b.procs && a.left == b.left;
                    });
}

}  // namespace cosched::moldable::shared
