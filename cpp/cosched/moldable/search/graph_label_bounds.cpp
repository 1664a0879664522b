#include "cosched/moldable/search/graph_label_bounds.hpp"

namespace cosched::moldable::search {

GraphLabelBounds::GraphLabelBounds(const GraphJobs& jobs, Objective objective,
                                   const Incumbent& incumbent, WorkBudget& budget,
                                   const GraphLabelBoundParams& params)
    : jobs_(jobs),
      minimizes_makespan_(objective == Objective::makespan),
      incumbent_(incumbent),
      budget_(budget),
      params_(params),
      measures_(jobs.measures()),
      stride_(1 + measures_),
      relaxed_instance_(make_relaxed_instance(jobs)),
      relaxed_choices_(fastest_choices(relaxed_instance_)),
      relaxed_bounds_(relaxed_instance_, relaxed_choices_, objective, incumbent, budget),
      heads_(jobs.jobs(), 0.0),
      earliest_ends_(jobs.jobs(), 0.0),
      least_times_(jobs.jobs(), 0.0),
      choice_ends_(jobs.first_choice(jobs.jobs()), 0.0),
      least_amounts_(static_cast<std::size_t>(jobs.jobs()) * measures_, 0.0),
      least_needs_(least_amounts_) {}

double GraphLabelBounds::lower_bound(const GraphPartialSchedule& partial, double known_bound) {
  spend_budget(partial);
  if (!find_earliest_ends(partial)) return kInfinity;
  find_least_amounts(partial);
  double bound = minimizes_makespan_ ? bound_makespan(partial) : bound_minsum(partial);
  bound *= 1 - kProofRounding;
  if (waiting_jobs_.empty() || incumbent_.can_prune(bound)) return bound;
  find_processor_steps(partial);
  const PartialSchedule relaxed{.started_jobs = partial.started_jobs,
                                .started_cost = partial.started_cost,
                                .free_steps = free_steps_};
  return std::max(bound, relaxed_bounds_.lower_bound(relaxed, std::max(bound, known_bound)));
}

Instance GraphLabelBounds::make_relaxed_instance(const GraphJobs& jobs) {
  const Instance& instance = jobs.instance();
  std::vector<double> release = jobs.heads();
  double longest = 0, weights = 0;
  for (int job = 0; job < jobs.jobs(); ++job) {
    longest = std::max(longest, release[job]);
    weights += instance.weight(job);
    for (int choice = jobs.first_choice(job); choice < jobs.first_choice(job + 1); ++choice)
      longest += jobs.time(choice);
  }
  // Where sums with heads as releases could overflow, the releases stay what they are.
  constexpr double kLargestSum = 1e300;
  if (!(weights * longest < kLargestSum)) release = instance.releases();
  if (instance.table() == nullptr)
    return Instance(instance.profiles(), instance.weights(), std::move(release),
                    instance.machines());
  Table times(instance.jobs(), instance.useful_machines());
  for (int job = 0; job < instance.jobs(); ++job)
    for (int count = 1; count <= instance.useful_machines(); ++count) {
      const bool fits = instance.sharing() == nullptr || instance.sharing()->fits_alone(job, count);
      times(job, count - 1) = fits ? instance.exact_time(job, count) : kInfinity;
    }
  return Instance(Times(std::move(times)), instance.weights(), std::move(release),
                  instance.machines());
}

bool GraphLabelBounds::find_earliest_ends(const GraphPartialSchedule& partial) {
  waiting_jobs_.clear();
  for (const int job : jobs_.topological_order()) {
    if (has_started(partial, job)) continue;
    waiting_jobs_.push_back(job);
    double earliest = std::max(partial.rows[0], partial.ready_times[job]);
    JobSet waiting_predecessors = jobs_.predecessors(job) & ~partial.started_jobs;
    for (; waiting_predecessors != 0;
         waiting_predecessors = without_first_job(waiting_predecessors))
      earliest = std::max(earliest, earliest_ends_[first_job(waiting_predecessors)]);
    int first_row = 0;
    while (first_row + 1 < partial.row_count && row_time(partial, first_row + 1) <= earliest)
      ++first_row;
    heads_[job] = kInfinity;
    earliest_ends_[job] = kInfinity;
    for (int choice = jobs_.first_choice(job); choice < jobs_.first_choice(job + 1); ++choice) {
      int row = first_row;
      while (
          !jobs_.has_room_for(choice, &partial.rows[static_cast<std::size_t>(row) * stride_ + 1]))
        ++row;
      const double start = std::max(earliest, row_time(partial, row));
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

void GraphLabelBounds::find_least_amounts(const GraphPartialSchedule& partial) {
  const double cost_slack =
      minimizes_makespan_ ? 0 : incumbent_.value() - sum_of_earliest_ends(partial);
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
          weight * (end - earliest_ends_[job]) >= cost_slack)
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

double GraphLabelBounds::amount_completion(const GraphPartialSchedule& partial, int measure,
                                           double from, double amount) const {
  double now = from;
  for (int row = 0;; ++row) {
    const bool is_last = row + 1 == partial.row_count;
    const double until = is_last ? kInfinity : row_time(partial, row + 1);
    if (until <= now) continue;
    const double free = free_amount(partial, row, measure);
    if (is_last || free * (until - now) >= amount) return free > 0 ? now + amount / free : now;
    amount -= free * (until - now);
    now = until;
  }
}

double GraphLabelBounds::bound_makespan(const GraphPartialSchedule& partial) {
  double bound = row_time(partial, partial.row_count - 1);
  for (const int job : waiting_jobs_)
    bound = std::max(bound, earliest_ends_[job] + jobs_.tail(job));
  if (waiting_jobs_.empty() || incumbent_.can_prune(bound)) return bound;
  std::sort(waiting_jobs_.begin(), waiting_jobs_.end(), [&](int a, int b) {
    return std::pair(-jobs_.tail(a), a) < std::pair(-jobs_.tail(b), b);
  });
  for (int measure = 0; measure < measures_; ++measure) {
    bound = std::max(bound, bound_by_windows(partial, measure));
    if (incumbent_.can_prune(bound)) return bound;
  }
  for (int measure = 0; measure < measures_; ++measure)
    bound = std::max(bound, bound_by_width(measure));
  return bound;
}

double GraphLabelBounds::bound_by_windows(const GraphPartialSchedule& partial, int measure) const {
  double bound = 0;
  for (const int first : waiting_jobs_) {
    const double head = heads_[first];
    double amount = 0;
    for (std::size_t k = 0; k < waiting_jobs_.size(); ++k) {
      const int job = waiting_jobs_[k];
      if (heads_[job] < head) continue;
      amount += least_amount(job, measure);
      const double tail = jobs_.tail(job);
      if (k + 1 < waiting_jobs_.size() && jobs_.tail(waiting_jobs_[k + 1]) == tail) continue;
      bound = std::max(bound, amount_completion(partial, measure, head, amount) + tail);
    }
  }
  return bound;
}

double GraphLabelBounds::bound_by_width(int measure) const {
  double bound = 0;
  for (int width = 1; width <= params_.max_width; ++width) {
    double seconds = 0, head = kInfinity, tail = kInfinity;
    for (const int job : waiting_jobs_) {
      const double need = least_needs_[static_cast<std::size_t>(job) * measures_ + measure];
      if (need * (width + 1) <= jobs_.capacity(measure) * (1 + 4 * kExactTolerance)) continue;
      seconds += least_times_[job];
      head = std::min(head, heads_[job]);
      tail = std::min(tail, jobs_.tail(job));
    }
    if (seconds > 0) bound = std::max(bound, head + seconds / width + tail);
  }
  return bound;
}

double GraphLabelBounds::bound_by_mean_busy_times(const GraphPartialSchedule& partial,
                                                  int measure) {
  double sum = partial.started_cost;
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
  double now = partial.rows[0];
  int row = 0;
  for (std::size_t finished = 0; finished < by_density_.size();) {
    while (row + 1 < partial.row_count && row_time(partial, row + 1) <= now) ++row;
    double until = row + 1 < partial.row_count ? row_time(partial, row + 1) : kInfinity;
    Portion* densest = nullptr;
    for (Portion& portion : by_density_) {
      if (portion.amount <= 0) continue;
      if (heads_[portion.job] > now) {
        until = std::min(until, heads_[portion.job]);
      } else {
        densest = &portion;
        break;  // denser portions, which may interrupt it, were looked at before
      }
    }
    const double free = free_amount(partial, row, measure);
    if (densest == nullptr || !(free > 0)) {
      if (until == kInfinity) return 0;  // the measure has a price of 0, and proves nothing
      now = until;
      continue;
    }
    const double end = now + densest->amount / free;
    if (end <= until) {
      sum += densest->density * densest->amount * (now + end) / 2;
      densest->amount = 0;
      ++finished;
      now = end;
    } else {
      const double done = free * (until - now);
      sum += densest->density * done * (now + until) / 2;
      densest->amount -= done;
      now = until;
    }
  }
  return sum;
}

void GraphLabelBounds::find_processor_steps(const GraphPartialSchedule& partial) {
  free_steps_.clear();
  int free = 0;
  for (int row = 0; row < partial.row_count; ++row) {
    const int now_free = static_cast<int>(free_amount(partial, row, 0));
    if (now_free > free) free_steps_.push_back({row_time(partial, row), now_free - free});
    free = now_free;
  }
}

}  // namespace cosched::moldable::search
