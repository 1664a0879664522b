#include "cosched/moldable/step/step.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <string>

#include "cosched/core/errors.hpp"
#include "cosched/core/rng.hpp"

namespace cosched::moldable::step {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kTolerance = 0.01;  // of the bisection
// Guesses over the bound that are tried: beyond twice the bound counts hardly change any more.
constexpr double kRatios[] = {1.0, 1.1, 1.25, 1.45, 1.7, 2.0};
constexpr int kRefinements = 6;
constexpr int kPatience = 20'000;  // moves in a row that make nothing better

/// The jobs that wait, by their counts, and of any number of free processors the longest that fits:
/// by their times, each multiplied by its boost.
class Waiting {
 public:
  Waiting(const Instance& instance, const Allotment& procs, const std::vector<double>& boost)
      : counts_(1), jobs_(static_cast<std::size_t>(instance.machines()) + 1) {
    while (counts_ <= instance.machines()) counts_ *= 2;
    best_.assign(2 * static_cast<std::size_t>(counts_), {-1.0, -1});
    times_.resize(procs.size());
    for (std::size_t i = 0; i < procs.size(); ++i) {
      times_[i] = boost[i] * instance.time(static_cast<int>(i), procs[i]);
      jobs_[procs[i]].push_back(static_cast<int>(i));
    }
    for (int q = 1; q <= instance.machines(); ++q) {
      auto& jobs = jobs_[q];
      std::sort(jobs.begin(), jobs.end(), [&](int a, int b) {
        return times_[a] != times_[b] ? times_[a] < times_[b] : a > b;
      });
      best_[counts_ + q] = top(q);
    }
    for (int node = counts_ - 1; node > 0; --node)
      best_[node] = std::max(best_[2 * node], best_[2 * node + 1]);
  }

  /// The count whose longest job is the longest of those on at most `free` processors; 0: none
  /// fits.
  int longest(int free) const {
    Top found{-1.0, -1};
    for (int low = counts_, high = counts_ + free + 1; low < high; low /= 2, high /= 2) {
      if (low % 2 == 1) found = std::max(found, best_[low++]);
      if (high % 2 == 1) found = std::max(found, best_[--high]);
    }
    return found.count > 0 ? found.count : 0;
  }

  /// Takes the longest job of a count.
  int take(int count) {
    const int job = jobs_[count].back();
    jobs_[count].pop_back();
    int node = counts_ + count;
    best_[node] = top(count);
    for (node /= 2; node > 0; node /= 2)
      best_[node] = std::max(best_[2 * node], best_[2 * node + 1]);
    return job;
  }

 private:
  struct Top {
    double time;
    int count;
    bool operator<(const Top& other) const {
      return time != other.time ? time < other.time : count < other.count;
    }
  };
  Top top(int q) const {
    return jobs_[q].empty() ? Top{-1.0, -1} : Top{times_[jobs_[q].back()], q};
  }

  int counts_;  // leaves of the tree: a power of two above m
  std::vector<std::vector<int>> jobs_;
  std::vector<Top> best_;
  std::vector<double> times_;
};

struct Event {
  double time;
  int count;  // processors that become free
  bool operator>(const Event& other) const { return time > other.time; }
};

/// One call: the jobs, what is free when, and what is the best so far.
class Planner {
 public:
  Planner(const Instance& instance, std::vector<double> free, double budget)
      : instance_(instance),
        free_(std::move(free)),
        end_(Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                std::chrono::duration<double>(std::min(budget, 1e6)))) {
    std::sort(free_.begin(), free_.end());
    best_.makespan = std::numeric_limits<double>::infinity();
  }

  Step plan(State before) {
    const double least = accepted_guess();
    if (before.ratio > 0) try_ratio(before.ratio, least);
    for (const double ratio : kRatios) {
      if (over()) break;
      try_ratio(ratio, least);
    }
    double width = 0.08;
    for (int k = 0; k < kRefinements && !over(); ++k, width /= 2)
      for (const double side : {1 - width, 1 + width}) {
        const double middle = best_.state.ratio;
        if (!over() && middle * side >= 1) try_ratio(middle * side, least);
      }
    move_jobs();
    return std::move(best_);
  }

 private:
  bool over() const {
    return best_.makespan <= best_.bound * (1 + 1e-9) ||
           (best_.makespan < std::numeric_limits<double>::infinity() && Clock::now() >= end_);
  }

  /// Whether a plan of length d cannot be excluded by work.
  bool fits(double d) const {
    double room = 0, work = 0;
    for (const double when : free_) room += std::max(0.0, d - when);
    for (int i = 0; i < instance_.jobs() && work <= room; ++i) work += instance_.least_area(i, d);
    return work <= room * (1 + 1e-12);
  }

  /// The longest of the soonest ends of single jobs.
  double soonest() const {
    double latest = 0;
    for (int i = 0; i < instance_.jobs(); ++i) {
      double first = std::numeric_limits<double>::infinity();
      for (int q = 1; q <= instance_.useful_machines(); ++q)
        first = std::min(first, free_[q - 1] + instance_.time(i, q));
      latest = std::max(latest, first);
    }
    return latest;
  }

  /// The least guess found that fits; what does not fit becomes the bound.
  double accepted_guess() {
    best_.bound = std::max(soonest(), free_.back());
    double low = best_.bound, high = low;
    while (!fits(high)) {
      low = high;
      high *= 2;
    }
    while (high > low * (1 + kTolerance)) {
      const double middle = 0.5 * (low + high);
      (fits(middle) ? high : low) = middle;
    }
    best_.bound = std::max(best_.bound, low);
    return high;
  }

  void try_ratio(double ratio, double least) {
    Allotment procs(static_cast<std::size_t>(instance_.jobs()));
    for (int i = 0; i < instance_.jobs(); ++i) {
      const int count = instance_.cheapest(i, ratio * least);
      procs[i] = count > 0 ? count : instance_.used(i, instance_.useful_machines());
    }
    const double before = best_.makespan;
    keep(procs, std::vector<double>(procs.size(), 1.0));
    if (best_.makespan < before) best_.state.ratio = ratio;
  }

  /// Lists the jobs on these counts; whether no plan so far was better.
  bool keep(const Allotment& procs, const std::vector<double>& boost) {
    Step found;
    found.plan = unplaced(instance_.jobs());
    Waiting waiting(instance_, procs, boost);
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
    for (const double when : free_) events.push({when, 1});
    found.makespan = free_.back();
    int idle = 0;
    for (int left = instance_.jobs(); left > 0;) {
      const double now = events.top().time;
      for (; !events.empty() && events.top().time == now; events.pop()) idle += events.top().count;
      for (int q = waiting.longest(idle); q > 0; q = waiting.longest(idle), --left) {
        const int job = waiting.take(q);
        place(instance_, found.plan, job, q, now);
        found.makespan = std::max(found.makespan, found.plan.end[job]);
        if (found.makespan > best_.makespan) return false;
        events.push({found.plan.end[job], q});
        idle -= q;
      }
    }
    best_.plan = std::move(found.plan);
    best_.makespan = found.makespan;
    return true;
  }

  /// One job gets another count or another place in the list, the job that ends last more often
  /// than others; what is no worse stays.
  void move_jobs() {
    Rng rng(1);
    std::vector<double> boost(best_.plan.procs.size(), 1.0);
    for (int failed = 0; failed < kPatience && !over(); ++failed) {
      const double before = best_.makespan;
      const auto& end = best_.plan.end;
      const auto last = std::max_element(end.begin(), end.end()) - end.begin();
      const int job = static_cast<int>(rng.below(2) == 0 ? last : rng.below(boost.size()));
      Allotment procs = best_.plan.procs;
      const double boosted = boost[job];
      if (rng.below(2) == 0)
        boost[job] = std::exp(2 * rng.uniform() - 1);
      else
        procs[job] = drawn_count(rng, job);
      if (!keep(procs, boost)) boost[job] = boosted;
      if (best_.makespan < before) failed = 0;
    }
  }

  /// The next faster count of a job, or any that is no faster.
  int drawn_count(Rng& rng, int job) const {
    const int now = best_.plan.procs[job], fewest = instance_.fewest(job);
    const int faster = instance_.faster(job, now);
    if (faster > 0 && rng.below(2) == 0) return faster;
    const auto range = static_cast<std::uint64_t>(now - fewest + 1);
    return instance_.used(job, fewest + static_cast<int>(rng.below(range)));
  }

  const Instance& instance_;
  std::vector<double> free_;  // ascending
  Clock::time_point end_;
  Step best_;
};

}  // namespace

Step step(const Instance& instance, const std::vector<double>& free_in, double budget,
          State before) {
  instance.require_no_releases("step");
  if (!instance.is_alone())
    throw InvalidInstance("step: expected jobs without edges that share nothing");
  if (static_cast<int>(free_in.size()) != instance.machines())
    throw InvalidInstance("machine: " + std::to_string(free_in.size()) + " processors: expected " +
                          std::to_string(instance.machines()));
  for (std::size_t p = 0; p < free_in.size(); ++p)
    if (!(free_in[p] >= 0 && std::isfinite(free_in[p])))
      throw InvalidInstance("machine[" + std::to_string(p) + "]: expected seconds >= 0");
  if (!(budget > 0)) throw InvalidInstance("budget: expected seconds > 0");
  if (!(before.ratio >= 0 && std::isfinite(before.ratio)))
    throw InvalidInstance("state: expected what an earlier step gave");
  return Planner(instance, free_in, budget).plan(before);
}

std::vector<int> owners(const Placement& plan, const std::vector<double>& free_in) {
  std::vector<int> owner(free_in.size(), -1);
  std::size_t p = 0;
  for (int i = 0; i < plan.jobs(); ++i) {
    if (plan.start[i] != 0) continue;
    for (int k = 0; k < plan.procs[i]; ++p)
      if (free_in[p] == 0) {
        owner[p] = i;
        ++k;
      }
  }
  return owner;
}

}  // namespace cosched::moldable::step
