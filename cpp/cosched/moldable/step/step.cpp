#include "cosched/moldable/step/step.hpp"

#include <chrono>

#include "cosched/core/rng.hpp"
#include "cosched/moldable/list/list_schedule.hpp"

namespace cosched::moldable::step {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kTolerance = 0.01;  // of the bisection
constexpr double kLatest = 1e300;    // sums of later times are infinite
// Guesses over the bound that are tried: beyond twice the bound counts hardly change any more.
constexpr double kRatios[] = {1.0, 1.1, 1.25, 1.45, 1.7, 2.0};
constexpr int kRefinements = 6;
constexpr int kPatience = 20'000;  // moves in a row that make nothing better

/// One call: the jobs, what is free when, and what is the best so far.
class Planner {
 public:
  Planner(const Instance& instance, std::vector<double> free, double budget)
      : instance_(instance),
        free_(std::move(free)),
        scheduler_(instance.machines()),
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
    best_.bound = soonest();
    double low = best_.bound, high = low;
    while (!fits(high)) {
      low = high;
      high *= 2;
    }
    if (!(high <= kLatest)) throw InvalidInstance("step: expected a plan that ends before 1e300 s");
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

  /// Lists the jobs on these counts, by decreasing time x boost; whether no plan so far was better.
  bool keep(const Allotment& procs, const std::vector<double>& boost) {
    const int n = instance_.jobs();
    std::vector<double> boosted(n), length(n);
    for (int i = 0; i < n; ++i) boosted[i] = boost[i] * instance_.time(i, procs[i]);
    const std::vector<int> order = sorted_numbers(n, [&](int a, int b) {
      return boosted[a] != boosted[b] ? boosted[a] > boosted[b] : procs[a] > procs[b];
    });
    Allotment counts(n);
    for (int k = 0; k < n; ++k) {
      counts[k] = procs[order[k]];
      length[k] = instance_.time(order[k], counts[k]);
    }
    scheduler_.run(list::Rule::list, counts, length, start_, free_);
    Placement plan = unplaced(n);
    for (int k = 0; k < n; ++k) place(instance_, plan, order[k], counts[k], start_[k]);
    const double found = makespan(plan);
    if (found > best_.makespan) return false;
    best_.plan = std::move(plan);
    best_.makespan = found;
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
    const int range = now - fewest + 1;
    return instance_.used(job, fewest + static_cast<int>(rng.below(range)));
  }

  const Instance& instance_;
  std::vector<double> free_;  // ascending
  list::ListScheduler scheduler_;
  std::vector<double> start_;
  Clock::time_point end_;
  Step best_;
};

}  // namespace

void check_arguments(const std::vector<double>& free_in, double budget, State before) {
  for (std::size_t p = 0; p < free_in.size(); ++p)
    if (!(free_in[p] >= 0 && std::isfinite(free_in[p])))
      throw InvalidInstance("machine[" + std::to_string(p) + "]: expected seconds >= 0");
  if (!(budget > 0)) throw InvalidInstance("budget: expected seconds > 0");
  if (!(before.ratio >= 0 && std::isfinite(before.ratio)))
    throw InvalidInstance("state: expected what an earlier step gave");
}

Step step(const Instance& instance, const std::vector<double>& free_in, double budget,
          State before) {
  instance.require_no_releases("step");
  if (!instance.is_alone())
    throw InvalidInstance("step: expected jobs without edges that share nothing");
  if (static_cast<int>(free_in.size()) != instance.machines())
    throw InvalidInstance("machine: " + std::to_string(free_in.size()) + " processors: expected " +
                          std::to_string(instance.machines()));
  check_arguments(free_in, budget, before);
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
