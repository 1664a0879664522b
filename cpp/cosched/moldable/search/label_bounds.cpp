#include "cosched/moldable/search/label_bounds.hpp"

#include "cosched/core/assert.hpp"

namespace cosched::moldable::search {

LabelBounds::LabelBounds(const Instance& instance, const std::vector<std::vector<Choice>>& choices,
                         Objective objective, const Incumbent& incumbent, WorkBudget& budget,
                         const LabelBoundParams& params)
    : instance_(instance),
      choices_(choices),
      minimizes_makespan_(objective == Objective::makespan),
      incumbent_(incumbent),
      budget_(budget),
      params_(params) {
  order_by_density();
  collect_releases();
  for (const std::vector<Choice>& choices_of_job : choices_)
    work_monotone_.push_back(std::is_sorted(
        choices_of_job.begin(), choices_of_job.end(),
        [](const Choice& a, const Choice& b) { return a.procs * a.time < b.procs * b.time; }));
}

void LabelBounds::order_by_density() {
  by_density_.resize(instance_.jobs());
  std::iota(by_density_.begin(), by_density_.end(), 0);
  for (int i = 0; i < instance_.jobs(); ++i) least_work_.push_back(instance_.least_work(i));
  std::stable_sort(by_density_.begin(), by_density_.end(), [&](int a, int b) {
    return least_work_[a] * instance_.weight(b) < least_work_[b] * instance_.weight(a);
  });
}

void LabelBounds::collect_releases() {
  std::vector<double> releases = instance_.releases();
  releases.push_back(0);
  std::sort(releases.begin(), releases.end());
  releases.erase(std::unique(releases.begin(), releases.end()), releases.end());
  for (const double release : releases) {
    JobSet jobs = 0;
    for (int i = 0; i < instance_.jobs(); ++i)
      if (instance_.release(i) >= release) jobs = with_job(jobs, i);
    released_jobs_.push_back({release, jobs});
  }
}

double LabelBounds::enable_strong_bounds(double proved_bound) {
  if (!minimizes_makespan_) {
    const double horizon = makespan(incumbent_.placement());
    if (!(horizon > 0) || !(incumbent_.value() > 0) ||
        instance_.machines() > params_.max_priced_machines)
      return proved_bound;
    const std::int64_t work =
        std::min(params_.price_work, std::max<std::int64_t>(0, budget_.remaining_steps()));
    prices_.emplace(instance_, choices_, horizon, params_.first_price_cells,
                    TimePrices::JobCosts::weighted_completion);
    prices_->subgradient_ascent(incumbent_.value(), work, params_.price_doublings);
    budget_.spend(prices_->take_work());
    return std::max(proved_bound, prices_->bound() * (1 - kProofRounding));
  }
  if (!(proved_bound > 0)) return proved_bound;
  patterns_.emplace(choices_, instance_.machines(), proved_bound, incumbent_.value());
  budget_.spend(patterns_->take_work());
  patterns_help_ = patterns_->bound() > proved_bound;
  return patterns_help_ ? patterns_->bound() : proved_bound;
}

double LabelBounds::lower_bound(const PartialSchedule& partial, double known_bound) {
  COSCHED_ASSERT(!partial.free_steps.empty());
  best_cases_.clear();
  for (int j = 0; j < instance_.jobs(); ++j)
    if (!contains(partial.started_jobs, j)) best_cases_.push_back(find_best_case(partial, j));
  const auto steps = static_cast<std::int64_t>(partial.free_steps.size());
  budget_.spend(static_cast<std::int64_t>(best_cases_.size() + 1) * steps / 2);
  double bound = minimizes_makespan_ ? bound_makespan(partial) : bound_minsum(partial);
  if (best_cases_.empty() || incumbent_.can_prune(bound)) return bound * (1 - kProofRounding);
  if (patterns_help_) bound = bound_by_patterns(partial, std::max(bound, known_bound));
  if (prices_) {
    const JobSet waiting_jobs = first_jobs(instance_.jobs()) & ~partial.started_jobs;
    const double cost_below_incumbent = incumbent_.value() - partial.started_cost;
    bound = std::max(
        bound, partial.started_cost +
                   prices_->lower_bound(waiting_jobs, partial.free_steps, cost_below_incumbent));
    budget_.spend(prices_->take_work());
  }
  return bound * (1 - kProofRounding);
}

// Among the choices for which enough processors are free at a step the last one is the fastest.
// Where work rises with the count, the first choice that ends in time at the first step that has
// one is the one of least work.
LabelBounds::BestCase LabelBounds::find_best_case(const PartialSchedule& partial, int job) const {
  BestCase best{job, kInfinity, kInfinity, instance_.machines()};
  const std::vector<Choice>& choices = choices_[job];
  const Choice* const first = choices.data();
  const Choice* const last = first + choices.size();
  const Choice* fitting_end = first;    // choices before it have enough free processors
  const Choice* first_in_time = first;  // choices before it end too late from this step on
  int free_procs = 0;
  for (const FreeStep& step : partial.free_steps) {
    free_procs += step.procs;
    const double start = std::max(instance_.release(job), step.time);
    while (fitting_end < last && fitting_end->procs <= free_procs) ++fitting_end;
    if (fitting_end == first) continue;
    best.end = std::min(best.end, start + fitting_end[-1].time);
    const bool has_least_work = best.work < kInfinity && work_monotone_[job];
    if (minimizes_makespan_ && !has_least_work) {
      while (first_in_time < fitting_end && start + first_in_time->time >= incumbent_.value())
        ++first_in_time;
      for (const Choice* choice = first_in_time; choice < fitting_end; ++choice) {
        best.work = std::min(best.work, choice->procs * choice->time);
        best.procs = std::min(best.procs, choice->procs);
        if (work_monotone_[job]) break;
      }
    }
    if (fitting_end == last && (!minimizes_makespan_ || best.work < kInfinity)) break;
  }
  return best;
}

// The time by which the free processors have done `area` processor seconds of work, none of it
// before `from`.
double LabelBounds::area_completion(const PartialSchedule& partial, double from,
                                    double area) const {
  int free_procs = 0;
  double now = from;
  for (const FreeStep& step : partial.free_steps) {
    if (step.time > now) {
      const double free_area = free_procs * (step.time - now);
      if (free_area >= area && free_procs > 0) break;
      area -= free_area;
      now = step.time;
    }
    free_procs += step.procs;
  }
  return area > 0 ? now + area / free_procs : now;
}

double LabelBounds::bound_makespan(const PartialSchedule& partial) {
  double bound = partial.free_steps.back().time;
  for (const BestCase& best_case : best_cases_) {
    if (best_case.work == kInfinity) return kInfinity;
    bound = std::max(bound, best_case.end);
  }
  return std::max({bound, bound_by_release(partial), bound_by_width(partial)});
}

// The work of the jobs that are released at r or later, from r on, for every release r.
double LabelBounds::bound_by_release(const PartialSchedule& partial) {
  const double from = partial.free_steps.front().time;
  std::sort(best_cases_.begin(), best_cases_.end(), [&](const BestCase& a, const BestCase& b) {
    return instance_.release(a.job) > instance_.release(b.job);
  });
  double area = 0, bound = 0;
  for (std::size_t k = 0; k < best_cases_.size(); ++k) {
    area += best_cases_[k].work;
    const double release = instance_.release(best_cases_[k].job);
    const bool is_last = k + 1 == best_cases_.size();
    const bool is_last_of_release = is_last || instance_.release(best_cases_[k + 1].job) != release;
    if (is_last || (release > from && is_last_of_release))
      bound = std::max(bound, area_completion(partial, std::max(release, from), area));
  }
  return bound;
}

// At most k jobs that each need more than m / (k + 1) processors run at a time.
double LabelBounds::bound_by_width(const PartialSchedule& partial) const {
  double bound = 0;
  for (int width = 1; width <= params_.max_width; ++width) {
    double seconds = 0;
    for (const BestCase& best_case : best_cases_)
      if (best_case.procs * (width + 1) > instance_.machines())
        seconds += instance_.least_time(best_case.job);
    bound = std::max(bound, partial.free_steps.front().time + seconds / width);
  }
  return bound;
}

// Bisects between the proved bound and the incumbent, a few times.
double LabelBounds::bound_by_patterns(const PartialSchedule& partial, double proved_bound) {
  double too_short = proved_bound, long_enough = incumbent_.value();
  if (!can_patterns_fit(partial, long_enough * (1 - kProofRounding))) {
    too_short = long_enough;
  } else if (!can_patterns_fit(partial, too_short)) {
    for (int halving = 0; halving < params_.pattern_halvings; ++halving) {
      const double middle = (too_short + long_enough) / 2;
      if (can_patterns_fit(partial, middle))
        long_enough = middle;
      else
        too_short = middle;
    }
  }
  budget_.spend(patterns_->take_work());
  return too_short;
}

// False proves that the remaining jobs cannot all end by the deadline.
bool LabelBounds::can_patterns_fit(const PartialSchedule& partial, double deadline) {
  const JobSet waiting_jobs = first_jobs(instance_.jobs()) & ~partial.started_jobs;
  const double first_free = partial.free_steps.front().time;
  for (const auto& [release, jobs] : released_jobs_) {
    if (release <= first_free && release > released_jobs_.front().release) continue;
    if ((waiting_jobs & jobs) == 0) break;
    budget_.spend(static_cast<std::int64_t>(partial.free_steps.size()));
    if (!patterns_->can_meet_deadline(waiting_jobs & jobs, partial.free_steps, deadline, release))
      return false;
  }
  return true;
}

double LabelBounds::bound_minsum(const PartialSchedule& partial) const {
  double cost_alone = partial.started_cost, total_work = 0;
  for (const BestCase& best_case : best_cases_) {
    if (best_case.end == kInfinity) return kInfinity;
    cost_alone += instance_.weight(best_case.job) * best_case.end;
    total_work += least_work_[best_case.job];
  }
  if (!(total_work > 0)) return cost_alone;
  // A fluid machine that starts and ends with the real one: the free area is convex in time, so the
  // chord is nowhere below it.
  const double from = partial.free_steps.front().time;
  const double seconds_per_work = (area_completion(partial, from, total_work) - from) / total_work;
  double fluid_cost = partial.started_cost, area = 0;
  for (const int job : by_density_) {
    if (contains(partial.started_jobs, job)) continue;
    area += least_work_[job];
    fluid_cost += instance_.weight(job) * (from + seconds_per_work * area);
  }
  return std::max(cost_alone, fluid_cost);
}

}  // namespace cosched::moldable::search
