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
  enum class Jobs {
    pay_for_their_end,  // w_j (s + t); or they start after the horizon, where time is free
    keep_the_deadline,  // they end by the horizon, and pay for the machine alone
  };

  /// `instance` and `choices`, those of choices_of(), must outlive it.
  TimePrices(const Instance& instance, const std::vector<std::vector<Choice>>& choices,
             double horizon, int cells, Jobs jobs)
      : it_(instance), choices_(choices), deadline_(jobs == Jobs::keep_the_deadline) {
    for (const auto& own : choices_) columns_ += static_cast<std::int64_t>(own.size());
    horizon_ = std::max(horizon, cells * 1e-280);  // so that there are numbers within a cell
    set(std::vector<double>(cells, 0.0));
  }

  /// A price of each cell, a processor second.
  void set(std::vector<double> prices) {
    price_ = std::move(prices);
    cells_ = static_cast<int>(price_.size());
    cell_ = horizon_ / cells_;
    sum_up();
  }

  /// The right side for all jobs on a free machine, rounded down; infinite where some job cannot
  /// keep the deadline.  O(choices x cells).
  double value() {
    use_.assign(cells_, 0);
    double sum = 0;
    for (int job = 0; job < it_.jobs(); ++job) {
      poll_.count(4 * static_cast<std::int64_t>(choices_[job].size()) * cells_);
      const Start best = cheapest(job);
      if (best.cost == kInfinity) return kInfinity;
      sum += best.cost;
      add_use(best);
    }
    work_ += round();
    return rounded(sum, it_.machines() * from_[0]);
  }

  /// Raises bound() by subgradient steps (Polyak, with `known`, sum w C of some schedule), in about
  /// `work` steps; `doublings` times twice as many cells.
  void climb(double known, std::int64_t work, int doublings) {
    for (int doubling = 0;; ++doubling) {
      climb_on_these(known, work / (doublings + 1));
      if (doubling == doublings || 2 * cells_ * columns_ > kMostEntries) return;
      std::vector<double> finer;  // two cells of each: the prices stay what they are
      for (const double price : price_) finer.insert(finer.end(), 2, price);
      set(std::move(finer));
    }
  }

  /// No schedule of all jobs costs less, at the best prices so far.
  double bound() const { return bound_; }

  /// Whether some of `rounds` sets of prices prove that no schedule keeps the deadline:
  /// multiplicative weights on the cells, of which those that jobs would overload become dearer.
  bool refutes_deadline(int rounds) {
    const double room = it_.machines() * cell_;
    std::vector<double> load(cells_, 0), prices(cells_);
    for (int round = 1; round <= rounds; ++round) {
      const double rate = kRate * std::sqrt(std::log(static_cast<double>(2 * cells_)) / round);
      const double most = *std::max_element(load.begin(), load.end());
      for (int k = 0; k < cells_; ++k) prices[k] = std::exp(rate * (load[k] - most));
      const double sum = room * std::accumulate(prices.begin(), prices.end(), 0.0);
      for (double& price : prices) price /= sum;
      set(prices);
      if (value() > 0) return true;
      for (int k = 0; k < cells_; ++k) load[k] += use_[k] / room;
    }
    return false;
  }

  /// No schedule of the jobs of `rest` on processors that become free as the steps say has a lower
  /// sum w C.  Sharp to a cell, and exactly where that decides whether it is below `enough`.
  /// O(jobs of the rest * steps), + O(choices of the rest) where it does.
  double least(JobSet rest, const Step* steps, int count, double enough) {
    if (least_.empty()) tabulate();
    const int row = cells_ + 1;
    double right = 0, low = 0, high = 0;
    for (int k = 0; k < count; ++k) right += steps[k].count * price_from(steps[k].time);
    for (int job = 0; job < it_.jobs(); ++job) {
      if (!(rest >> job & 1)) continue;
      double below = kInfinity, above = kInfinity;
      int free = 0;
      for (const Step* step = steps; step < steps + count; ++step) {
        free += step->count;
        const int some = within_[job][free];
        if (some == 0) continue;
        const double start = std::max(it_.release(job), step->time), at = start / cell_;
        if (at < cells_) {
          const double* const found = &least_[job][(some - 1) * row + static_cast<int>(at)];
          below = std::min(below, found[0]);
          above = std::min(above, found[1]);
        } else {
          const double late = it_.weight(job) * (start + choices_[job][some - 1].time);
          below = std::min(below, late);
          above = std::min(above, late);
        }
      }
      low += below;
      high += above;
    }
    work_ += count * size_of(rest);
    low = rounded(low, right);
    if (low >= enough || rounded(high, right) < enough) return low;
    double exact = 0;
    for (int job = 0; job < it_.jobs(); ++job)
      if (rest >> job & 1) exact += exactly(job, steps);
    return rounded(exact, right);
  }

  /// Steps of work since it was asked last.
  std::int64_t take_work() { return std::exchange(work_, 0); }

 private:
  static constexpr std::int64_t kMostEntries = 4'000'000;  // 32 MB
  static constexpr double kFirstStep = 1, kLeastStep = 1e-3, kMomentum = 0.7, kRate = 1.5;
  static constexpr double kTarget =
      1.002;                            // of the value, which itself would be met in the limit only
  static constexpr int kPatience = 12;  // sets of prices without gain, before steps get shorter

  struct Start {
    double cost, at;
    const Choice* choice;
  };

  double price_from(double time) const {
    const double at = time / cell_;
    if (!(at < cells_)) return 0;
    const int k = static_cast<int>(at);
    return from_[k] - price_[k] * (time - k * cell_);
  }
  double cost(double weight, const Choice& choice, double start) const {
    const double end = start + choice.time;
    return weight * end + choice.procs * (price_from(start) - price_from(end));
  }
  // Where a job that starts in the cell of `start` bends what it costs: its end enters another
  // cell.
  double bend(const Choice& choice, double start) const {
    return (std::floor((start + choice.time) / cell_) + 1) * cell_ - choice.time;
  }

  // The sums of a job are differences of at most `right`, which is a sum over cells.
  double rounded(double sum, double right) const {
    const double errors = 2 * (it_.jobs() + 1.0) * (cells_ + 16.0);
    return sum < kInfinity
               ? sum - right - errors * std::numeric_limits<double>::epsilon() * (sum + right)
               : sum;
  }

  // Work of one set of prices.
  std::int64_t round() const { return columns_ * cells_; }

  // What it costs bends where a start or an end enters another cell.
  Start cheapest(int job) const {
    const double weight = deadline_ ? 0 : it_.weight(job), first = it_.release(job);
    Start best{kInfinity, first, nullptr};
    for (const Choice& choice : choices_[job]) {
      const double t = choice.time;
      const double latest = deadline_ ? std::max(first, horizon_ - t) : kInfinity;
      if (deadline_ && first + t > horizon_ * (1 + kExactTolerance)) continue;
      const auto offer = [&](double found, double start) {
        if (found < best.cost && start >= first && start <= latest) best = {found, start, &choice};
      };
      offer(cost(weight, choice, first), first);
      if (deadline_) offer(cost(weight, choice, latest), latest);
      // An end after the horizon costs what one at the horizon does.
      const int lag = t < horizon_ ? static_cast<int>(t / cell_) : cells_;
      const double beyond = t < horizon_ ? t - lag * cell_ : 0;
      const double most = std::min<double>(cells_, latest / cell_);
      for (int k = static_cast<int>(std::min<double>(first / cell_, cells_)); k <= most; ++k) {
        const double start = k * cell_, own = weight * (start + t);
        if (!deadline_ && own >= best.cost) break;
        offer(own + choice.procs * (from_[k] - from_[k + lag] + price_at(k + lag) * beyond), start);
        const double bent = start + cell_ - beyond;
        offer(weight * (bent + t) +
                  choice.procs * (from_[k + 1] + price_at(k) * beyond - from_[k + lag + 1]),
              bent);
      }
    }
    return best;
  }

  double price_at(int k) const { return k < cells_ ? price_[k] : 0; }

  void add_use(const Start& best) {
    const double end = best.at + best.choice->time;
    for (int k = static_cast<int>(std::min<double>(best.at / cell_, cells_));
         k < cells_ && k * cell_ < end; ++k)
      use_[k] +=
          best.choice->procs * (std::min(end, (k + 1) * cell_) - std::max(best.at, k * cell_));
  }

  void climb_on_these(double known, std::int64_t work) {
    std::vector<double> direction(cells_, 0), best = price_;
    double step = kFirstStep;
    int idle = 0;
    for (std::int64_t done = 0; done <= work && step > kLeastStep; done += round()) {
      check_interrupt();
      const double found = value();
      idle = found > bound_ + 1e-5 * (known - bound_) ? 0 : idle + 1;
      if (found > bound_) {
        bound_ = found;
        best = price_;
      }
      if (idle > kPatience) {
        idle = 0;
        step /= 2;
        price_ = best;
        std::fill(direction.begin(), direction.end(), 0.0);
      } else if (!(known > found) || !follow(step * (kTarget * known - found), direction)) {
        break;
      }
      sum_up();
    }
    set(std::move(best));
  }

  // False at an optimum: no cell asks for another price.
  bool follow(double pace, std::vector<double>& direction) {
    const double room = it_.machines() * cell_;
    double norm = 0;
    for (int k = 0; k < cells_; ++k) {
      double slope = use_[k] - room;
      if (price_[k] <= 0 && slope < 0) slope = 0;
      direction[k] = slope + kMomentum * direction[k];
      if (price_[k] <= 0 && direction[k] < 0) direction[k] = 0;
      norm += direction[k] * direction[k];
    }
    if (!(norm > 0)) return false;
    for (int k = 0; k < cells_; ++k)
      price_[k] = std::max(0.0, price_[k] + pace / norm * direction[k]);
    return true;
  }

  void sum_up() {
    from_.assign(2 * cells_ + 2, 0);
    for (int k = cells_ - 1; k >= 0; --k) from_[k] = from_[k + 1] + price_[k] * cell_;
  }

  // Within a cell of starts what a job costs bends once at most.
  void tabulate() {
    const int row = cells_ + 1;
    for (int job = 0; job < it_.jobs(); ++job) {
      const double weight = it_.weight(job);
      std::vector<double> table(choices_[job].size() * static_cast<std::size_t>(row));
      std::vector<int>& within = within_.emplace_back(it_.machines() + 1, 0);
      double* own = table.data();
      for (const Choice& choice : choices_[job]) {
        ++within[choice.procs];
        const double bent = bend(choice, 0);
        own[cells_] = weight * (horizon_ + choice.time);
        for (int k = cells_ - 1; k >= 0; --k) {
          own[k] = std::min(own[k + 1], cost(weight, choice, k * cell_));
          if (bent < cell_) own[k] = std::min(own[k], cost(weight, choice, k * cell_ + bent));
        }
        if (own != table.data())
          for (int k = 0; k < row; ++k) own[k] = std::min(own[k], own[k - row]);
        own += row;
      }
      std::partial_sum(within.begin(), within.end(), within.begin());
      work_ += static_cast<std::int64_t>(table.size());
      least_.push_back(std::move(table));
    }
  }

  // At the steps where there are enough processors for a choice, or later.
  double exactly(int job, const Step* step) {
    const double weight = it_.weight(job);
    int free = step->count, number = 0;
    double least = kInfinity;
    for (const Choice& choice : choices_[job]) {
      while (free < choice.procs) free += (++step)->count;
      const double start = std::max(it_.release(job), step->time), at = start / cell_;
      least = std::min(least, cost(weight, choice, start));
      if (at < cells_) {
        const int next = static_cast<int>(at) + 1;
        least = std::min(least, least_[job][number * (cells_ + 1) + next]);
        if (const double bent = bend(choice, start); bent < next * cell_)
          least = std::min(least, cost(weight, choice, bent));
      }
      ++number;
    }
    work_ += 4 * number;
    return least;
  }

  const Instance& it_;
  const std::vector<std::vector<Choice>>& choices_;
  bool deadline_;
  double horizon_ = 0, cell_ = 0;
  int cells_ = 0;
  std::int64_t columns_ = 0, work_ = 0;
  double bound_ = 0;
  std::vector<double> price_;  // of each cell, a processor second
  std::vector<double> from_;   // P at the start of each cell, and some beyond the horizon
  std::vector<double> use_;    // of each cell, processor seconds
  // Of each job, when first asked: by processors how many of its choices fit, and by choices and
  // cells what it costs at least from there on.
  std::vector<std::vector<int>> within_;
  std::vector<std::vector<double>> least_;
  Poll poll_;
};

}  // namespace cosched::moldable::search
