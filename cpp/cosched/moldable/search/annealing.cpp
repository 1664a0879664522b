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
class Best {
 public:
  Best(const Instance& instance, Objective objective, Placement start, const Offer& offer)
      : objective_(objective),
        value_(of(moldable::criteria(instance, start))),
        placement_(std::move(start)),
        offer_(offer) {}

  void consider(const SearchState& state) {
    const double value = of(state.criteria());
    if (!(value < value_)) return;
    value_ = value;
    placement_ = state.placement();
    offer_(placement_);
  }
  double value() const { return value_; }
  const Placement& placement() const { return placement_; }

 private:
  double of(const Criteria& value) const {
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
            Best best)
      : it_(instance),
        objective_(objective),
        n_(instance.jobs()),
        few_(instance.jobs() <= kFewJobs),
        rng_(seed),
        best_(std::move(best)),
        counts_(useful_counts(instance)),
        state_(instance, objective, target) {
    for (const double w : instance.weights()) weight_ += w;
  }

  /// May be left by an exception of check_interrupt().
  void run(std::int64_t work, double enough) {
    const int rounds = few_ ? kRounds : 1;
    const double all = std::max(1.0, static_cast<double>(work));
    for (int round = 0; round < rounds && best_.value() > enough; ++round) {
      state_.set(best_.placement());
      close_gaps();
      const double first = kFirstTemperature * std::min(1.0, kHotJobs / n_);
      const double from = static_cast<double>(round) / rounds, to = (round + 1.0) / rounds;
      const auto of_round = [&] {
        return (static_cast<double>(state_.operations()) / all - from) / (to - from);
      };
      cosched::anneal(kLastTemperature / kFirstTemperature, 1, of_round, [&](double warmth) {
        if (!(best_.value() > enough)) return false;
        temperature_ = value_ * first * warmth;
        for (int k = 0; k < 16; ++k) move();
        return true;
      });
      if (!few_) close_gaps();
    }
  }

 private:
  void move() {
    const auto kind = few_ ? rng_.below(8) : 7;
    if (!few_ && ++moves_ % n_ == 0) close_gaps();
    if (few_) {
      const Placement before = state_.placement();
      if (kind < 2)
        other_count();
      else if (kind < 4)
        other_place();
      else
        ruin_and_recreate(ruined());
      if (kind >= 4) state_.compact();
      if (!accept()) state_.set(before);
      order_ = state_.by_start();
      return;
    }
    const std::vector<int> jobs = ruined();
    const Placement& placement = state_.placement();
    std::vector<Old> old;
    for (const int i : jobs) old.push_back({i, placement.procs[i], placement.start[i]});
    ruin_and_recreate(jobs);
    if (accept()) return;
    for (const int i : jobs) state_.remove(i);
    for (const Old& each : old) state_.restore(each.job, each.procs, each.start);
  }

  struct Old {
    int job, procs;
    double start;
  };

  bool accept() {
    const double value = state_.value();
    if (value - value_ > -temperature_ * std::log(1 - rng_.uniform())) return false;
    value_ = value;
    best_.consider(state_);
    return true;
  }

  void close_gaps() {
    state_.compact();
    value_ = state_.value();
    order_ = state_.by_start();
    best_.consider(state_);
  }

  void other_count() {
    const int i = any_job();
    Allotment procs = state_.placement().procs;
    procs[i] = near_count(i, procs[i]);
    state_.decode(order_, procs);
  }

  void other_place() {
    std::vector<int> order = order_;
    const int from = any_job();
    const int to = rng_.below(2) == 0
                       ? any_job()
                       : std::clamp(from + static_cast<int>(rng_.between(-5, 5)), 0, n_ - 1);
    move_within(order, from, to);
    Allotment procs = state_.placement().procs;
    if (rng_.below(2) == 0) procs[order[to]] = near_count(order[to], procs[order[to]]);
    state_.decode(order, procs);
  }

  int any_job() { return static_cast<int>(rng_.below(n_)); }

  // A count one or two places away among the useful ones, now and then further.
  int near_count(int job, int procs) {
    const std::vector<int>& counts = counts_[job];
    const auto place = std::lower_bound(counts.begin(), counts.end(), procs) - counts.begin();
    const auto last = static_cast<std::int64_t>(counts.size()) - 1;
    const std::int64_t step = rng_.between(1, rng_.below(3) == 0 ? 1 + last / 2 : 2);
    return counts[std::clamp<std::int64_t>(place + (rng_.below(2) == 0 ? step : -step), 0, last)];
  }

  // Up to eight jobs: any, neighbours in the order of starts, or those that run at a moment.
  std::vector<int> ruined() {
    const int most = std::min(n_, kMostRuined);
    const auto size = static_cast<std::size_t>(rng_.between(1, most));
    const auto kind = rng_.below(few_ ? 3 : 4);
    std::vector<int> jobs;
    if (kind == 0 || kind == 3) {
      if (kind == 3) jobs.push_back(last_job());
      while (jobs.size() < size) {
        const int i = any_job();
        if (std::find(jobs.begin(), jobs.end(), i) == jobs.end()) jobs.push_back(i);
      }
    } else if (kind == 1) {
      const auto first = static_cast<std::size_t>(rng_.below(order_.size() - size + 1));
      jobs.assign(order_.begin() + static_cast<std::ptrdiff_t>(first),
                  order_.begin() + static_cast<std::ptrdiff_t>(first + size));
    } else {
      jobs = running_at(moment(), size);
    }
    for (std::size_t k = jobs.size(); k > 1; --k) std::swap(jobs[k - 1], jobs[rng_.below(k)]);
    return jobs;
  }

  int last_job() const {
    const std::vector<double>& end = state_.placement().end;
    return static_cast<int>(std::max_element(end.begin(), end.end()) - end.begin());
  }

  // Within the schedule, late ones preferred.
  double moment() { return makespan(state_.placement()) * (1 - rng_.uniform() * rng_.uniform()); }

  // At most `most` jobs that run at `at`, or the last to end before it where none does.
  std::vector<int> running_at(double at, std::size_t most) {
    const Placement& placement = state_.placement();
    std::vector<int> jobs;
    for (const int i : order_)
      if (placement.start[i] <= at && at <= placement.end[i]) jobs.push_back(i);
    if (jobs.empty()) jobs.push_back(any_job());
    while (jobs.size() > most) {
      std::swap(jobs[rng_.below(jobs.size())], jobs.back());
      jobs.pop_back();
    }
    return jobs;
  }

  void ruin_and_recreate(const std::vector<int>& jobs) {
    for (const int i : jobs) state_.remove(i);
    price_ =
        2 * rng_.uniform() / it_.machines() * (objective_ == Objective::minsum ? weight_ / 2 : 1);
    others_end_ = 0;
    if (objective_ == Objective::makespan && rng_.below(2) == 0) others_end_ = end_without(jobs);
    for (const int i : jobs) state_.insert(i, best_count(i));
  }

  double end_without(const std::vector<int>& jobs) const {
    double end = 0;
    for (int i = 0; i < n_; ++i)
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
    const double end = state_.end_at(job, procs), area = procs * it_.time(job, procs);
    if (objective_ == Objective::minsum) return it_.weight(job) * end + price_ * area;
    return std::max(end, others_end_) + kEndPart * end + price_ * area;
  }

  const Instance& it_;
  Objective objective_;
  int n_;
  bool few_;
  Rng rng_;
  Best best_;
  std::vector<std::vector<int>> counts_;
  SearchState state_;
  std::vector<int> order_;  // by start; where jobs are many, of some moves ago
  double weight_ = 0, value_ = 0, temperature_ = 0, price_ = 0, others_end_ = 0;
  std::int64_t moves_ = 0;
};

}  // namespace

void anneal(const Instance& instance, Placement start, const AnnealOptions& options,
            const Offer& offer) {
  Annealing(instance, options.objective, options.seed, options.enough,
            Best(instance, options.objective, std::move(start), offer))
      .run(options.work, options.enough);
}

void in_chains(int chains, const std::function<void(int, const Offer&)>& chain,
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
