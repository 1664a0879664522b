// Prices of processor time: what jobs cost at least, or that they miss a deadline.
#pragma once

#include "cosched/moldable/search/patterns.hpp"

namespace cosched::moldable::search {

/// Let processor time cost p(x) >= 0 a second at time x, and P(x) be what it costs from x on.  On
/// processors that are free as some steps say, in every schedule of jobs S
///   sum w_j C_j  >=  sum_{j in S} min_{q, s} [w_j (s + t_j(q)) + q (P(s) - P(s + t_j(q)))]  -  sum
///   P(step),
/// since the jobs use no more of any moment than is free: the Lagrangian of that.  s is not before
/// the job's release, nor before q processors are free.  Without weights, and with ends by a
/// deadline, no schedule keeps the deadline where the right side is above 0.
///
/// p is constant in each of some hundred cells up to a horizon, and 0 after the last; the minimum
/// over s is one of a piecewise linear function, taken exactly.
class TimePrices {
 public:
  enum class JobCosts {
    weighted_completion,  // w_j (s + t); or they start after the horizon, where time is free
    deadline,             // they end by the horizon, and pay for the machine alone
  };

  /// `instance` and `choices`, those of choices_of(), must outlive it.
  TimePrices(const Instance& instance, const std::vector<std::vector<Choice>>& choices,
             double horizon, int cells, JobCosts jobs)
      : instance_(instance), choices_(choices), has_deadline_(jobs == JobCosts::deadline) {
    for (const auto& own : choices_) choice_count_ += static_cast<std::int64_t>(own.size());
    horizon_ = std::max(horizon, cells * 1e-280);  // so that there are numbers within a cell
    set_prices(std::vector<double>(cells, 0.0));
  }

  /// A price of each cell, a processor second.
  void set_prices(std::vector<double> prices) {
    prices_ = std::move(prices);
    cell_count_ = static_cast<int>(prices_.size());
    cell_length_ = horizon_ / cell_count_;
    update_price_sums();
  }

  /// The right side for all jobs on a free machine, rounded down; infinite where some job cannot
  /// keep the deadline.  O(choices x cells).
  double evaluate() {
    cell_use_.assign(cell_count_, 0);
    double sum = 0;
    for (int job = 0; job < instance_.jobs(); ++job) {
      poll_.count(4 * static_cast<std::int64_t>(choices_[job].size()) * cell_count_);
      const CheapestStart best = find_cheapest_start(job);
      if (best.cost == kInfinity) return kInfinity;
      sum += best.cost;
      add_cell_use(best);
    }
    work_ += work_per_round();
    return round_down(sum, instance_.machines() * price_from_cell_[0]);
  }

  /// Raises bound() by subgradient steps (Polyak, with `known`, sum w C of some schedule), in about
  /// `work` steps; `doublings` times twice as many cells.
  void subgradient_ascent(double known, std::int64_t work, int doublings) {
    for (int doubling = 0;; ++doubling) {
      ascend_on_cells(known, work / (doublings + 1));
      if (doubling == doublings || 2 * cell_count_ * choice_count_ > kMostEntries) return;
      std::vector<double> finer;  // two cells of each: the prices stay what they are
      for (const double price : prices_) finer.insert(finer.end(), 2, price);
      set_prices(std::move(finer));
    }
  }

  /// No schedule of all jobs costs less, at the best prices so far.
  double bound() const { return bound_; }

  /// Whether some of `rounds` sets of prices prove that no schedule keeps the deadline:
  /// multiplicative weights on the cells, of which those that jobs would overload become dearer.
  bool prove_deadline_infeasible(int rounds) {
    const double room = instance_.machines() * cell_length_;
    std::vector<double> load(cell_count_, 0), prices(cell_count_);
    for (int round = 1; round <= rounds; ++round) {
      const double rate = kRate * std::sqrt(std::log(static_cast<double>(2 * cell_count_)) / round);
      const double most = *std::max_element(load.begin(), load.end());
      for (int k = 0; k < cell_count_; ++k) prices[k] = std::exp(rate * (load[k] - most));
      const double sum = room * std::accumulate(prices.begin(), prices.end(), 0.0);
      for (double& price : prices) price /= sum;
      set_prices(prices);
      if (evaluate() > 0) return true;
      for (int k = 0; k < cell_count_; ++k) load[k] += cell_use_[k] / room;
    }
    return false;
  }

  /// No schedule of the jobs of `rest` on processors that become free as the steps say has a lower
  /// sum w C.  Sharp to a cell, and exactly where that decides whether it is below `enough`.
  /// O(jobs of the rest * steps), + O(choices of the rest) where it does.
  double lower_bound(JobSet rest, const FreeStep* steps, int count, double enough) {
    if (least_cost_.empty()) tabulate_costs();
    const int row = cell_count_ + 1;
    double right = 0, low = 0, high = 0;
    for (int k = 0; k < count; ++k) right += steps[k].procs * price_from(steps[k].time);
    for (int job = 0; job < instance_.jobs(); ++job) {
      if (!(rest >> job & 1)) continue;
      double below = kInfinity, above = kInfinity;
      int free = 0;
      for (const FreeStep* step = steps; step < steps + count; ++step) {
        free += step->procs;
        const int some = choices_within_[job][free];
        if (some == 0) continue;
        const double start = std::max(instance_.release(job), step->time),
                     at = start / cell_length_;
        if (at < cell_count_) {
          const double* const found = &least_cost_[job][(some - 1) * row + static_cast<int>(at)];
          below = std::min(below, found[0]);
          above = std::min(above, found[1]);
        } else {
          const double late = instance_.weight(job) * (start + choices_[job][some - 1].time);
          below = std::min(below, late);
          above = std::min(above, late);
        }
      }
      low += below;
      high += above;
    }
    work_ += count * set_size(rest);
    low = round_down(low, right);
    if (low >= enough || round_down(high, right) < enough) return low;
    double exact = 0;
    for (int job = 0; job < instance_.jobs(); ++job)
      if (rest >> job & 1) exact += exact_job_cost(job, steps);
    return round_down(exact, right);
  }

  /// Steps of work since it was asked last.
  std::int64_t take_work() { return std::exchange(work_, 0); }

 private:
  static constexpr std::int64_t kMostEntries = 4'000'000;  // 32 MB
  static constexpr double kFirstStep = 1, kLeastStep = 1e-3, kMomentum = 0.7, kRate = 1.5;
  static constexpr double kTarget =
      1.002;                            // of the value, which itself would be met in the limit only
  static constexpr int kPatience = 12;  // sets of prices without gain, before steps get shorter

  struct CheapestStart {
    double cost, start;
    const Choice* choice;
  };

  double price_from(double time) const {
    const double at = time / cell_length_;
    if (!(at < cell_count_)) return 0;
    const int k = static_cast<int>(at);
    return price_from_cell_[k] - prices_[k] * (time - k * cell_length_);
  }
  double cost_of_start(double weight, const Choice& choice, double start) const {
    const double end = start + choice.time;
    return weight * end + choice.procs * (price_from(start) - price_from(end));
  }
  // Where a job that starts in the cell of `start` bends what it costs: its end enters another
  // cell.
  double next_bend(const Choice& choice, double start) const {
    return (std::floor((start + choice.time) / cell_length_) + 1) * cell_length_ - choice.time;
  }

  // The sums of a job are differences of at most `right`, which is a sum over cells.
  double round_down(double sum, double right) const {
    const double errors = 2 * (instance_.jobs() + 1.0) * (cell_count_ + 16.0);
    return sum < kInfinity
               ? sum - right - errors * std::numeric_limits<double>::epsilon() * (sum + right)
               : sum;
  }

  // Work of one set of prices.
  std::int64_t work_per_round() const { return choice_count_ * cell_count_; }

  // What it costs bends where a start or an end enters another cell.
  CheapestStart find_cheapest_start(int job) const {
    const double weight = has_deadline_ ? 0 : instance_.weight(job), first = instance_.release(job);
    CheapestStart best{kInfinity, first, nullptr};
    for (const Choice& choice : choices_[job]) {
      const double t = choice.time;
      const double latest = has_deadline_ ? std::max(first, horizon_ - t) : kInfinity;
      if (has_deadline_ && first + t > horizon_ * (1 + kExactTolerance)) continue;
      const auto offer = [&](double found, double start) {
        if (found < best.cost && start >= first && start <= latest) best = {found, start, &choice};
      };
      offer(cost_of_start(weight, choice, first), first);
      if (has_deadline_) offer(cost_of_start(weight, choice, latest), latest);
      // An end after the horizon costs what one at the horizon does.
      const int lag = t < horizon_ ? static_cast<int>(t / cell_length_) : cell_count_;
      const double beyond = t < horizon_ ? t - lag * cell_length_ : 0;
      const double most = std::min<double>(cell_count_, latest / cell_length_);
      for (int k = static_cast<int>(std::min<double>(first / cell_length_, cell_count_)); k <= most;
           ++k) {
        const double start = k * cell_length_, own = weight * (start + t);
        if (!has_deadline_ && own >= best.cost) break;
        offer(own + choice.procs * (price_from_cell_[k] - price_from_cell_[k + lag] +
                                    price_at(k + lag) * beyond),
              start);
        const double bent = start + cell_length_ - beyond;
        offer(weight * (bent + t) + choice.procs * (price_from_cell_[k + 1] + price_at(k) * beyond -
                                                    price_from_cell_[k + lag + 1]),
              bent);
      }
    }
    return best;
  }

  double price_at(int k) const { return k < cell_count_ ? prices_[k] : 0; }

  void add_cell_use(const CheapestStart& best) {
    const double end = best.start + best.choice->time;
    for (int k = static_cast<int>(std::min<double>(best.start / cell_length_, cell_count_));
         k < cell_count_ && k * cell_length_ < end; ++k)
      cell_use_[k] += best.choice->procs * (std::min(end, (k + 1) * cell_length_) -
                                            std::max(best.start, k * cell_length_));
  }

  void ascend_on_cells(double known, std::int64_t work) {
    std::vector<double> direction(cell_count_, 0), best = prices_;
    double step = kFirstStep;
    int idle = 0;
    for (std::int64_t done = 0; done <= work && step > kLeastStep; done += work_per_round()) {
      check_interrupt();
      const double found = evaluate();
      idle = found > bound_ + 1e-5 * (known - bound_) ? 0 : idle + 1;
      if (found > bound_) {
        bound_ = found;
        best = prices_;
      }
      if (idle > kPatience) {
        idle = 0;
        step /= 2;
        prices_ = best;
        std::fill(direction.begin(), direction.end(), 0.0);
      } else if (!(known > found) || !step_along(step * (kTarget * known - found), direction)) {
        break;
      }
      update_price_sums();
    }
    set_prices(std::move(best));
  }

  // False at an optimum: no cell asks for another price.
  bool step_along(double pace, std::vector<double>& direction) {
    const double room = instance_.machines() * cell_length_;
    double norm = 0;
    for (int k = 0; k < cell_count_; ++k) {
      double slope = cell_use_[k] - room;
      if (prices_[k] <= 0 && slope < 0) slope = 0;
      direction[k] = slope + kMomentum * direction[k];
      if (prices_[k] <= 0 && direction[k] < 0) direction[k] = 0;
      norm += direction[k] * direction[k];
    }
    if (!(norm > 0)) return false;
    for (int k = 0; k < cell_count_; ++k)
      prices_[k] = std::max(0.0, prices_[k] + pace / norm * direction[k]);
    return true;
  }

  void update_price_sums() {
    price_from_cell_.assign(2 * cell_count_ + 2, 0);
    for (int k = cell_count_ - 1; k >= 0; --k)
      price_from_cell_[k] = price_from_cell_[k + 1] + prices_[k] * cell_length_;
  }

  // Within a cell of starts what a job costs bends once at most.
  void tabulate_costs() {
    const int row = cell_count_ + 1;
    for (int job = 0; job < instance_.jobs(); ++job) {
      const double weight = instance_.weight(job);
      std::vector<double> table(choices_[job].size() * static_cast<std::size_t>(row));
      std::vector<int>& within = choices_within_.emplace_back(instance_.machines() + 1, 0);
      double* own = table.data();
      for (const Choice& choice : choices_[job]) {
        ++within[choice.procs];
        const double bent = next_bend(choice, 0);
        own[cell_count_] = weight * (horizon_ + choice.time);
        for (int k = cell_count_ - 1; k >= 0; --k) {
          own[k] = std::min(own[k + 1], cost_of_start(weight, choice, k * cell_length_));
          if (bent < cell_length_)
            own[k] = std::min(own[k], cost_of_start(weight, choice, k * cell_length_ + bent));
        }
        if (own != table.data())
          for (int k = 0; k < row; ++k) own[k] = std::min(own[k], own[k - row]);
        own += row;
      }
      std::partial_sum(within.begin(), within.end(), within.begin());
      work_ += static_cast<std::int64_t>(table.size());
      least_cost_.push_back(std::move(table));
    }
  }

  // At the steps where there are enough processors for a choice, or later.
  double exact_job_cost(int job, const FreeStep* step) {
    const double weight = instance_.weight(job);
    int free = step->procs, number = 0;
    double least = kInfinity;
    for (const Choice& choice : choices_[job]) {
      while (free < choice.procs) free += (++step)->procs;
      const double start = std::max(instance_.release(job), step->time), at = start / cell_length_;
      least = std::min(least, cost_of_start(weight, choice, start));
      if (at < cell_count_) {
        const int next = static_cast<int>(at) + 1;
        least = std::min(least, least_cost_[job][number * (cell_count_ + 1) + next]);
        if (const double bent = next_bend(choice, start); bent < next * cell_length_)
          least = std::min(least, cost_of_start(weight, choice, bent));
      }
      ++number;
    }
    work_ += 4 * number;
    return least;
  }

  const Instance& instance_;
  const std::vector<std::vector<Choice>>& choices_;
  bool has_deadline_;
  double horizon_ = 0, cell_length_ = 0;
  int cell_count_ = 0;
  std::int64_t choice_count_ = 0, work_ = 0;
  double bound_ = 0;
  std::vector<double> prices_;           // of each cell, a processor second
  std::vector<double> price_from_cell_;  // P at the start of each cell, and some beyond the horizon
  std::vector<double> cell_use_;         // of each cell, processor seconds
  // Of each job, when first asked: by processors how many of its choices fit, and by choices and
  // cells what it costs at least from there on.
  std::vector<std::vector<int>> choices_within_;
  std::vector<std::vector<double>> least_cost_;
  Poll poll_;
};

}  // namespace cosched::moldable::search
