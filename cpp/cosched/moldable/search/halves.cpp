#include "cosched/moldable/search/halves.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "cosched/core/numeric.hpp"

namespace cosched::moldable::search {
namespace {

constexpr double kSlip = 1 + 1e-12;  // of sums of a few times
constexpr std::int64_t kFlush = 20'000;
// From so small a part of the room on the sets so far say what all need, where counts can be left out.
constexpr std::size_t kForecast = 80;
// Labels of least area, and of nearly its own, that another is compared with.
constexpr std::size_t kHalvesCompared = 8;
constexpr double kNearer = 0.2;  // of the way from the bound to the deadline
constexpr std::uint32_t kNone = ~std::uint32_t{0};

}  // namespace

Halves::Halves(std::vector<std::vector<Choice>> choices, int machines, Count count,
               std::size_t room)
    : choices_(std::move(choices)),
      jobs_(static_cast<int>(choices_.size())),
      machines_(machines),
      count_(std::move(count)),
      most_(room),
      sure_(room),
      free_(machines),
      below_(machines + 1) {
  for (const auto& own : choices_)
    if (own.size() > 1) sure_ = most_ / kForecast;
}

Halves::Outcome Halves::search(double bound, double deadline, double value,
                               ProcessorPatterns* patterns, const Offer& offer) {
  deadline_ = deadline;
  half_ = deadline / 2;
  room_ = machines_ * deadline * kSlip;
  value_ = value;
  patterns_ = patterns;
  offer_ = &offer;
  measure();
  enough_ = deadline - kNearer * (deadline - bound);
  if (stack() && cross_all() && spend(kFlush)) return Outcome::searched;
  if (value_ < enough_) return Outcome::nearer;
  return full_ ? Outcome::full : Outcome::over;
}

bool Halves::spend(std::int64_t steps) {
  if ((steps_ += steps) < kFlush) return true;
  return count_(std::exchange(steps_, 0));
}

// The least work of each set of jobs, and what each job loses on each number of processors.
void Halves::measure() {
  const std::size_t sets = std::size_t{1} << jobs_;
  least_.assign(sets, 0);
  least_in_half_.assign(sets, 0);
  by_procs_.assign(machines_ + 1, {});
  for (int job = 0; job < jobs_; ++job) {
    double least = kInfinity, in_half = kInfinity;
    for (const Choice& choice : choices_[job]) {
      const double work = choice.procs * choice.time;
      if (choice.time <= deadline_) least = std::min(least, work);
      if (choice.time < half_) in_half = std::min(in_half, work);
    }
    for (const Choice& choice : choices_[job])
      if (choice.time <= deadline_)
        by_procs_[choice.procs].push_back({choice.procs * choice.time - least, choice.time, job});
    const std::size_t bit = std::size_t{1} << job;
    for (std::size_t k = 0; k < bit; ++k) {
      least_[bit | k] = least_[k] + least;
      least_in_half_[bit | k] = least_in_half_[k] + in_half;
    }
  }
  for (auto& some : by_procs_)
    std::sort(some.begin(), some.end(), [](const Candidate& a, const Candidate& b) {
      return std::pair(a.loss, a.job) < std::pair(b.loss, b.job);
    });
}

// Labels of all sets, each from those of one job fewer.  False: the work or the room is over.
bool Halves::stack() {
  const JobSet all = (JobSet{1} << jobs_) - 1;
  pool_ = {{0, machines_}};
  labels_ = {{0, 0, 0, 0, 0, kNone, 1, -1, 0, 0}};
  begin_ = {0, 1};
  for (JobSet jobs = 1; jobs <= all; ++jobs) {
    fresh_.clear();
    fresh_pool_.clear();
    for (int job = 0; job < jobs_; ++job)
      if (in(jobs, job)) {
        stack_on(jobs & ~(JobSet{1} << job), job);
        full_ = fresh_pool_.size() > most_;
        if (full_ || !spend(0)) return false;
      }
    keep();
    if (patterns_) steps_ += patterns_->take_work();
    begin_.push_back(static_cast<std::uint32_t>(labels_.size()));
    full_ = pool_.size() > (pool_.size() > sure_ ? most_ * jobs / all : most_);
    if (full_) return false;
  }
  return true;
}

// The job on top of every label of the others, at every step where enough processors are free.  Beside
// the last job of the label, not on it, only those of higher number: either may be put there first.
void Halves::stack_on(JobSet fewer, int job) {
  const JobSet all = (JobSet{1} << jobs_) - 1;
  const JobSet others = all & ~(fewer | JobSet{1} << job);
  const double rest = least_[others];
  for (std::uint32_t at = begin_[fewer]; at < begin_[fewer + 1]; ++at) {
    const Label& label = labels_[at];
    for (const Choice& choice : choices_[job]) {
      if (label.area + choice.procs * choice.time + rest > room_) continue;
      int free = 0;
      for (int level = 0; level < label.steps; ++level) {
        const Step& step = pool_[label.first + static_cast<std::uint32_t>(level)];
        if (step.time + choice.time >= half_) break;
        free += step.count;
        if (free < choice.procs || (job < label.job && step.time < label.end)) continue;
        put(label, at, job, choice, level, free - choice.procs);
        const Label& made = fresh_.back();
        if (made.area + rest <= room_ &&
            (!patterns_ ||
             patterns_->fits(others, &fresh_pool_[made.first], made.steps, deadline_)))
          continue;
        fresh_pool_.resize(made.first);
        fresh_.pop_back();
      }
    }
  }
}

// On those of the processors free at the level that became free last; `left` of them stay.
void Halves::put(const Label& label, std::uint32_t at, int job, const Choice& choice, int level,
                 int left) {
  const Step* step = &pool_[label.first];
  const Step* const last = step + label.steps;
  const Step* const from = step + level;
  const double end = from->time + choice.time;
  Label made{0,
             0,
             end,
             end,
             static_cast<std::uint32_t>(fresh_pool_.size()),
             at,
             0,
             static_cast<std::int8_t>(job),
             static_cast<std::int8_t>(choice.procs),
             static_cast<std::int8_t>(level)};
  for (; left > 0; ++step) {
    fresh_pool_.push_back({step->time, std::min(left, step->count)});
    left -= step->count;
  }
  for (step = from + 1; step < last && step->time < end; ++step) fresh_pool_.push_back(*step);
  fresh_pool_.push_back({end, choice.procs});
  if (step < last && step->time == end) fresh_pool_.back().count += (step++)->count;
  fresh_pool_.insert(fresh_pool_.end(), step, last);
  for (std::size_t k = made.first; k < fresh_pool_.size(); ++k)
    made.area += fresh_pool_[k].time * fresh_pool_[k].count;
  made.low = fresh_pool_[made.first].time;
  made.top = fresh_pool_.back().time;
  made.steps = static_cast<std::int8_t>(fresh_pool_.size() - made.first);
  steps_ += made.steps;
  fresh_.push_back(made);
}

// The fresh labels that none of less area makes needless.
void Halves::keep() {
  std::sort(fresh_.begin(), fresh_.end(), [](const Label& a, const Label& b) {
    return std::tie(a.area, a.low, a.top, a.first) < std::tie(b.area, b.low, b.top, b.first);
  });
  const std::size_t first = labels_.size();
  for (Label& one : fresh_) {
    const Step* const steps = &fresh_pool_[one.first];
    const auto needless = [&](std::size_t k) {
      const Step* const other = &pool_[labels_[k].first];
      ++steps_;
      return dominates(other, other + labels_[k].steps, steps, steps + one.steps);
    };
    bool needed = true;
    const std::size_t near = std::min(labels_.size(), first + kHalvesCompared);
    for (std::size_t k = first; k < near && needed; ++k) needed = !needless(k);
    // Equal ones are next to each other.
    const std::size_t far =
        std::max(near, labels_.size() - std::min(labels_.size(), kHalvesCompared));
    for (std::size_t k = labels_.size(); needed && k-- > far;) {
      if (labels_[k].area * kSlip < one.area) break;
      needed = !needless(k);
    }
    if (!needed) continue;
    one.first = static_cast<std::uint32_t>(pool_.size());
    pool_.insert(pool_.end(), steps, steps + one.steps);
    labels_.push_back(one);
  }
}

// Whether every processor is free no later in x.
bool Halves::dominates(const Step* x, const Step* x_end, const Step* y, const Step* y_end) const {
  int ahead = 0;  // processors of x that are free at y's times so far, less those of y
  for (; y < y_end; ++y) {
    for (; x < x_end && x->time <= y->time; ++x) ahead += x->count;
    ahead -= y->count;
    if (ahead < 0) return false;
  }
  return true;
}

bool Halves::cross_all() {
  const JobSet all = (JobSet{1} << jobs_) - 1;
  for (JobSet jobs = 0; jobs <= all; ++jobs) {
    const JobSet rest = all & ~jobs;
    for (base_ = begin_[jobs]; base_ < begin_[jobs + 1]; ++base_) {
      const Label& label = labels_[base_];
      // What this half loses is lost in the other, too.
      const double slack = room_ - label.area - least_[rest];
      waste_ = (label.area - least_[jobs]) / kSlip - (kSlip - 1) * room_;
      if (slack < waste_) break;
      int p = 0;
      for (std::uint32_t k = label.first; k < label.first + static_cast<std::uint32_t>(label.steps);
           ++k)
        for (int u = 0; u < pool_[k].count; ++u, ++p) {
          free_[p] = pool_[k].time;
          below_[p + 1] = below_[p] + free_[p];
        }
      crossing_.clear();
      if (!cross(rest, 0, slack)) return false;
    }
  }
  return true;
}

// Jobs of `rest` on the processors from `taken` on, which become free later; `slack` is what may
// still be lost.
bool Halves::cross(JobSet rest, int taken, double slack) {
  if (!spend(1)) return false;
  const double unused = (machines_ - taken) * half_ - (below_[machines_] - below_[taken]);
  const double closed = slack - unused - (least_in_half_[rest] - least_[rest]);
  if (closed >= 0 && slack - unused >= waste_ &&
      !meet(rest, taken, room_ - closed - least_in_half_[rest]))
    return false;
  if (rest == 0 || !may_end(rest, taken)) return true;
  for (int q = 1; taken + q <= machines_; ++q) {
    const double start = free_[taken + q - 1];
    const double lost = q * start - (below_[taken + q] - below_[taken]);
    if (start > half_ * kSlip || lost + waste_ > slack) break;
    for (const Candidate& one : by_procs_[q]) {
      const double kept = slack - lost - one.loss;
      if (kept < waste_) break;
      const double end = start + one.time;
      if (!in(rest, one.job) || end > deadline_ || end < half_ / kSlip) continue;
      // Jobs of one start in one order.
      if (!crossing_.empty() && crossing_.back().placed.start == start &&
          one.job < crossing_.back().placed.job)
        continue;
      crossing_.push_back({{one.job, q, start}, std::max(end, half_)});
      const bool more = cross(rest & ~(JobSet{1} << one.job), taken + q, kept);
      crossing_.pop_back();
      if (!more) return false;
    }
  }
  return true;
}

// Whether prices let the rest end by the deadline, after what is crossed and from `taken` on.
bool Halves::may_end(JobSet rest, int taken) {
  if (!patterns_) return true;
  ends_.clear();
  for (const Crossing& one : crossing_) ends_.push_back({one.end, one.placed.procs});
  for (int p = taken; p < machines_; ++p) {
    if (p > taken && ends_.back().time == free_[p])
      ++ends_.back().count;
    else
      ends_.push_back({free_[p], 1});
  }
  steps_ += static_cast<std::int64_t>(ends_.size());
  return patterns_->fits(rest, ends_.data(), static_cast<int>(ends_.size()), deadline_);
}

// What is crossed and every label of the rest, turned around.
bool Halves::meet(JobSet rest, int taken, double area) {
  const std::uint32_t last = begin_[rest + 1];
  std::uint32_t at = begin_[rest];
  if (at == last || labels_[at].area > room_ - area) return true;
  const auto first = labels_.begin() + at;
  at += static_cast<std::uint32_t>(
      std::partition_point(first, labels_.begin() + last,
                           [&](const Label& one) { return one.area < least_[rest] + waste_; }) -
      first);
  if (at == last || labels_[at].area > room_ - area) return true;
  ends_.clear();  // by decreasing time
  for (const Crossing& one : crossing_) ends_.push_back({one.end, one.placed.procs});
  std::sort(ends_.begin(), ends_.end(),
            [](const Step& a, const Step& b) { return a.time > b.time; });
  if (taken < machines_) ends_.push_back({half_, machines_ - taken});
  steps_ += static_cast<std::int64_t>(ends_.size());
  if (patterns_ && !patterns_->fits(rest, ends_.data(), static_cast<int>(ends_.size()), value_))
    return true;
  const double earliest = ends_.back().time, latest = ends_.front().time;
  std::int64_t pairs = 0;
  for (; at < last && labels_[at].area <= room_ - area; ++at, ++pairs) {
    const Label& label = labels_[at];
    if (earliest + label.top >= value_ || latest + label.low >= value_) continue;
    const double makespan = meeting(label, ends_.data());
    if (makespan < value_ / kSlip && !offer_met(label, makespan)) return false;
  }
  return spend(pairs);
}

// The makespan: the latest processors below the lowest stacks.
double Halves::meeting(const Label& label, const Step* ends) const {
  const Step* stack = &pool_[label.first];
  double longest = 0;
  int a = ends->count, b = stack->count;
  for (int left = machines_;;) {
    longest = std::max(longest, ends->time + stack->time);
    const int both = std::min(a, b);
    left -= both;
    if (left == 0 || longest >= value_) return longest;
    if ((a -= both) == 0) a = (++ends)->count;
    if ((b -= both) == 0) b = (++stack)->count;
  }
}

bool Halves::offer_met(const Label& label, double makespan) {
  std::vector<Placed> order;
  unstack(base_, 0, order);
  for (const Crossing& one : crossing_) order.push_back(one.placed);
  unstack(static_cast<std::uint32_t>(&label - labels_.data()), makespan, order);
  std::stable_sort(order.begin(), order.end(),
                   [](const Placed& a, const Placed& b) { return a.start < b.start; });
  value_ = (*offer_)(std::move(order));
  return value_ >= enough_;
}

// The jobs of a label: from 0 on, or, where `end` > 0, back from there.
void Halves::unstack(std::uint32_t label, double end, std::vector<Placed>& into) const {
  for (; labels_[label].before != kNone; label = labels_[label].before) {
    const Label& one = labels_[label];
    double start = start_of(one);
    if (end > 0) {
      for (const Choice& choice : choices_[one.job])
        if (choice.procs == one.procs) start = end - start - choice.time;
    }
    into.push_back({one.job, one.procs, start});
  }
}

}  // namespace cosched::moldable::search
