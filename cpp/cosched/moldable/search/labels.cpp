#include "cosched/moldable/search/labels.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "cosched/core/errors.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/moldable/search/halves.hpp"
#include "cosched/moldable/search/patterns.hpp"

namespace cosched::moldable::search {
namespace {

using Set = JobSet;

constexpr double kRounding = 1e-12;             // relative, of sums of a few times
constexpr std::size_t kMostSteps = 40'000'000;  // of one number of jobs: 640 MB
constexpr std::size_t kFirstWidth = 100;
constexpr std::size_t kHalvesWidth =
    1600;  // what is not proved then is hard: halves need less work
constexpr int kHalvings = 4;
constexpr int kSideBySide = 3;  // jobs side by side that are bounded by number
// Deadlines between bound and value: the first, relative; how much further each is; what is left of
// the way when the next is the value itself.
constexpr double kFirstAhead = 1e-3, kFurtherAhead = 3, kLastPart = 0.4;

using Steps = std::vector<Step>;

// A beginning of a schedule.  Its steps lie in a vector that all labels of a number of jobs share.
struct Label {
  Set jobs;
  double cost;   // sum w C of them (minsum)
  double least;  // no completion is better
  std::size_t first;
  int steps;
  int move;  // its last, among all moves
};

struct Move {
  int before;  // the move before it, -1: none
  int job, procs;
  double start;
};

// The free time of the q-th processor that becomes free.
double free_time(const Step* step, int q) {
  while ((q -= step->count) > 0) ++step;
  return step->time;
}

bool alike(const Instance& instance, const std::vector<std::vector<Choice>>& choices, int a,
           int b) {
  return instance.weight(a) == instance.weight(b) && instance.release(a) == instance.release(b) &&
         std::equal(choices[a].begin(), choices[a].end(), choices[b].begin(), choices[b].end(),
                    [](const Choice& x, const Choice& y) {
                      return x.procs == y.procs && x.seconds == y.seconds;
                    });
}

// What a job that is not in a label can do at best.
struct Prospect {
  int job;
  double end;   // the earliest
  double work;  // the least that ends before the best schedule known
  int procs;    // the fewest so
};

class Search {
 public:
  Search(const Instance& instance, const Placement& start, const ProofOptions& options)
      : it_(instance),
        makespan_(options.objective == Objective::makespan),
        work_left_(options.work),
        choices_(choices_of(instance)),
        twins_(instance.jobs(), 0),
        best_(start),
        value_(value_of(start)) {
    for (int j = 0; j < it_.jobs(); ++j)
      for (int i = 0; i < j; ++i)
        if (alike(it_, choices_, i, j)) twins_[j] |= Set{1} << i;
    order_by_work();
  }

  // Passes that keep more and more labels, until one drops none for their number: then all is proved.
  // May be left by check_interrupt(): bound() and placement() hold at any time.
  bool run() {
    for (width_ = kFirstWidth;; width_ *= 4) {
      if (!pass()) return false;
      proved_ = std::max(proved_, bound());
      if (dropped_ >= value_) return true;
      // Not before, so that what is easy stays fast.
      if (makespan_ && width_ == kFirstWidth && proved_ > 0 && weigh_patterns()) return true;
      if (width_ == kHalvesWidth && can_be_halved()) {
        if (meet_halves()) return true;
        if (work_left_ < 0) return false;
      }
    }
  }

  const Placement& placement() const { return best_; }
  double value() const { return value_; }

  // The least of what is known, of what was dropped and of what may still come, in any pass.
  double bound() const {
    double least = std::min(value_, dropped_);
    for (std::size_t k = at_; k < labels_.size(); ++k) least = std::min(least, labels_[k].least);
    for (const Label& label : next_) least = std::min(least, label.least);
    return std::max(std::min(proved_, value_), least);
  }

 private:
  // Labels ask patterns where these prove more than the first pass; whether they prove all.
  bool weigh_patterns() {
    patterns_.emplace(choices_, it_.machines(), proved_, value_);
    count(patterns_->take_work());
    priced_ = patterns_->bound() > proved_;
    if (priced_) proved_ = std::min(value_, patterns_->bound());
    return hopeless(proved_);
  }

  bool can_be_halved() const {
    return patterns_ && !it_.has_releases() && it_.jobs() <= kMostHalvedJobs &&
           it_.machines() <= kMostHalvedMachines;
  }

  // Deadlines further and further from the bound: that no schedule keeps one costs the less, the
  // nearer it is, and what is met for one is often a good schedule for the next.  False: the work
  // or the room is over.
  bool meet_halves() {
    Halves halves(choices_, it_.machines(), [&](std::int64_t steps) {
      count(steps);
      return work_left_ >= 0;
    });
    const auto offer = [&](const std::vector<Placed>& order) {
      accept(order);
      return value_;
    };
    for (double ahead = kFirstAhead * proved_; !hopeless(proved_); ahead *= kFurtherAhead) {
      const bool last = proved_ + ahead > value_ - kLastPart * (value_ - proved_);
      const double deadline = last ? value_ : proved_ + ahead;
      if (!halves.search(deadline, value_, &*patterns_, offer)) return false;
      if (value_ >= deadline) proved_ = std::max(proved_, deadline);
    }
    return true;
  }

  // Each job as early as the order and its count let it.
  void accept(const std::vector<Placed>& order) {
    Placement made = unplaced(it_.jobs());
    std::vector<double> free(it_.machines(), 0);  // increasing
    for (const Placed& one : order) {
      const auto q = static_cast<std::size_t>(one.procs);
      const double start = free[q - 1];
      place(it_, made, one.job, one.procs, start);
      for (double& time : free) time = std::max(time, start);
      std::fill_n(free.begin(), q, made.end[one.job]);
      std::sort(free.begin(), free.end());
    }
    take(std::move(made));
  }

  // False: the work is over.
  bool pass() {
    steps_ = {{0, it_.machines()}};
    labels_ = {{0, 0, 0, 0, 1, -1}};
    moves_.clear();
    dropped_ = kInfinity;
    for (int size = 1; size <= it_.jobs() && !labels_.empty(); ++size) {
      next_.clear();
      next_steps_.clear();
      at_ = 0;
      for (; at_ < labels_.size(); ++at_) {
        if (work_left_ < 0 || next_steps_.size() > kMostSteps) return false;
        expand(labels_[at_]);
      }
      keep_undominated();
    }
    labels_.clear();
    next_.clear();
    return true;
  }

  double value_of(const Placement& placement) const {
    return makespan_ ? moldable::makespan(placement) : weighted_completion(it_, placement);
  }
  bool in(Set jobs, int job) const { return jobs >> job & 1; }
  bool hopeless(double least) const { return least >= value_ * (1 - kRounding); }
  void count(std::int64_t steps) {
    work_left_ -= steps;
    poll_.count(4 * steps);
  }

  void order_by_work() {
    by_density_.resize(it_.jobs());
    std::iota(by_density_.begin(), by_density_.end(), 0);
    std::vector<double> work(it_.jobs());
    for (int i = 0; i < it_.jobs(); ++i) work[i] = it_.least_work(i);
    std::stable_sort(by_density_.begin(), by_density_.end(), [&](int a, int b) {
      return work[a] * it_.weight(b) < work[b] * it_.weight(a);
    });
    least_work_ = std::move(work);
  }

  // The earliest end of any job that is not in the label: whoever starts later leaves a hole.
  double earliest_end(const Label& label) {
    double earliest = kInfinity;
    for (int j = 0; j < it_.jobs(); ++j)
      if (!in(label.jobs, j))
        for (const Choice& choice : choices_[j])
          earliest = std::min(earliest, start_of(label, j, choice) + choice.seconds);
    return earliest;
  }
  double start_of(const Label& label, int job, const Choice& choice) const {
    return std::max(it_.release(job), free_time(&steps_[label.first], choice.procs));
  }

  void expand(const Label& label) {
    if (hopeless(label.least)) return;
    const double before = earliest_end(label);
    for (int j = 0; j < it_.jobs(); ++j) {
      if (in(label.jobs, j) || (twins_[j] & ~label.jobs) != 0) continue;
      for (const Choice& choice : choices_[j]) {
        const double start = start_of(label, j, choice);
        count(label.steps);
        if (start < before) add(label, j, choice, start);
      }
    }
  }

  // The label with one job more, where it may lead to something better.
  void add(const Label& label, int job, const Choice& choice, double start) {
    Label made{label.jobs | Set{1} << job, 0, 0, next_steps_.size(), 0, 0};
    const double end = start + choice.seconds;
    made.cost = label.cost + it_.weight(job) * end;
    int free = -choice.procs;
    std::size_t k = label.first;
    const std::size_t last = label.first + label.steps;
    for (; k < last && steps_[k].time <= start; ++k) free += steps_[k].count;
    if (free > 0) next_steps_.push_back({start, free});
    for (; k < last && steps_[k].time <= end; ++k) next_steps_.push_back(steps_[k]);
    if (next_steps_.size() > made.first && next_steps_.back().time == end)
      next_steps_.back().count += choice.procs;
    else
      next_steps_.push_back({end, choice.procs});
    next_steps_.insert(next_steps_.end(), steps_.begin() + static_cast<std::ptrdiff_t>(k),
                       steps_.begin() + static_cast<std::ptrdiff_t>(last));
    made.steps = static_cast<int>(next_steps_.size() - made.first);
    made.least = std::max(label.least, least_of(made));
    if (hopeless(made.least)) {
      next_steps_.resize(made.first);
      return;
    }
    moves_.push_back({label.move, job, choice.procs, start});
    made.move = static_cast<int>(moves_.size()) - 1;
    if (made.jobs == everything())
      accept(made);
    else
      next_.push_back(made);
  }
  Set everything() const { return (Set{1} << it_.jobs()) - 1; }

  void accept(const Label& label) {
    next_steps_.resize(label.first);
    Placement made = unplaced(it_.jobs());
    for (int k = label.move; k >= 0; k = moves_[k].before)
      place(it_, made, moves_[k].job, moves_[k].procs, moves_[k].start);
    take(std::move(made));
  }

  void take(Placement made) {
    const double value = value_of(made);
    if (!(value < value_)) return;
    value_ = value;
    best_ = std::move(made);
  }

  double least_of(const Label& label) {
    prospects_.clear();
    for (int j = 0; j < it_.jobs(); ++j)
      if (!in(label.jobs, j)) prospects_.push_back(prospect(label, j));
    count(static_cast<std::int64_t>(prospects_.size() + 1) * label.steps);
    const double least = makespan_ ? least_makespan(label) : least_minsum(label);
    if (!priced_ || prospects_.empty() || hopeless(least)) return least * (1 - kRounding);
    return least_of_patterns(label, std::max(least, label.least)) * (1 - kRounding);
  }

  Prospect prospect(const Label& label, int job) const {
    Prospect found{job, kInfinity, kInfinity, it_.machines()};
    for (const Choice& choice : choices_[job]) {
      const double end =
          std::max(it_.release(job), free_time(&next_steps_[label.first], choice.procs)) +
          choice.seconds;
      found.end = std::min(found.end, end);
      if (makespan_ && end >= value_) continue;
      found.work = std::min(found.work, choice.procs * choice.seconds);
      found.procs = std::min(found.procs, choice.procs);
    }
    return found;
  }

  // When `area` is worked off by processors that are free as the label says, and not before `from`.
  double worked_off(const Label& label, double from, double area) const {
    const Step* step = &next_steps_[label.first];
    const Step* const last = step + label.steps;
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

  double least_makespan(const Label& label) {
    double least = 0;
    for (int k = 0; k < label.steps; ++k)
      least = std::max(least, next_steps_[label.first + k].time);
    for (const Prospect& one : prospects_) {
      least = std::max(least, one.end);
      if (one.work == kInfinity) return kInfinity;
    }
    const double from = next_steps_[label.first].time;
    std::sort(prospects_.begin(), prospects_.end(), [&](const Prospect& a, const Prospect& b) {
      return it_.release(a.job) > it_.release(b.job);
    });
    double area = 0;
    for (std::size_t k = 0; k < prospects_.size(); ++k) {
      area += prospects_[k].work;
      const double release = it_.release(prospects_[k].job);
      if (k + 1 < prospects_.size() && it_.release(prospects_[k + 1].job) == release &&
          release > from)
        continue;
      if (release > from || k + 1 == prospects_.size())
        least = std::max(least, worked_off(label, std::max(release, from), area));
    }
    for (int side = 1; side <= kSideBySide; ++side) {
      double seconds = 0;
      for (const Prospect& one : prospects_)
        if (one.procs * (side + 1) > it_.machines()) seconds += it_.least_time(one.job);
      least = std::max(least, from + seconds / side);
    }
    return least;
  }

  // Between `least` and the best schedule known, to a part of the way.
  double least_of_patterns(const Label& label, double least) {
    const Set rest = everything() & ~label.jobs;
    const Step* const steps = &next_steps_[label.first];
    const auto fits = [&](double deadline) {
      count(label.steps);
      return patterns_->fits(rest, steps, label.steps, deadline);
    };
    double too_short = least, long_enough = value_;
    if (!fits(long_enough * (1 - kRounding))) {
      too_short = long_enough;
    } else if (!fits(too_short)) {
      for (int halving = 0; halving < kHalvings; ++halving) {
        const double middle = (too_short + long_enough) / 2;
        (fits(middle) ? long_enough : too_short) = middle;
      }
    }
    count(patterns_->take_work());
    return too_short;
  }

  double least_minsum(const Label& label) {
    double alone = label.cost, total = 0;
    for (const Prospect& one : prospects_) {
      alone += it_.weight(one.job) * one.end;
      total += least_work_[one.job];
    }
    if (!(total > 0)) return alone;
    const double from = next_steps_[label.first].time;
    const double slope = (worked_off(label, from, total) - from) / total;
    double squashed = label.cost, area = 0;
    for (const int job : by_density_)
      if (!in(label.jobs, job)) {
        area += least_work_[job];
        squashed += it_.weight(job) * (from + slope * area);
      }
    return std::max(alone, squashed);
  }

  // Whether every processor is free no later in a, at no more cost.
  bool dominates(const Label& a, const Label& b) {
    if (!makespan_ && a.cost > b.cost) return false;
    const Step *x = &next_steps_[a.first], *y = &next_steps_[b.first];
    const Step *const x_end = x + a.steps, *const y_end = y + b.steps;
    int ahead = 0;  // processors of a that are free at x's times so far, less those of b
    count(1);
    for (; y < y_end; ++y) {
      for (; x < x_end && x->time <= y->time; ++x) ahead += x->count;
      ahead -= y->count;
      if (ahead < 0) return false;
    }
    return true;
  }

  void keep_undominated() {
    // Those that are likely to dominate first.
    std::vector<std::pair<double, std::size_t>> order;
    order.reserve(next_.size());
    for (std::size_t k = 0; k < next_.size(); ++k) {
      double sum = makespan_ ? 0 : next_[k].cost;
      for (int s = 0; s < next_[k].steps; ++s) {
        const Step& step = next_steps_[next_[k].first + s];
        sum += step.time * step.count;
      }
      order.emplace_back(sum, k);
    }
    std::sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
      const Set left = next_[a.second].jobs, right = next_[b.second].jobs;
      return left != right ? left < right : a < b;
    });
    std::vector<Label> kept;
    std::size_t group = 0;
    for (const auto& [sum, k] : order) {
      const Label& one = next_[k];
      if (hopeless(one.least)) continue;
      if (group < kept.size() && kept[group].jobs != one.jobs) group = kept.size();
      bool needed = true;
      for (std::size_t other = group; other < kept.size() && needed; ++other)
        needed = !dominates(kept[other], one);
      if (needed) kept.push_back(one);
    }
    if (kept.size() > width_) {
      const auto last = kept.begin() + static_cast<std::ptrdiff_t>(width_);
      std::nth_element(kept.begin(), last, kept.end(), [](const Label& a, const Label& b) {
        return std::pair(a.least, a.move) < std::pair(b.least, b.move);
      });
      for (auto label = last; label != kept.end(); ++label)
        dropped_ = std::min(dropped_, label->least);
      kept.erase(last, kept.end());
    }
    labels_ = std::move(kept);
    steps_.swap(next_steps_);
    next_.clear();
    at_ = 0;
  }

  const Instance& it_;
  bool makespan_;
  std::int64_t work_left_;
  Poll poll_;
  std::vector<std::vector<Choice>> choices_;
  std::vector<Set> twins_;       // equal jobs of lower number
  std::vector<int> by_density_;  // least work by weight: Smith's order
  std::vector<double> least_work_;
  std::optional<ProcessorPatterns> patterns_;
  bool priced_ = false;  // labels ask them
  Placement best_;
  double value_;
  std::size_t width_ = 0;       // labels of one number of jobs that are kept
  double dropped_ = kInfinity;  // the least bound of those that were not, in this pass
  double proved_ = 0;           // the best bound of the passes before

  std::vector<Label> labels_, next_;  // of one number of jobs, and of one more
  Steps steps_, next_steps_;
  std::size_t at_ = 0;  // labels before it are expanded
  std::vector<Move> moves_;
  std::vector<Prospect> prospects_;
};

}  // namespace

void require_provable(const Instance& instance, const ProofOptions& options) {
  if (instance.jobs() > kMostProvedJobs)
    throw InvalidInstance("optimal: " + std::to_string(instance.jobs()) +
                          " jobs: expected at most " + std::to_string(kMostProvedJobs));
  if (options.work < 0)
    throw InvalidInstance("work = " + std::to_string(options.work) + ": expected a number >= 0");
}

Proof prove(const Instance& instance, const Placement& start, const ProofOptions& options) {
  require_provable(instance, options);
  Proof result;
  Search search(instance, start, options);
  result.in_time = finishes_within(options.time_limit, [&] { result.proved = search.run(); });
  result.placement = search.placement();
  result.bound = search.bound();
  result.proved = result.proved || result.bound >= search.value() * (1 - kRounding);
  return result;
}

}  // namespace cosched::moldable::search
