#include "cosched/moldable/step/step.hpp"

#include <chrono>

#include "cosched/core/order.hpp"
#include "cosched/core/rng.hpp"
#include "cosched/moldable/list/list_scheduler.hpp"

namespace cosched::moldable::step {

namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr double kTolerance = 0.01;  // of the bisection
constexpr double kMaxTime = 1e300;   // sums of later times are infinite
// Guesses over the bound that are tried: beyond twice the bound counts hardly change any more.
constexpr double kRatios[] = {1.0, 1.1, 1.25, 1.45, 1.7, 2.0};
// Then guesses beside the best one, at this relative distance first and at half of it each time.
constexpr double kFirstWidth = 0.08;
constexpr int kRefinements = 6;
constexpr int kPatience = 20'000;    // moves in a row that make nothing better
constexpr double kMaxSeconds = 1e6;  // of a budget: so that the deadline is a time of the clock

/// One call: the jobs, what is free when, and what is the best so far.
class StepPlanner {
 public:
  StepPlanner(const Instance& instance, std::vector<double> free, double budget)
      : instance_(instance),
        free_times_(std::move(free)),
        scheduler_(instance.machines()),
        deadline_(SteadyClock::now() +
                  std::chrono::duration_cast<SteadyClock::duration>(
                      std::chrono::duration<double>(std::min(budget, kMaxSeconds)))) {
    std::sort(free_times_.begin(), free_times_.end());
    best_.makespan = std::numeric_limits<double>::infinity();
  }

  StepPlan plan(StepState best_before) {
    const double least = find_accepted_guess();
    if (best_before.ratio > 0) try_ratio(best_before.ratio, least);
    for (const double ratio : kRatios) {
      if (is_finished()) break;
      try_ratio(ratio, least);
    }
    double width = kFirstWidth;
    for (int k = 0; k < kRefinements && !is_finished(); ++k, width /= 2)
      for (const double side : {1 - width, 1 + width}) {
        const double middle = best_.state.ratio;
        if (!is_finished() && middle * side >= 1) try_ratio(middle * side, least);
      }
    move_jobs();
    return std::move(best_);
  }

 private:
  bool is_finished() const {
    return best_.makespan <= best_.bound * (1 + kExactTolerance) ||
           (best_.makespan < std::numeric_limits<double>::infinity() &&
            SteadyClock::now() >= deadline_);
  }

  /// Whether a plan of length d cannot be excluded by work.
  bool can_fit_work(double d) const {
    double room = 0, work = 0;
    for (const double free_time : free_times_) room += std::max(0.0, d - free_time);
    for (int i = 0; i < instance_.jobs() && work <= room; ++i) work += instance_.least_area(i, d);
    return work <= room * (1 + kSumTolerance);
  }

  /// The longest of the soonest ends of single jobs.
  double latest_earliest_end() const {
    double latest_end = 0;
    for (int i = 0; i < instance_.jobs(); ++i) {
      double earliest_end_of_job = std::numeric_limits<double>::infinity();
      for (int q = 1; q <= instance_.useful_machines(); ++q)
        earliest_end_of_job =
            std::min(earliest_end_of_job, free_times_[q - 1] + instance_.time(i, q));
      latest_end = std::max(latest_end, earliest_end_of_job);
    }
    return latest_end;
  }

  /// The least guess found that fits; what does not fit becomes the bound.
  double find_accepted_guess() {
    best_.bound = latest_earliest_end();
    double low = best_.bound, high = low;
    while (!can_fit_work(high)) {
      low = high;
      high *= 2;
    }
    if (!(high <= kMaxTime))
      throw InvalidInstance("step: expected a plan that ends before 1e300 s");
    while (high > low * (1 + kTolerance)) {
      const double middle = 0.5 * (low + high);
      if (can_fit_work(middle))
        high = middle;
      else
        low = middle;
    }
    best_.bound = std::max(best_.bound, low);
    return high;
  }

  void try_ratio(double ratio, double least) {
    Allotment procs(static_cast<std::size_t>(instance_.jobs()));
    for (int i = 0; i < instance_.jobs(); ++i) {
      const int count = instance_.cheapest_procs(i, ratio * least);
      procs[i] = count > 0 ? count : instance_.used_procs(i, instance_.useful_machines());
    }
    const double best_before = best_.makespan;
    keep_if_no_worse(procs, std::vector<double>(procs.size(), 1.0));
    if (best_.makespan < best_before) best_.state.ratio = ratio;
  }

  /// Lists the jobs on these counts, by decreasing time x boost; whether no plan so far was better.
  bool keep_if_no_worse(const Allotment& procs, const std::vector<double>& boost) {
    const int n = instance_.jobs();
    std::vector<double> boosted_times(n), length(n);
    for (int i = 0; i < n; ++i) boosted_times[i] = boost[i] * instance_.time(i, procs[i]);
    const std::vector<int> order = sorted_numbers(n, [&](int a, int b) {
      return boosted_times[a] != boosted_times[b] ? boosted_times[a] > boosted_times[b]
                                                  : procs[a] > procs[b];
    });
    Allotment counts(n);
    for (int k = 0; k < n; ++k) {
      counts[k] = procs[order[k]];
      length[k] = instance_.time(order[k], counts[k]);
    }
    scheduler_.schedule(list::ListRule::list, counts, length, start_, free_times_);
    Placement plan = empty_placement(n);
    for (int k = 0; k < n; ++k) place(instance_, plan, order[k], counts[k], start_[k]);
    const double plan_makespan = makespan(plan);
    if (plan_makespan > best_.makespan) return false;
    best_.plan = std::move(plan);
    best_.makespan = plan_makespan;
    return true;
  }

  /// One job gets another count or another place in the list, the job that ends last more often
  /// than others; what is no worse stays.
  void move_jobs() {
    Rng rng(1);
    std::vector<double> boost(best_.plan.procs.size(), 1.0);
    for (int moves_without_gain = 0; moves_without_gain < kPatience && !is_finished();
         ++moves_without_gain) {
      const double best_before = best_.makespan;
      const auto& end = best_.plan.end;
      const auto last_job = std::max_element(end.begin(), end.end()) - end.begin();
      const int job = static_cast<int>(rng.below(2) == 0 ? last_job : rng.below(boost.size()));
      Allotment procs = best_.plan.procs;
      const double boosted_times = boost[job];
      if (rng.below(2) == 0)
        boost[job] = std::exp(2 * rng.uniform() - 1);
      else
        procs[job] = draw_count(rng, job);
      if (!keep_if_no_worse(procs, boost)) boost[job] = boosted_times;
      if (best_.makespan < best_before) moves_without_gain = 0;
    }
  }

  /// The next faster count of a job, or any that is no faster.
  int draw_count(Rng& rng, int job) const {
    const int procs = best_.plan.procs[job], fewest = instance_.fewest_procs(job);
    const int faster = instance_.next_faster_procs(job, procs);
    if (faster > 0 && rng.below(2) == 0) return faster;
    const int range = procs - fewest + 1;
    return instance_.used_procs(job, fewest + static_cast<int>(rng.below(range)));
  }

  const Instance& instance_;
  std::vector<double> free_times_;  // ascending
  list::ListScheduler scheduler_;
  std::vector<double> start_;
  SteadyClock::time_point deadline_;
  StepPlan best_;
};

}  // namespace

void check_arguments(const std::vector<double>& free_in, double budget, StepState best_before) {
  for (std::size_t p = 0; p < free_in.size(); ++p)
    if (!(free_in[p] >= 0 && std::isfinite(free_in[p])))
      throw InvalidInstance("machine[" + std::to_string(p) + "]: expected seconds >= 0");
  if (!(budget > 0)) throw InvalidInstance("budget: expected seconds > 0");
  if (!(best_before.ratio >= 0 && std::isfinite(best_before.ratio)))
    throw InvalidInstance("state: expected what an earlier step gave");
}

StepPlan step(const Instance& instance, const std::vector<double>& free_in, double budget,
              StepState best_before) {
  instance.require_no_releases("step");
  if (!instance.has_independent_jobs())
    throw InvalidInstance("step: expected jobs without edges that share nothing");
  if (static_cast<int>(free_in.size()) != instance.machines())
    throw InvalidInstance("machine: " + std::to_string(free_in.size()) + " processors: expected " +
                          std::to_string(instance.machines()));
  check_arguments(free_in, budget, best_before);
  return StepPlanner(instance, free_in, budget).plan(best_before);
}

std::vector<int> assign_processors(const Placement& plan, const std::vector<double>& free_in) {
  std::vector<int> job_of_processor(free_in.size(), -1);
  std::size_t p = 0;
  for (int i = 0; i < plan.jobs(); ++i) {
    if (plan.start[i] != 0) continue;
    for (int k = 0; k < plan.procs[i]; ++p)
      if (free_in[p] == 0) {
        job_of_processor[p] = i;
        ++k;
      }
  }
  return job_of_processor;
}

}  // namespace cosched::moldable::step
