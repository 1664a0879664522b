// Lower bounds on what a beginning of a schedule of jobs with precedence and resources becomes.
#pragma once

#include "cosched/moldable/search/graph_jobs.hpp"
#include "cosched/moldable/search/label_bounds.hpp"

namespace cosched::moldable::search {

/// These jobs have started, in the order of their starts.
///
/// `rows` holds `count` rows of 1 + measures() numbers: a time, and how much of each measure is
/// free from then on, as if no other job started.  The first time is the last start so far, before
/// which no other job starts; amounts never fall from one row to the next, and in the last row all
/// is free.
struct GraphPartialSchedule {
  JobSet started_jobs;
  double started_cost;  // sum w C of the jobs that have started (minsum)
  const double* rows;
  int row_count;
  const double*
      ready_times;  // of each job: its release, or the last end of a predecessor that started
};

/// Both criteria: each job at its earliest end, which respects the earliest ends of the jobs before
/// it; and what a relaxed instance with independent jobs on processors alone says
/// (label_bounds.hpp), in which longest paths are releases.
///
/// Makespan: for each measure the jobs with a head of at least h and a tail of at least t, whose
/// amounts have to fit between; jobs of which at most k fit side by side.
/// Minsum: for each measure the jobs in preemptive Smith order on what is free, by mean busy times:
/// an end is half the running time after the middle of the run (Goemans; Eastman, Even, Isaacs).
/// Measures that were added know more than each real one alone: a choice that saves one thing costs
/// another, and few sets of jobs fill the machine.
class GraphLabelBounds {
 public:
  /// All must outlive it.
  GraphLabelBounds(const GraphJobs& jobs, Objective objective, const Incumbent& incumbent,
                   WorkBudget& effort)
      : jobs_(jobs),
        minimizes_makespan_(objective == Objective::makespan),
        incumbent_(incumbent),
        budget_(effort),
        measures_(jobs.measures()),
        stride_(1 + measures_),
        relaxed_instance_(relaxed_instance(jobs)),
        relaxed_choices_(fastest_choices(relaxed_instance_)),
        relaxed_bounds_(relaxed_instance_, relaxed_choices_, objective, incumbent, effort),
        heads_(jobs.jobs(), 0.0),
        earliest_ends_(jobs.jobs(), 0.0),
        least_times_(jobs.jobs(), 0.0),
        choice_ends_(jobs.first_choice(jobs.jobs()), 0.0),
        least_amounts_(static_cast<std::size_t>(jobs.jobs()) * measures_, 0.0),
        least_needs_(least_amounts_) {}

  /// Dearer bounds of the relaxed instance, for all that follows; a bound on all schedules.
  double enable_strong_bounds(double proved) {
    return std::max(proved, relaxed_bounds_.enable_strong_bounds(proved));
  }

  /// `known`: a bound.  Infinite where nothing better can come of the beginning.
  double lower_bound(const GraphPartialSchedule& beginning, double known) {
    spend_budget(beginning);
    if (!find_earliest_ends(beginning)) return kInfinity;
    find_least_amounts(beginning);
    double least = minimizes_makespan_ ? bound_makespan(beginning) : bound_minsum(beginning);
    least *= 1 - kProofRounding;
    if (waiting_jobs_.empty() || incumbent_.can_prune(least)) return least;
    find_processor_steps(beginning);
    const PartialSchedule relaxed{beginning.started_jobs, beginning.started_cost,
                                  free_steps_.data(), static_cast<int>(free_steps_.size())};
    return std::max(least, relaxed_bounds_.lower_bound(relaxed, std::max(least, known)));
  }

 private:
  static constexpr int kSideBySide = 3;  // jobs side by side that are bounded by number
  static constexpr double kNearlyNothing = 1e-6;

  bool has_started(const GraphPartialSchedule& beginning, int job) const {
    return beginning.started_jobs >> job & 1;
  }
  double row_time(const GraphPartialSchedule& beginning, int row) const {
    return beginning.rows[static_cast<std::size_t>(row) * stride_];
  }

  // Without precedence and resources; counts that do not fit on the idle machine are left out.
  static Instance relaxed_instance(const GraphJobs& jobs) {
    const Instance& instance = jobs.instance();
    std::vector<double> release = jobs.heads();
    double longest = 0, weights = 0;
    for (int job = 0; job < jobs.jobs(); ++job) {
      longest = std::max(longest, release[job]);
      weights += instance.weight(job);
      for (int choice = jobs.first_choice(job); choice < jobs.first_choice(job + 1); ++choice)
        longest += jobs.time(choice);
    }
    // Rather releases as they are than sums that overflow.
    if (!(weights * longest < kLargest)) release = instance.releases();
    if (instance.table() == nullptr)
      return Instance(instance.profiles(), instance.weights(), std::move(release),
                      instance.machines());
    Table times(instance.jobs(), instance.useful_machines());
    for (int job = 0; job < instance.jobs(); ++job)
      for (int count = 1; count <= instance.useful_machines(); ++count) {
        const bool fits =
            instance.sharing() == nullptr || instance.sharing()->fits_alone(job, count);
        times(job, count - 1) = fits ? instance.exact_time(job, count) : kInfinity;
      }
    return Instance(Times(std::move(times)), instance.weights(), std::move(release),
                    instance.machines());
  }

  void spend_budget(const GraphPartialSchedule& beginning) {
    const auto choices = static_cast<std::int64_t>(choice_ends_.size());
    const int started = set_size(beginning.started_jobs), waiting = jobs_.jobs() - started;
    budget_.spend(choices * waiting / jobs_.jobs() +
                  static_cast<std::int64_t>(waiting) * waiting * measures_ / 4 +
                  beginning.row_count);
  }

  // Of each waiting job the earliest start and end on what is free, after the jobs before it; of
  // each choice the end, infinite where nothing better comes of it.
  bool find_earliest_ends(const GraphPartialSchedule& beginning) {
    waiting_jobs_.clear();
    for (const int job : jobs_.topological_order()) {
      if (has_started(beginning, job)) continue;
      waiting_jobs_.push_back(job);
      double earliest = std::max(beginning.rows[0], beginning.ready_times[job]);
      for (JobSet left = jobs_.predecessors(job) & ~beginning.started_jobs; left != 0;
           left &= left - 1)
        earliest = std::max(earliest, earliest_ends_[__builtin_ctz(left)]);
      int first_row = 0;
      while (first_row + 1 < beginning.row_count && row_time(beginning, first_row + 1) <= earliest)
        ++first_row;
      heads_[job] = earliest_ends_[job] = kInfinity;
      for (int choice = jobs_.first_choice(job); choice < jobs_.first_choice(job + 1); ++choice) {
        int row = first_row;
        while (!jobs_.has_room_for(choice,
                                   &beginning.rows[static_cast<std::size_t>(row) * stride_ + 1]))
          ++row;
        const double start = std::max(earliest, row_time(beginning, row));
        const double end = start + jobs_.time(choice);
        if (minimizes_makespan_ && incumbent_.can_prune(end + jobs_.tail(job))) {
          choice_ends_[choice] = kInfinity;
          continue;
        }
        choice_ends_[choice] = end;
        heads_[job] = std::min(heads_[job], start);
        earliest_ends_[job] = std::min(earliest_ends_[job], end);
      }
      if (earliest_ends_[job] == kInfinity) return false;
    }
    return true;
  }

  double sum_of_earliest_ends(const GraphPartialSchedule& beginning) const {
    double sum = beginning.started_cost;
    for (const int job : waiting_jobs_) sum += jobs_.instance().weight(job) * earliest_ends_[job];
    return sum;
  }

  // Of each waiting job the least amount of each measure, the least need and the least time, over
  // the choices that may lead to something better.
  void find_least_amounts(const GraphPartialSchedule& beginning) {
    const double room =
        minimizes_makespan_ ? 0 : incumbent_.value() - sum_of_earliest_ends(beginning);
    for (const int job : waiting_jobs_) {
      double* const amount = &least_amounts_[static_cast<std::size_t>(job) * measures_];
      double* const least_need = &least_needs_[static_cast<std::size_t>(job) * measures_];
      std::fill(amount, amount + measures_, kInfinity);
      std::fill(least_need, least_need + measures_, kInfinity);
      least_times_[job] = kInfinity;
      const double weight = jobs_.instance().weight(job);
      for (int choice = jobs_.first_choice(job); choice < jobs_.first_choice(job + 1); ++choice) {
        const double end = choice_ends_[choice];
        if (end == kInfinity) continue;
        if (!minimizes_makespan_ && end > earliest_ends_[job] &&
            weight * (end - earliest_ends_[job]) >= room)
          continue;
        const double time = jobs_.time(choice);
        const double* const need = jobs_.need(choice);
        least_times_[job] = std::min(least_times_[job], time);
        for (int measure = 0; measure < measures_; ++measure) {
          amount[measure] = std::min(amount[measure], need[measure] * time);
          least_need[measure] = std::min(least_need[measure], need[measure]);
        }
      }
    }
  }

  // Where nothing seems to be left, what fits up to rounding still runs: a job with a need near 0
  // must not have to wait.
  double free_amount(const GraphPartialSchedule& beginning, int row, int measure) const {
    const double free = beginning.rows[static_cast<std::size_t>(row) * stride_ + 1 + measure];
    return measure > 0 && free < kNearlyNothing ? free + kExactTolerance : free;
  }
  double least_amount(int job, int measure) const {
    return least_amounts_[static_cast<std::size_t>(job) * measures_ + measure];
  }

  // When an amount is worked off by what is free, not before `from`.
  double amount_completion(const GraphPartialSchedule& beginning, int measure, double from,
                           double amount) const {
    double now = from;
    for (int row = 0;; ++row) {
      const bool is_last = row + 1 == beginning.row_count;
      const double until = is_last ? kInfinity : row_time(beginning, row + 1);
      if (until <= now) continue;
      const double free = free_amount(beginning, row, measure);
      if (is_last || free * (until - now) >= amount) return free > 0 ? now + amount / free : now;
      amount -= free * (until - now);
      now = until;
    }
  }

  double bound_makespan(const GraphPartialSchedule& beginning) {
    double least = row_time(beginning, beginning.row_count - 1);
    for (const int job : waiting_jobs_)
      least = std::max(least, earliest_ends_[job] + jobs_.tail(job));
    if (waiting_jobs_.empty() || incumbent_.can_prune(least)) return least;
    std::sort(waiting_jobs_.begin(), waiting_jobs_.end(), [&](int a, int b) {
      return std::pair(-jobs_.tail(a), a) < std::pair(-jobs_.tail(b), b);
    });
    for (int measure = 0; measure < measures_; ++measure) {
      least = std::max(least, bound_by_windows(beginning, measure));
      if (incumbent_.can_prune(least)) return least;
    }
    for (int measure = 0; measure < measures_; ++measure)
      least = std::max(least, bound_by_width(measure));
    return least;
  }

  // The amounts of the jobs with a head of at least h and a tail of at least t, for every h and t.
  double bound_by_windows(const GraphPartialSchedule& beginning, int measure) const {
    double least = 0;
    for (const int first : waiting_jobs_) {
      const double head = heads_[first];
      double amount = 0;
      for (std::size_t k = 0; k < waiting_jobs_.size(); ++k) {
        const int job = waiting_jobs_[k];
        if (heads_[job] < head) continue;
        amount += least_amount(job, measure);
        const double tail = jobs_.tail(job);
        if (k + 1 < waiting_jobs_.size() && jobs_.tail(waiting_jobs_[k + 1]) == tail) continue;
        least = std::max(least, amount_completion(beginning, measure, head, amount) + tail);
      }
    }
    return least;
  }

  // Jobs that each need more than a part 1 / (k + 1) of a measure: at most k run at a time.
  double bound_by_width(int measure) const {
    double least = 0;
    for (int side = 1; side <= kSideBySide; ++side) {
      double seconds = 0, head = kInfinity, tail = kInfinity;
      for (const int job : waiting_jobs_) {
        const double need = least_needs_[static_cast<std::size_t>(job) * measures_ + measure];
        if (need * (side + 1) <= jobs_.capacity(measure) * (1 + 4 * kExactTolerance)) continue;
        seconds += least_times_[job];
        head = std::min(head, heads_[job]);
        tail = std::min(tail, jobs_.tail(job));
      }
      if (seconds > 0) least = std::max(least, head + seconds / side + tail);
    }
    return least;
  }

  double bound_minsum(const GraphPartialSchedule& beginning) {
    double least = sum_of_earliest_ends(beginning);
    for (int measure = 0; measure < measures_ && !incumbent_.can_prune(least); ++measure)
      least = std::max(least, bound_by_mean_busy_times(beginning, measure));
    return least;
  }

  // What is free of the measure goes to the waiting job of greatest weight per amount whose head
  // has passed.  Of all ways to spend it none makes the sum of w (middle of the run) less.
  double bound_by_mean_busy_times(const GraphPartialSchedule& beginning, int measure) {
    double sum = beginning.started_cost;
    by_density_.clear();
    for (const int job : waiting_jobs_) {
      const double weight = jobs_.instance().weight(job), amount = least_amount(job, measure);
      if (amount > 0 && weight > 0)
        by_density_.push_back({job, amount, weight / amount});
      else
        sum += weight * earliest_ends_[job];
      if (amount > 0) sum += weight * least_times_[job] / 2;
    }
    std::sort(by_density_.begin(), by_density_.end(), [](const Portion& a, const Portion& b) {
      return std::pair(-a.density, a.job) < std::pair(-b.density, b.job);
    });
    double now = beginning.rows[0];
    int row = 0;
    for (std::size_t finished = 0; finished < by_density_.size();) {
      while (row + 1 < beginning.row_count && row_time(beginning, row + 1) <= now) ++row;
      double until = row + 1 < beginning.row_count ? row_time(beginning, row + 1) : kInfinity;
      Portion* next = nullptr;
      for (Portion& portion : by_density_) {
        if (portion.amount <= 0) continue;
        if (heads_[portion.job] > now) {
          until = std::min(until, heads_[portion.job]);
        } else {
          next = &portion;
          break;  // portions of greater density, which may interrupt it, were looked at
        }
      }
      const double free = free_amount(beginning, row, measure);
      if (next == nullptr || !(free > 0)) {
        if (until == kInfinity) return 0;  // prices of 0: the measure says nothing
        now = until;
        continue;
      }
      const double end = now + next->amount / free;
      if (end <= until) {
        sum += next->density * next->amount * (now + end) / 2;
        next->amount = 0;
        ++finished;
        now = end;
      } else {
        const double done = free * (until - now);
        sum += next->density * done * (now + until) / 2;
        next->amount -= done;
        now = until;
      }
    }
    return sum;
  }

  void find_processor_steps(const GraphPartialSchedule& beginning) {
    free_steps_.clear();
    int free = 0;
    for (int row = 0; row < beginning.row_count; ++row) {
      const int now_free = static_cast<int>(free_amount(beginning, row, 0));
      if (now_free > free) free_steps_.push_back({row_time(beginning, row), now_free - free});
      free = now_free;
    }
  }

  static constexpr double kLargest = 1e300;

  // Of a job, what is left of its amount.
  struct Portion {
    int job;
    double amount, density;
  };

  const GraphJobs& jobs_;
  bool minimizes_makespan_;
  const Incumbent& incumbent_;
  WorkBudget& budget_;
  int measures_, stride_;
  const Instance relaxed_instance_;
  const std::vector<std::vector<Choice>> relaxed_choices_;
  LabelBounds relaxed_bounds_;

  // Of the beginning that is looked at.
  std::vector<int> waiting_jobs_;
  std::vector<double> heads_, earliest_ends_, least_times_;  // of each job
  std::vector<double> choice_ends_;
  std::vector<double> least_amounts_, least_needs_;  // of each job and measure
  std::vector<Portion> by_density_;
  std::vector<FreeStep> free_steps_;
};

}  // namespace cosched::moldable::search
