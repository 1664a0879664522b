#include "cosched/moldable/search/label_bounds.hpp"

#include <algorithm>
#include <numeric>

#include "cosched/core/numeric.hpp"

namespace cosched::moldable::search {
namespace {

constexpr int kHalvings = 4;
constexpr int kSideBySide = 3;                    // jobs side by side that are bounded by number
constexpr std::int64_t kPricesWork = 20'000'000;  // at most

}  // namespace

LabelBounds::LabelBounds(const Instance& instance, const std::vector<std::vector<Choice>>& choices,
                         const StartWindows& windows, TimePrices prices, const Incumbent& incumbent,
                         Effort& effort)
    : LabelBounds(instance, choices, windows, Objective::minsum, incumbent, effort) {
  prices_.emplace(std::move(prices));
}

LabelBounds::LabelBounds(const Instance& instance, const std::vector<std::vector<Choice>>& choices,
                         const StartWindows& windows, Objective objective,
                         const Incumbent& incumbent, Effort& effort)
    : it_(instance),
      choices_(choices),
      windows_(windows),
      makespan_(objective == Objective::makespan),
      best_(incumbent),
      effort_(effort) {
  order_by_density();
  order_by_release();
  for (const auto& own : choices_)
    dearer_when_faster_.push_back(std::is_sorted(
        own.begin(), own.end(),
        [](const Choice& a, const Choice& b) { return a.procs * a.time < b.procs * b.time; }));
}

void LabelBounds::order_by_density() {
  by_density_.resize(it_.jobs());
  std::iota(by_density_.begin(), by_density_.end(), 0);
  for (int i = 0; i < it_.jobs(); ++i) least_work_.push_back(it_.least_work(i));
  std::stable_sort(by_density_.begin(), by_density_.end(), [&](int a, int b) {
    return least_work_[a] * it_.weight(b) < least_work_[b] * it_.weight(a);
  });
}

void LabelBounds::order_by_release() {
  released_.emplace_back(0, 0);
  for (int i = 0; i < it_.jobs(); ++i) released_.emplace_back(windows_.first[i], 0);
  std::sort(released_.begin(), released_.end());
  released_.erase(std::unique(released_.begin(), released_.end()), released_.end());
  for (auto& [release, jobs] : released_)
    for (int i = 0; i < it_.jobs(); ++i)
      if (windows_.first[i] >= release) jobs |= JobSet{1} << i;
}

double LabelBounds::sharpen(double proved) {
  if (!makespan_) {
    const double longest = makespan(best_.placement());
    if (!(longest > 0) || !(best_.value() > 0) || it_.machines() > kMostPricedMachines)
      return proved;
    const std::int64_t work = std::min(kPricesWork, std::max<std::int64_t>(0, effort_.left()));
    prices_.emplace(it_, choices_, windows_, best_.value(), longest, work);
    effort_.count(prices_->take_work());
    return std::max(proved, prices_->bound() * (1 - kProofRounding));
  }
  if (!(proved > 0)) return proved;
  patterns_.emplace(choices_, it_.machines(), proved, best_.value());
  effort_.count(patterns_->take_work());
  patterned_ = patterns_->bound() > proved;
  return patterned_ ? patterns_->bound() : proved;
}

double LabelBounds::least(const Beginning& label, double known) {
  prospects_.clear();
  for (int j = 0; j < it_.jobs(); ++j)
    if (!in(label.jobs, j)) prospects_.push_back(prospect(label, j));
  effort_.count(static_cast<std::int64_t>(prospects_.size() + 1) * label.count / 2);
  double least = makespan_ ? least_makespan(label) : least_minsum(label);
  if (prospects_.empty() || best_.hopeless(least)) return least * (1 - kProofRounding);
  if (patterned_) least = least_of_patterns(label, std::max(least, known));
  if (prices_) {
    const JobSet all = (JobSet{1} << it_.jobs()) - 1;
    least = std::max(least, label.cost + prices_->least(all & ~label.jobs, label.steps, label.count,
                                                        best_.value() - label.cost));
    effort_.count(prices_->take_work());
  }
  return least * (1 - kProofRounding);
}

// Of the choices for which enough processors are free at a step the last is the fastest; where counts with
// more work are the faster ones, the first that ends in time at the first step that has one is the best.
LabelBounds::Prospect LabelBounds::prospect(const Beginning& label, int job) const {
  Prospect found{job, kInfinity, kInfinity, it_.machines()};
  const std::vector<Choice>& own = choices_[job];
  const Choice *in_time = own.data(), *fits = in_time, *const end = in_time + own.size();
  int free = 0;
  for (const Step *step = label.steps, *const last = step + label.count; step < last; ++step) {
    free += step->count;
    const double start = std::max(windows_.first[job], step->time);
    if (start > windows_.last[job]) break;
    while (fits < end && fits->procs <= free) ++fits;
    if (fits == own.data()) continue;
    found.end = std::min(found.end, start + fits[-1].time);
    if (makespan_ && !(found.work < kInfinity && dearer_when_faster_[job])) {
      while (in_time < fits && start + in_time->time >= best_.value()) ++in_time;
      for (const Choice* choice = in_time; choice < fits; ++choice) {
        found.work = std::min(found.work, choice->procs * choice->time);
        found.procs = std::min(found.procs, choice->procs);
        if (dearer_when_faster_[job]) break;
      }
    }
    if (fits == end && (!makespan_ || found.work < kInfinity)) break;
  }
  return found;
}

// When `area` is worked off by processors that are free as the label says, and not before `from`.
double LabelBounds::worked_off(const Beginning& label, double from, double area) const {
  const Step* step = label.steps;
  const Step* const last = step + label.count;
  int free = 0;
  double now = from;
  for (; step < last; ++step) {
    if (step->time > now) {
      const double room = free * (step->time - now);
      if (room >= area && free > 0) break;
      area -= room;
      now = step->time;
    }
    free += step->count;
  }
  return area > 0 ? now + area / free : now;
}

double LabelBounds::least_makespan(const Beginning& label) {
  double least = label.steps[label.count - 1].time;
  for (const Prospect& one : prospects_) {
    if (one.work == kInfinity) return kInfinity;
    least = std::max(least, one.end);
  }
  return std::max({least, least_by_release(label), least_side_by_side(label)});
}

// The work of the jobs that are released from some time on.
double LabelBounds::least_by_release(const Beginning& label) {
  const double from = label.steps->time;
  std::sort(prospects_.begin(), prospects_.end(), [&](const Prospect& a, const Prospect& b) {
    return windows_.first[a.job] > windows_.first[b.job];
  });
  double area = 0, least = 0;
  for (std::size_t k = 0; k < prospects_.size(); ++k) {
    area += prospects_[k].work;
    const double release = windows_.first[prospects_[k].job];
    if (k + 1 < prospects_.size() && windows_.first[prospects_[k + 1].job] == release &&
        release > from)
      continue;
    if (release > from || k + 1 == prospects_.size())
      least = std::max(least, worked_off(label, std::max(release, from), area));
  }
  return least;
}

double LabelBounds::least_side_by_side(const Beginning& label) const {
  double least = 0;
  for (int side = 1; side <= kSideBySide; ++side) {
    double seconds = 0;
    for (const Prospect& one : prospects_)
      if (one.procs * (side + 1) > it_.machines()) seconds += it_.least_time(one.job);
    least = std::max(least, label.steps->time + seconds / side);
  }
  return least;
}

// Between `least` and the best schedule known, to a part of the way.
double LabelBounds::least_of_patterns(const Beginning& label, double least) {
  const JobSet rest = ((JobSet{1} << it_.jobs()) - 1) & ~label.jobs;
  const auto fits = [&](double deadline) {
    for (const auto& [release, jobs] : released_) {
      if (release <= label.steps->time && release > released_.front().first) continue;
      if ((rest & jobs) == 0) break;
      effort_.count(label.count);
      if (!patterns_->fits(rest & jobs, label.steps, label.count, deadline, release)) return false;
    }
    return true;
  };
  double too_short = least, long_enough = best_.value();
  if (!fits(long_enough * (1 - kProofRounding))) {
    too_short = long_enough;
  } else if (!fits(too_short)) {
    for (int halving = 0; halving < kHalvings; ++halving) {
      const double middle = (too_short + long_enough) / 2;
      (fits(middle) ? long_enough : too_short) = middle;
    }
  }
  effort_.count(patterns_->take_work());
  return too_short;
}

double LabelBounds::least_minsum(const Beginning& label) const {
  double alone = label.cost, total = 0;
  for (const Prospect& one : prospects_) {
    if (one.end == kInfinity) return kInfinity;
    alone += it_.weight(one.job) * one.end;
    total += least_work_[one.job];
  }
  if (!(total > 0)) return alone;
  const double from = label.steps->time;
  const double slope = (worked_off(label, from, total) - from) / total;
  double squashed = label.cost, area = 0;
  for (const int job : by_density_)
    if (!in(label.jobs, job)) {
      area += least_work_[job];
      squashed += it_.weight(job) * (from + slope * area);
    }
  return std::max(alone, squashed);
}

}  // namespace cosched::moldable::search
