#include "cosched/moldable/search/annealing.hpp"

#include "cosched/core/annealing.hpp"
#include "cosched/core/rng.hpp"
#include "cosched/core/threads.hpp"

namespace cosched::moldable::search {
namespace {

constexpr int kFewJobs = 80;  // up to here every move is followed by a new decoding
constexpr int kMostRuined = 8;
constexpr std::size_t kMostTried = 12;  // counts of a job, about
constexpr double kEndPart = 0.02;       // of a job's own end beside the end of all
constexpr double kFirstTemperature = 0.02, kLastTemperature = 0.0002;  // of the value
constexpr double kHotJobs = 4;  // beyond so many jobs, each has a smaller part in the value
constexpr int kRounds = 4;      // annealings from the best so far where jobs are few

// The best schedule so far; each is offered.
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
  Annealing(const Instance& instance, Objective objective, std::uint64_t seed, double target,
            AnnealingIncumbent best)
      : instance_(instance),
        objective_(objective),
        job_count_(instance.jobs()),
        has_few_jobs_(instance.jobs() <= kFewJobs),
        rng_(seed),
        incumbent_(std::move(best)),
        counts_(useful_counts(instance)),
        state_(instance, objective, target) {
    for (const double w : instance.weights()) total_weight_ += w;
  }

  /// May be left by an exception of check_interrupt().
  void run(std::int64_t work, double enough) {
    const int rounds = has_few_jobs_ ? kRounds : 1;
    const double all = std::max(1.0, static_cast<double>(work));
    for (int round = 0; round < rounds && incumbent_.value() > enough; ++round) {
      state_.load(incumbent_.placement());
      close_gaps();
      const double first = kFirstTemperature * std::min(1.0, kHotJobs / job_count_);
      const double from = static_cast<double>(round) / rounds, to = (round + 1.0) / rounds;
      const auto of_round = [&] {
        return (static_cast<double>(state_.operations()) / all - from) / (to - from);
      };
      cosched::anneal(kLastTemperature / kFirstTemperature, 1, of_round, [&](double warmth) {
        if (!(incumbent_.value() > enough)) return false;
        temperature_ = current_value_ * first * warmth;
        for (int k = 0; k < 16; ++k) make_move();
        return true;
      });
      if (!has_few_jobs_) close_gaps();
    }
  }

 private:
  void make_move() {
    const auto kind = has_few_jobs_ ? rng_.below(8) : 7;
    if (!has_few_jobs_ && ++move_count_ % job_count_ == 0) close_gaps();
    if (has_few_jobs_) {
      const Placement before = state_.placement();
      if (kind < 2)
        change_count();
      else if (kind < 4)
        change_place();
      else
        ruin_and_recreate(choose_removed_jobs());
      if (kind >= 4) state_.compact();
      if (!accept_or_reject()) state_.load(before);
      order_ = state_.order_by_start();
      return;
    }
    const std::vector<int> jobs = choose_removed_jobs();
    const Placement& placement = state_.placement();
    std::vector<RemovedJob> old;
    for (const int i : jobs) old.push_back({i, placement.procs[i], placement.start[i]});
    ruin_and_recreate(jobs);
    if (accept_or_reject()) return;
    for (const int i : jobs) state_.remove_job(i);
    for (const RemovedJob& each : old) state_.restore_job(each.job, each.procs, each.start);
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

  // A count one or two places away among the useful ones, now and then further.
  int draw_near_count(int job, int procs) {
    const std::vector<int>& counts = counts_[job];
    const auto place = std::lower_bound(counts.begin(), counts.end(), procs) - counts.begin();
    const auto last = static_cast<std::int64_t>(counts.size()) - 1;
    const std::int64_t step = rng_.between(1, rng_.below(3) == 0 ? 1 + last / 2 : 2);
    return counts[std::clamp<std::int64_t>(place + (rng_.below(2) == 0 ? step : -step), 0, last)];
  }

  // Up to eight jobs: any, neighbours in the order of starts, or those that run at a moment.
  std::vector<int> choose_removed_jobs() {
    const int most = std::min(job_count_, kMostRuined);
    const auto size = static_cast<std::size_t>(rng_.between(1, most));
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

  // Within the schedule, late ones preferred.
  double draw_moment() {
    return makespan(state_.placement()) * (1 - rng_.uniform() * rng_.uniform());
  }

  // At most `most` jobs that run at `at`, or the last to end before it where none does.
  std::vector<int> running_at(double at, std::size_t most) {
    const Placement& placement = state_.placement();
    std::vector<int> jobs;
    for (const int i : order_)
      if (placement.start[i] <= at && at <= placement.end[i]) jobs.push_back(i);
    if (jobs.empty()) jobs.push_back(draw_job());
    while (jobs.size() > most) {
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

  // The count of least end, as the criterion sees it, and price of the area.
  int best_count(int job) {
    const std::vector<int>& counts = counts_[job];
    int best = counts.front();
    double least = kInfinity;
    const auto stride = std::max<std::size_t>(1, counts.size() / kMostTried);
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
    return std::max(end, others_end_) + kEndPart * end + area_price_ * area;
  }

  const Instance& instance_;
  Objective objective_;
  int job_count_;
  bool has_few_jobs_;
  Rng rng_;
  AnnealingIncumbent incumbent_;
  std::vector<std::vector<int>> counts_;
  MutableSchedule state_;
  std::vector<int> order_;  // by start; where jobs are many, of some moves ago
  double total_weight_ = 0, current_value_ = 0, temperature_ = 0, area_price_ = 0, others_end_ = 0;
  std::int64_t move_count_ = 0;
};

}  // namespace

void anneal(const Instance& instance, Placement start, const AnnealOptions& options,
            const Offer& offer) {
  Annealing(instance, options.objective, options.seed, options.target_value,
            AnnealingIncumbent(instance, options.objective, std::move(start), offer))
      .run(options.work, options.target_value);
}

void run_chains(int chains, const std::function<void(int, const Offer&)>& chain,
                const Offer& offer) {
  std::vector<Placement> found(chains);
  const auto hand_over = [&] {
    for (Placement& one : found)
      if (one.jobs() > 0) offer(std::move(one));
  };
  try {
    in_threads(chains, usual_threads(),
               [&](int k) { chain(k, [&](Placement made) { found[k] = std::move(made); }); });
  } catch (...) {
    hand_over();
    throw;
  }
  hand_over();
}

}  // namespace cosched::moldable::search
