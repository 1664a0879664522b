#include "cosched/moldable/shared/blocks.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::moldable::shared {
namespace {

constexpr int kFew = 4, kMany = 64;  // jobs of a block
// Temperatures, of the makespan.
constexpr double kHot = 0.01, kWarm = 0.005, kLukewarm = 0.001, kCold = 0.0002;
// Of a mean end, so that plateaus of the makespan lead somewhere.
constexpr double kEndsCount = 1e-3;
constexpr double kDone = 1e-12;  // of a job is left
constexpr int kBatch = 64;       // proposals at a temperature
constexpr int kEarly = 3;        // jobs of a block that may still run when a merged one begins

}  // namespace

BlockSearch::BlockSearch(const Instance& instance, const Decoder& decoder, Rng& rng)
    : instance_(instance),
      sharing_(*instance.sharing()),
      rng_(rng),
      jobs_(instance.jobs()),
      rule_(sharing_.rule()),
      slows_by_pairs_(sharing_.slowdowns().has_value()),
      counts_(jobs_),
      needs_(jobs_),
      count_(jobs_, 0),
      block_of_(jobs_, 0),
      used_(sharing_.resources(), 0) {
  for (int r = 0; r < sharing_.resources(); ++r)
    room_.push_back(sharing_.capacity(r) * (1 + kExactTolerance));
  for (int i = 0; i < jobs_; ++i) {
    stall_.push_back(sharing_.stall(i));
    for (const Choice& c : decoder.counts(i)) {
      counts_[i].push_back({c.procs, c.time, sharing_.load(i, c.procs)});
      for (int r = 0; r < sharing_.resources(); ++r)
        needs_[i].push_back(sharing_.need(r, i, c.procs));
    }
  }
  if (!slows_by_pairs_) return;
  for (int i = 0; i < jobs_; ++i)
    for (int j = 0; j < jobs_; ++j) excess_.push_back(sharing_.excess(i, j));
}

void BlockSearch::anneal(std::int64_t operations) {
  std::vector<Block> blocks(jobs_);
  for (int i = 0; i < jobs_; ++i) {
    blocks[i].jobs = {i};
    blocks[i].ended = {0};
    count_[i] = static_cast<int>(counts_[i].size()) - 1;
  }
  begin(std::move(blocks));
  cool(kFew, kHot, operations / 2);
  restore();
  cool(std::max(kFew, std::min(jobs_, kMany)), kWarm, operations - operations / 2);
}

void BlockSearch::polish(const Placement& placement, std::int64_t operations) {
  Block all;
  all.jobs.resize(jobs_);
  std::iota(all.jobs.begin(), all.jobs.end(), 0);
  std::stable_sort(all.jobs.begin(), all.jobs.end(),
                   [&](int a, int b) { return placement.start[a] < placement.start[b]; });
  std::vector<double> ends = placement.end;
  std::sort(ends.begin(), ends.end());
  for (const int i : all.jobs) {
    const double start = placement.start[i] * (1 + kExactTolerance);
    all.ended.push_back(
        static_cast<int>(std::upper_bound(ends.begin(), ends.end(), start) - ends.begin()));
    count_[i] = 0;
    while (count_[i] + 1 < static_cast<int>(counts_[i].size()) &&
           counts_[i][count_[i] + 1].procs <= placement.procs[i])
      ++count_[i];
  }
  repair(all);
  begin({all});
  cool(std::max(jobs_, kFew), kLukewarm, operations);
}

Placement BlockSearch::best() {
  Placement placement = unplaced(jobs_);
  double now = 0;
  for (const Block& block : best_) {
    Running running(&sharing_);
    int ended = 0, at = 0, free = instance_.machines();
    const auto fits = [&](const Run& run) {
      std::vector<Run> with = running.set();
      with.push_back(run);
      return run.procs <= free && sharing_.fits(with);
    };
    while (at < block.size() || running.size() > 0) {
      for (; at < block.size() && (block.ended[at] <= ended || running.size() == 0); ++at) {
        const int i = block.jobs[at];
        const Count& count = counts_[i][best_count_[i]];
        const Run run{i, count.procs, count.time};
        if (!fits(run)) break;
        running.start(run, now);
        placement.procs[i] = run.procs;
        placement.start[i] = now;
        free -= run.procs;
      }
      for (const Running::Ended& one : running.finish()) {
        placement.end[one.task] = one.end;
        free += placement.procs[one.task];
        now = std::max(now, one.end);
        ++ended;
      }
    }
  }
  return placement;
}

// --- annealing --------------------------------------------------------------------------------

void BlockSearch::begin(std::vector<Block> blocks) {
  blocks_ = std::move(blocks);
  total_ = 0;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    for (const int i : blocks_[b].jobs) block_of_[i] = static_cast<int>(b);
    total_ += blocks_[b].value = length(blocks_[b], kInfinity);
  }
  best_ = blocks_;
  best_count_ = count_;
  best_total_ = total_;
}

void BlockSearch::restore() {
  const std::vector<int> counts = best_count_;
  count_ = counts;
  begin(best_);
}

void BlockSearch::cool(int most, double hot, std::int64_t operations) {
  if (jobs_ < 2 && counts_[0].size() < 2) return;
  const double seconds = seconds_left();
  const std::int64_t first = operations_;
  for (double done = 0; done < 1;) {
    const double passed = seconds < kInfinity ? 1 - seconds_left() / seconds : 0;
    const double temperature = total_ * hot * std::pow(kCold / hot, std::max(done, passed));
    for (int k = 0; k < kBatch; ++k) {
      if (!propose(temperature, most) || !(total_ < best_total_ * (1 - kExactTolerance))) continue;
      best_total_ = total_;
      best_ = blocks_;
      best_count_ = count_;
    }
    check_interrupt();
    done = operations > 0
               ? static_cast<double>(operations_ - first) / static_cast<double>(operations)
               : 1;
  }
}

bool BlockSearch::propose(double temperature, int most) {
  const auto job = static_cast<int>(rng_.below(jobs_));
  first_ = block_of_[job];
  second_ = -1;
  new_first_ = blocks_[first_];
  new_second_.jobs.clear();
  new_second_.ended.clear();
  undo_.clear();
  operations_ += 4;
  const bool changed = change(static_cast<int>(rng_.below(24)), job, most);
  if (changed) {
    const bool pair = second_ >= 0 && second_ < static_cast<int>(blocks_.size());
    const double before = blocks_[first_].value + (pair ? blocks_[second_].value : 0);
    const double longest = before - temperature * std::log(std::max(rng_.uniform(), 1e-300));
    new_first_.value = length(new_first_, longest);
    double after = new_first_.value;
    if (after <= longest && second_ >= 0)
      after += new_second_.value = length(new_second_, longest - after);
    if (after <= longest) {
      accept(after - before);
      return true;
    }
  }
  for (auto change = undo_.rbegin(); change != undo_.rend(); ++change)
    count_[change->first] = change->second;
  return false;
}

void BlockSearch::accept(double gain) {
  total_ += gain;
  blocks_[first_] = new_first_;
  for (const int i : new_first_.jobs) block_of_[i] = first_;
  if (second_ == static_cast<int>(blocks_.size())) blocks_.emplace_back();
  if (second_ >= 0) {
    blocks_[second_] = new_second_;
    for (const int i : new_second_.jobs) block_of_[i] = second_;
  }
  for (const int b : {std::max(first_, second_), std::min(first_, second_)}) {
    if (b < 0 || blocks_[b].size() > 0) continue;
    std::swap(blocks_[b], blocks_.back());
    blocks_.pop_back();
    if (b < static_cast<int>(blocks_.size()))
      for (const int i : blocks_[b].jobs) block_of_[i] = b;
  }
}

// --- moves: false where there is none -----------------------------------------------------------

bool BlockSearch::change(int kind, int job, int most) {
  const auto place = static_cast<int>(
      std::find(new_first_.jobs.begin(), new_first_.jobs.end(), job) - new_first_.jobs.begin());
  if (kind < 5) {
    set_count(job, drawn_count(job));
  } else if (kind < 8) {
    const int other = new_first_.jobs[rng_.below(new_first_.size())];
    if (other == job) return false;
    set_count(job, stepped(job, 1));
    set_count(other, stepped(other, -1));
  } else if (kind < 13) {
    swap_with_any(job);
  } else if (kind < 16 || (kind < 18 && blocks_.size() == 1)) {
    remove(new_first_, place);
    insert(new_first_, static_cast<int>(rng_.below(new_first_.size() + 1)), job);
  } else if (kind < 18) {
    remove(new_first_, place);
    return move_to_any(job, most);
  } else if (kind < 21) {
    change_ended(place);
  } else if (kind < 22) {
    return merge_with_any(most);
  } else if (kind < 23) {
    if (place == 0) return false;
    split(place);
  } else {
    if (new_first_.size() < 2) return false;
    second_ = static_cast<int>(blocks_.size());
    remove(new_first_, place);
    insert(new_second_, 0, job);
  }
  return true;
}

void BlockSearch::swap_with_any(int job) {
  const auto other = static_cast<int>(rng_.below(jobs_));
  const bool apart = block_of_[other] != first_;
  if (apart) {
    second_ = block_of_[other];
    new_second_ = blocks_[second_];
  }
  Block& theirs = apart ? new_second_ : new_first_;
  const auto here = std::find(new_first_.jobs.begin(), new_first_.jobs.end(), job);
  const auto there = std::find(theirs.jobs.begin(), theirs.jobs.end(), other);
  std::iter_swap(here, there);
  if (rng_.below(2) == 0) return;
  const int procs = counts_[job][count_[job]].procs, given = counts_[other][count_[other]].procs;
  const auto nearest = [&](int i, int most) {
    int count = 0;
    while (count + 1 < static_cast<int>(counts_[i].size()) && counts_[i][count + 1].procs <= most)
      ++count;
    set_count(i, count);
  };
  nearest(job, given);
  nearest(other, procs);
}

bool BlockSearch::move_to_any(int job, int most) {
  second_ = static_cast<int>(rng_.below(blocks_.size()));
  if (second_ == first_ || blocks_[second_].size() >= most) return false;
  new_second_ = blocks_[second_];
  insert(new_second_, static_cast<int>(rng_.below(new_second_.size() + 1)), job);
  if (rng_.below(2) == 0) set_count(job, drawn_count(job));
  return true;
}

// Of one place, those before and after it where they must follow; or of all from there on.
void BlockSearch::change_ended(int place) {
  std::vector<int>& ended = new_first_.ended;
  const int by = rng_.below(2) == 0 ? 1 : -1;
  if (rng_.below(2) == 0) {
    const int now = std::clamp(ended[place] + by, 0, place);
    for (int k = 0; k < new_first_.size(); ++k)
      ended[k] = k < place ? std::min(ended[k], now) : std::max(k == place ? now : ended[k], now);
  } else {
    for (int k = place; k < new_first_.size(); ++k) ended[k] += by;
    repair(new_first_);
  }
}

// The other block begins when some of this still run.
bool BlockSearch::merge_with_any(int most) {
  second_ = static_cast<int>(rng_.below(blocks_.size()));
  if (second_ == first_ || new_first_.size() + blocks_[second_].size() > most) return false;
  const int shift = new_first_.size() - 1 - static_cast<int>(rng_.below(kEarly));
  const Block& other = blocks_[second_];
  for (int k = 0; k < other.size(); ++k) {
    new_first_.jobs.push_back(other.jobs[k]);
    new_first_.ended.push_back(other.ended[k] + shift);
  }
  repair(new_first_);
  return true;
}

void BlockSearch::split(int place) {
  second_ = static_cast<int>(blocks_.size());
  for (int k = place; k < new_first_.size(); ++k) {
    new_second_.jobs.push_back(new_first_.jobs[k]);
    new_second_.ended.push_back(new_first_.ended[k] - place);
  }
  new_first_.jobs.resize(place);
  new_first_.ended.resize(place);
  repair(new_second_);
}

int BlockSearch::stepped(int job, int by) const {
  return std::clamp(count_[job] + by, 0, static_cast<int>(counts_[job].size()) - 1);
}

int BlockSearch::drawn_count(int job) {
  if (rng_.below(5) == 0) return static_cast<int>(rng_.below(counts_[job].size()));
  return stepped(job, rng_.below(2) == 0 ? 1 : -1);
}

void BlockSearch::set_count(int job, int count) {
  undo_.emplace_back(job, count_[job]);
  count_[job] = count;
}

// Nobody waits for more than were started before it, nor for fewer than those before it.
void BlockSearch::repair(Block& block) {
  for (int k = 0; k < block.size(); ++k)
    block.ended[k] = std::clamp(block.ended[k], k > 0 ? block.ended[k - 1] : 0, k);
}

void BlockSearch::remove(Block& block, int place) {
  block.jobs.erase(block.jobs.begin() + place);
  block.ended.erase(block.ended.begin() + place);
  for (int k = place; k < block.size(); ++k)
    if (block.ended[k] > place) --block.ended[k];
  repair(block);
}

void BlockSearch::insert(Block& block, int place, int job) {
  int ended = 0;
  if (place < block.size())
    ended = block.ended[place];
  else if (place > 0)
    ended = block.ended[place - 1];
  block.jobs.insert(block.jobs.begin() + place, job);
  block.ended.insert(block.ended.begin() + place, ended);
  repair(block);
}

// --- what a block takes -------------------------------------------------------------------------

double BlockSearch::need(int job, int count, int r) const {
  return needs_[job][count * room_.size() + r];
}

bool BlockSearch::fits(int job) const {
  if (counts_[job][count_[job]].procs > free_) return false;
  for (std::size_t r = 0; r < room_.size(); ++r)
    if (used_[r] + need(job, count_[job], static_cast<int>(r)) > room_[r]) return false;
  return true;
}

double BlockSearch::paired(double factor, double excess) const {
  switch (rule_) {
    case SlowdownRule::sum:
      return factor + excess;
    case SlowdownRule::product:
      return factor * (1 + excess);
    default:
      return std::max(factor, 1 + excess);
  }
}

void BlockSearch::start(int job, std::vector<Member>& running) {
  const Count& count = counts_[job][count_[job]];
  double pairs = 1;
  if (slows_by_pairs_)
    for (Member& other : running) {
      pairs = paired(pairs, excess_[job * jobs_ + other.job]);
      other.pairs = paired(other.pairs, excess_[other.job * jobs_ + job]);
    }
  for (std::size_t r = 0; r < room_.size(); ++r)
    used_[r] += need(job, count_[job], static_cast<int>(r));
  load_ += count.load;
  free_ -= count.procs;
  running.push_back({job, count.time, count.time, pairs, 1, count.procs});
}

// What is left after `step` more seconds; those that end leave.
void BlockSearch::end(std::vector<Member>& running, double step) {
  std::size_t kept = 0;
  for (std::size_t k = 0; k < running.size(); ++k) {
    Member member = running[k];
    member.left -= step / member.factor;
    if (member.left > kDone * member.alone) {
      running[kept++] = member;
      continue;
    }
    ++ended_;
    free_ += member.procs;
    load_ -= counts_[member.job][count_[member.job]].load;
    for (std::size_t r = 0; r < room_.size(); ++r)
      used_[r] -= need(member.job, count_[member.job], static_cast<int>(r));
  }
  if (kept == running.size()) return;
  running.resize(kept);
  if (!slows_by_pairs_) return;
  for (Member& member : running) {
    member.pairs = 1;
    for (const Member& other : running)
      if (other.job != member.job)
        member.pairs = paired(member.pairs, excess_[member.job * jobs_ + other.job]);
  }
}

double BlockSearch::length(const Block& block, double longest) {
  std::fill(used_.begin(), used_.end(), 0.0);
  running_.clear();
  load_ = 0;
  free_ = instance_.machines();
  ended_ = 0;
  double now = 0, sum = 0;
  for (int at = 0; at < block.size() || !running_.empty();) {
    if (running_.empty()) {  // rounding errors do not last
      std::fill(used_.begin(), used_.end(), 0.0);
      load_ = 0;
    }
    while (at < block.size() && (block.ended[at] <= ended_ || running_.empty()) &&
           fits(block.jobs[at]))
      start(block.jobs[at++], running_);
    operations_ += 1 + static_cast<std::int64_t>(running_.size());
    const double over = running_.size() > 1 ? std::max(0.0, load_ - 1) : 0;
    double step = kInfinity;
    for (Member& member : running_) {
      member.factor = std::max(member.pairs, 1 + stall_[member.job] * over);
      step = std::min(step, member.left * member.factor);
    }
    now += step;
    if (now > longest) return kInfinity;
    const int before = ended_;
    end(running_, step);
    sum += now * (ended_ - before);
  }
  return now + kEndsCount * sum / jobs_;
}

}  // namespace cosched::moldable::shared
