#include "cosched/moldable/search/annealing.hpp"

#include "cosched/core/annealing.hpp"
#include "cosched/core/rng.hpp"
#include "cosched/moldable/search/mutable_schedule.hpp"
#include "cosched/moldable/search/useful_counts.hpp"

namespace cosched::moldable::search {
namespace {

// The best schedule so far; offers each better one.
class AnnealingIncumbent {
 public:
  AnnealingIncumbent(const Instance& instance, Objective objective, Placement start,
                     const Offer& offer)
      : objective_(objective),
        value_(criterion_of(moldable::evaluate_criteria(instance, start))),
        placement_(std::move(start)),
        offer_(offer) {}

  void consider(const MutableSchedule& state) {
    const double value = criterion_of(state.evaluate_criteria());
    if (!(value < value_)) return;
    value_ = value;
    placement_ = state.placement();
    offer_(placement_);
  }
  double value() const { return value_; }
  const Placement& placement() const { return placement_; }

 private:
  double criterion_of(const Criteria& value) const {
    return objective_ == Objective::makespan ? value.makespan : value.minsum;
  }

  Objective objective_;
  double value_;
  Placement placement_;
  const Offer& offer_;
};

class Annealing {
 public:
  Annealing(const Instance& instance, const AnnealOptions& options, const AnnealingParams& params,
            AnnealingIncumbent incumbent)
      : instance_(instance),
        objective_(options.objective),
        options_(options),
        params_(params),
        job_count_(instance.jobs()),
        has_few_jobs_(instance.jobs() <= params.few_jobs),
        rng_(options.seed),
        incumbent_(std::move(incumbent)),
        counts_(useful_counts(instance)),
        state_(instance, options.objective, options.target_value) {
    for (const double w : instance.weights()) total_weight_ += w;
  }

  // May throw as check_interrupt().
  void run() {
    const int rounds = has_few_jobs_ ? params_.rounds : 1;
    const double work = std::max(1.0, static_cast<double>(options_.work));
    for (int round = 0; round < rounds && !has_reached_target(); ++round) {
      state_.load(incumbent_.placement());
      close_gaps();
      const double first_temperature =
          params_.first_temperature * std::min(1.0, params_.hot_jobs / job_count_);
      const double from = static_cast<double>(round) / rounds, to = (round + 1.0) / rounds;
      const auto part_of_round = [&] {
        return (static_cast<double>(state_.operations()) / work - from) / (to - from);
      };
      const double last_warmth = params_.last_temperature / params_.first_temperature;
      cosched::anneal(last_warmth, 1, part_of_round, [&](double warmth) {
        if (has_reached_target()) return false;
        temperature_ = current_value_ * first_temperature * warmth;
        for (int k = 0; k < params_.moves_per_temperature; ++k) make_move();
        return true;
      });
      if (!has_few_jobs_) close_gaps();
    }
  }

 private:
  bool has_reached_target() const { return !(incumbent_.value() > options_.target_value); }

  void make_move() {
    if (has_few_jobs_) {
      move_and_decode();
      return;
    }
    ++move_count_;
    if (move_count_ % job_count_ == 0) close_gaps();
    const std::vector<int> jobs = choose_removed_jobs();
    const Placement& placement = state_.placement();
    std::vector<RemovedJob> removed_jobs;
    for (const int i : jobs) removed_jobs.push_back({i, placement.procs[i], placement.start[i]});
    ruin_and_recreate(jobs);
    if (accept_or_reject()) return;
    for (const int i : jobs) state_.remove_job(i);
    for (const RemovedJob& removed : removed_jobs)
      state_.restore_job(removed.job, removed.procs, removed.start);
  }

  // A move after which the whole schedule is decoded anew.
  void move_and_decode() {
    const auto kind = rng_.below(8);
    const Placement placement_before = state_.placement();
    if (kind < 2) {
      change_count();
    } else if (kind < 4) {
      change_place();
    } else {
      ruin_and_recreate(choose_removed_jobs());
      state_.compact();
    }
    if (!accept_or_reject()) state_.load(placement_before);
    order_ = state_.order_by_start();
  }

  struct RemovedJob {
    int job, procs;
    double start;
  };

  bool accept_or_reject() {
    const double value = state_.value();
    if (value - current_value_ > -temperature_ * std::log(1 - rng_.uniform())) return false;
    current_value_ = value;
    incumbent_.consider(state_);
    return true;
  }

  void close_gaps() {
    state_.compact();
    current_value_ = state_.value();
    order_ = state_.order_by_start();
    incumbent_.consider(state_);
  }

  void change_count() {
    const int i = draw_job();
    Allotment procs = state_.placement().procs;
    procs[i] = draw_near_count(i, procs[i]);
    state_.decode(order_, procs);
  }

  void change_place() {
    std::vector<int> order = order_;
    const int from = draw_job();
    const int to = rng_.below(2) == 0 ? draw_job()
                                      : std::clamp(from + static_cast<int>(rng_.between(-5, 5)), 0,
                                                   job_count_ - 1);
    move_entry(order, from, to);
    Allotment procs = state_.placement().procs;
    if (rng_.below(2) == 0) procs[order[to]] = draw_near_count(order[to], procs[order[to]]);
    state_.decode(order, procs);
  }

  int draw_job() { return static_cast<int>(rng_.below(job_count_)); }

  // Draws a count one or two places away among the useful ones, now and then further away.
  int draw_near_count(int job, int procs) {
    const std::vector<int>& counts = counts_[job];
    const auto place = std::lower_bound(counts.begin(), counts.end(), procs) - counts.begin();
    const auto last = static_cast<std::int64_t>(counts.size()) - 1;
    const std::int64_t step = rng_.between(1, rng_.below(3) == 0 ? 1 + last / 2 : 2);
    return counts[std::clamp<std::int64_t>(place + (rng_.below(2) == 0 ? step : -step), 0, last)];
  }

  // Draws a few jobs: any, neighbours in the order of starts, or those that run at a moment.
  std::vector<int> choose_removed_jobs() {
    const int max_size = std::min(job_count_, params_.max_removed_jobs);
    const auto size = static_cast<std::size_t>(rng_.between(1, max_size));
    const auto kind = rng_.below(has_few_jobs_ ? 3 : 4);
    std::vector<int> jobs;
    if (kind == 0 || kind == 3) {
      if (kind == 3) jobs.push_back(last_job());
      while (jobs.size() < size) {
        const int i = draw_job();
        if (std::find(jobs.begin(), jobs.end(), i) == jobs.end()) jobs.push_back(i);
      }
    } else if (kind == 1) {
      const auto first = static_cast<std::size_t>(rng_.below(order_.size() - size + 1));
      jobs.assign(order_.begin() + static_cast<std::ptrdiff_t>(first),
                  order_.begin() + static_cast<std::ptrdiff_t>(first + size));
    } else {
      jobs = running_at(draw_moment(), size);
    }
    for (std::size_t k = jobs.size(); k > 1; --k) std::swap(jobs[k - 1], jobs[rng_.below(k)]);
    return jobs;
  }

  int last_job() const {
    const std::vector<double>& end = state_.placement().end;
    return static_cast<int>(std::max_element(end.begin(), end.end()) - end.begin());
  }

  // Draws a time within the schedule; late ones are more likely.
  double draw_moment() {
    return makespan(state_.placement()) * (1 - rng_.uniform() * rng_.uniform());
  }

  // At most `max_size` of the jobs that run at `moment`, or any job where none does.
  std::vector<int> running_at(double moment, std::size_t max_size) {
    const Placement& placement = state_.placement();
    std::vector<int> jobs;
    for (const int i : order_)
      if (placement.start[i] <= moment && moment <= placement.end[i]) jobs.push_back(i);
    if (jobs.empty()) jobs.push_back(draw_job());
    while (jobs.size() > max_size) {
      std::swap(jobs[rng_.below(jobs.size())], jobs.back());
      jobs.pop_back();
    }
    return jobs;
  }

  void ruin_and_recreate(const std::vector<int>& jobs) {
    for (const int i : jobs) state_.remove_job(i);
    area_price_ = 2 * rng_.uniform() / instance_.machines() *
                  (objective_ == Objective::minsum ? total_weight_ / 2 : 1);
    others_end_ = 0;
    if (objective_ == Objective::makespan && rng_.below(2) == 0) others_end_ = end_without(jobs);
    for (const int i : jobs) state_.insert_job(i, best_count(i));
  }

  double end_without(const std::vector<int>& jobs) const {
    double end = 0;
    for (int i = 0; i < job_count_; ++i)
      if (std::find(jobs.begin(), jobs.end(), i) == jobs.end())
        end = std::max(end, state_.placement().end[i]);
    return end;
  }

  // The count at which the end, as the criterion sees it, and the price of the area are least.
  int best_count(int job) {
    const std::vector<int>& counts = counts_[job];
    int best = counts.front();
    double least = kInfinity;
    const auto stride = std::max<std::size_t>(1, counts.size() / params_.tried_counts);
    for (std::size_t k = rng_.below(stride); k < counts.size();
         k += 1 + rng_.below(2 * stride - 1)) {
      const double cost = cost_of(job, counts[k]);
      if (cost >= least) continue;
      least = cost;
      best = counts[k];
    }
    return best;
  }

  double cost_of(int job, int procs) {
    const double end = state_.earliest_end(job, procs), area = procs * instance_.time(job, procs);
    if (objective_ == Objective::minsum) return instance_.weight(job) * end + area_price_ * area;
    return std::max(end, others_end_) + params_.end_part * end + area_price_ * area;
  }

  const Instance& instance_;
  Objective objective_;
  AnnealOptions options_;
  AnnealingParams params_;
  int job_count_;
  bool has_few_jobs_;
  Rng rng_;
  AnnealingIncumbent incumbent_;
  std::vector<std::vector<int>> counts_;
  MutableSchedule state_;
  std::vector<int> order_;  // of the starts; where jobs are many, as it was some moves ago
  double total_weight_ = 0;
  double current_value_ = 0;
  double temperature_ = 0;
  double area_price_ = 0;  // of a processor second, of the present move
  double others_end_ = 0;  // the last end of the jobs that stay (makespan), or 0
  std::int64_t move_count_ = 0;
};

}  // namespace

void anneal(const Instance& instance, Placement start, const AnnealOptions& options,
            const Offer& offer, const AnnealingParams& params) {
  AnnealingIncumbent incumbent(instance, options.objective, std::move(start), offer);
  Annealing(instance, options, params, std::move(incumbent)).run();
}

}  // namespace cosched::moldable::search
