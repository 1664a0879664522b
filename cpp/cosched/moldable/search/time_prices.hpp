// Prices of processor time: what jobs that have not started cost at least.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/moldable/model/instance.hpp"
#include "cosched/moldable/search/patterns.hpp"

namespace cosched::moldable::search {

// When each job may start: its release, and what a search says beyond it.

/// Of each job: it starts within [first, last].  first >= its release; last may be infinite.
struct StartWindows {
  std::vector<double> first, last;

  explicit StartWindows(const Instance& instance)
      : first(instance.releases()), last(instance.jobs(), kInfinity) {}
};

/// More processors have too many counts.
inline constexpr int kMostPricedMachines = 1 << 16;

/// Let processor time cost p(x) >= 0 a second at time x, and P(x) be what it costs from x on.  On
/// processors that are free as some steps say, in every schedule of jobs S
///   sum w_j C_j  >=  sum_{j in S} min_{q, s} [w_j (s + t_j(q)) + q (P(s) - P(s + t_j(q)))]  -  sum
///   P(step),
/// since the jobs use no more of any moment than is free: the Lagrangian of that.  s is in the
/// job's window, and not before q processors are free.  p is constant in each of some hundred
/// cells, and 0 after the last; the minimum over s is one of a piecewise linear function, taken
/// exactly. Of each job and each number of its choices the least from the start of each cell on is
/// in a table. p: subgradient steps for all jobs on a free machine (Polyak, with the value of a
/// schedule known), on few cells first, then on twice as many.
class TimePrices {
 public:
  /// `value`: sum w C of some schedule, `makespan` its length: they choose cells and steps only.
  /// About `work` steps, `doublings` times twice as many cells.  All that is a reference must
  /// outlive it.
  TimePrices(const Instance& instance, const std::vector<std::vector<Choice>>& choices,
             const StartWindows& windows, double value, double makespan, std::int64_t work,
             int doublings = 3)
      : it_(instance),
        choices_(choices),
        windows_(windows),
        horizon_(makespan),
        cell_(makespan / kFewestCells),
        cells_(kFewestCells),
        price_(cells_, 0.0),
        from_(cells_ + 1, 0.0) {
    std::size_t columns = 0;
    std::vector<std::vector<int>> within;
    for (const auto& own : choices_) {
      columns += own.size();
      within.emplace_back(it_.machines() + 1, 0);
      for (const Choice& choice : own) ++within.back()[choice.procs];
      for (int q = 1; q <= it_.machines(); ++q) within.back()[q] += within.back()[q - 1];
    }
    within_ = std::make_shared<const std::vector<std::vector<int>>>(std::move(within));
    for (int doubling = 0;; ++doubling) {
      climb(value, work / (doublings + 1), kFirstStep);
      if (doubling == doublings || 2 * cells_ * columns > kMostEntries) break;
      split();
    }
  }

  /// The same cells for narrower windows, from the prices of `wider` on: as many sets as `rounds`,
  /// in about `work` steps.
  TimePrices(const TimePrices& wider, const StartWindows& windows, double value, int rounds,
             std::int64_t work)
      : it_(wider.it_),
        choices_(wider.choices_),
        windows_(windows),
        horizon_(wider.horizon_),
        cell_(wider.cell_),
        cells_(wider.cells_),
        price_(wider.price_),
        from_(wider.from_),
        within_(wider.within_) {
    climb(value, std::min(work, (rounds - 1) * round()), kNextStep);
  }

  /// No schedule of all jobs costs less.
  double bound() const { return bound_; }

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
        const int some = (*within_)[job][free];
        if (some == 0) continue;
        const double start = std::max(windows_.first[job], step->time), at = start / cell_;
        if (start > windows_.last[job]) break;
        if (at < cells_) {
          const double* const found = &least_[job][(some - 1) * row + static_cast<int>(at)];
          below = std::min(below, found[0]);
          above = std::min(above, found[1]);
        } else {
          const Choice& fastest = choices_[job][some - 1];
          const double late = it_.weight(job) * (start + fastest.time);
          below = std::min(below, late);
          above = std::min(above, late);
        }
      }
      if (below == kInfinity) return kInfinity;
      low += below;
      high += above;
    }
    work_ += count * size_of(rest);
    const auto rounded = [&](double sum) {
      return sum < kInfinity ? sum - right - kPriceSums * (sum + right) : sum;
    };
    if (rounded(low) >= enough || rounded(high) < enough) return rounded(low);
    double exact = 0;
    for (int job = 0; job < it_.jobs(); ++job)
      if (rest >> job & 1) exact += exactly(job, steps);
    return rounded(exact);
  }

  /// Steps of work since it was asked last.
  std::int64_t take_work() { return std::exchange(work_, 0); }

  /// Starts of a job at the prices that were tried: their mean, and how far from it they are.
  struct Spread {
    double mean, deviation;
  };

  Spread spread(int job) const {
    if (tried_ == 0) return {windows_.first[job], 0};
    const double mean = sums_[job].starts / tried_;
    return {mean, std::sqrt(std::max(0.0, sums_[job].squares / tried_ - mean * mean))};
  }

 private:
  static constexpr int kFewestCells = 32;
  static constexpr std::size_t kMostEntries = 4'000'000;  // 32 MB
  static constexpr double kPriceSums = 1e-12;             // relative, of some hundred terms
  static constexpr double kFirstStep = 1, kNextStep = 0.5, kLeastStep = 1e-3, kMomentum = 0.7;
  static constexpr double kTarget =
      1.002;                            // of the value, which itself would be met in the limit only
  static constexpr int kPatience = 12;  // sets of prices without gain, before steps get shorter

  struct Column {
    double cost, start;
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

  // At the steps where there are enough processors for a choice, or later.
  double exactly(int job, const Step* step) {
    const double weight = it_.weight(job), first = windows_.first[job], last = windows_.last[job];
    int free = step->count, number = 0;
    double least = kInfinity;
    for (const Choice& choice : choices_[job]) {
      while (free < choice.procs) free += (++step)->count;
      const double start = std::max(first, step->time), at = start / cell_;
      if (start > last) break;
      least = std::min(least, cost(weight, choice, start));
      if (at < cells_) {
        const int next = static_cast<int>(at) + 1;
        least = std::min(least, least_[job][number * (cells_ + 1) + next]);
        for (const double middle : {bend(choice, start), last})
          if (middle < next * cell_ && middle <= last)
            least = std::min(least, cost(weight, choice, middle));
      }
      ++number;
    }
    work_ += 4 * number;
    return least;
  }

  // Work of one set of prices.
  std::int64_t round() const {
    std::int64_t columns = 0;
    for (const auto& own : choices_) columns += static_cast<std::int64_t>(own.size());
    return 4 * columns * cells_;
  }

  void climb(double value, std::int64_t work, double step) {
    std::vector<double> use, direction(cells_, 0), best = price_;
    int idle = 0;
    for (std::int64_t done = 0; done <= work && step > kLeastStep; done += round()) {
      check_interrupt();
      work_ += round();
      const double found = relaxed(use);
      idle = found > bound_ + 1e-5 * (value - bound_) ? 0 : idle + 1;
      if (found > bound_) {
        bound_ = found;
        best = price_;
      }
      if (idle > kPatience) {
        idle = 0;
        step /= 2;
        price_ = best;
        std::fill(direction.begin(), direction.end(), 0.0);
      } else if (!(value > found) || !follow(step * (kTarget * value - found), use, direction)) {
        break;
      }
      sum_up();
    }
    price_ = std::move(best);
    sum_up();
  }

  // The bound at these prices, and what the jobs use of each cell, in processor seconds.
  double relaxed(std::vector<double>& use) {
    use.assign(cells_, 0);
    sums_.resize(it_.jobs());
    ++tried_;
    double sum = 0;
    for (int job = 0; job < it_.jobs(); ++job) {
      const Column best = cheapest(job);
      sum += best.cost;
      sums_[job].starts += best.start;
      sums_[job].squares += best.start * best.start;
      const double end = best.start + best.choice->time;
      for (int k = static_cast<int>(std::min<double>(best.start / cell_, cells_));
           k < cells_ && k * cell_ < end; ++k)
        use[k] +=
            best.choice->procs * (std::min(end, (k + 1) * cell_) - std::max(best.start, k * cell_));
    }
    const double right = it_.machines() * from_[0];
    return sum - right - kPriceSums * (sum + right);
  }

  Column cheapest(int job) const {
    const double first = windows_.first[job], last = windows_.last[job];
    Column best{kInfinity, first, choices_[job].data()};
    const double weight = it_.weight(job);
    const int from = static_cast<int>(std::min<double>(first / cell_, cells_)),
              to = static_cast<int>(std::min<double>(last / cell_, cells_));
    for (const Choice& choice : choices_[job]) {
      const auto offer = [&](double start) {
        if (start < first || start > last) return;
        const double own = cost(weight, choice, start);
        if (own < best.cost) best = {own, start, &choice};
      };
      offer(first);
      if (last < kInfinity) offer(last);
      const double within = bend(choice, 0);
      for (int k = from; k <= to; ++k) {
        offer(k * cell_);
        offer(k * cell_ + within);
      }
    }
    return best;
  }

  // False at an optimum: no cell asks for another price.
  bool follow(double pace, const std::vector<double>& use, std::vector<double>& direction) {
    const double room = it_.machines() * cell_;
    double norm = 0;
    for (int k = 0; k < cells_; ++k) {
      double slope = use[k] - room;
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
    from_.assign(cells_ + 1, 0);
    for (int k = cells_ - 1; k >= 0; --k) from_[k] = from_[k + 1] + price_[k] * cell_;
  }

  // Two cells of each: the prices stay what they are.
  void split() {
    std::vector<double> finer;
    for (const double price : price_) finer.insert(finer.end(), 2, price);
    price_ = std::move(finer);
    cells_ *= 2;
    cell_ = horizon_ / cells_;
    sum_up();
  }

  // Within a cell of starts what a job costs bends once at most; the last of its window may lie
  // there.
  void tabulate() {
    const int row = cells_ + 1;
    least_.clear();
    for (int job = 0; job < it_.jobs(); ++job) {
      const double weight = it_.weight(job), last = windows_.last[job];
      std::vector<double> table(choices_[job].size() * static_cast<std::size_t>(row));
      double* own = table.data();
      for (const Choice& choice : choices_[job]) {
        const double within = bend(choice, 0);
        own[cells_] = last < horizon_ ? kInfinity : weight * (horizon_ + choice.time);
        for (int k = cells_ - 1; k >= 0; --k) {
          own[k] = own[k + 1];
          for (const double start : {k * cell_, k * cell_ + within, last})
            if (start <= last && start < (k + 1) * cell_ && start >= k * cell_)
              own[k] = std::min(own[k], cost(weight, choice, start));
        }
        if (own != table.data())
          for (int k = 0; k < row; ++k) own[k] = std::min(own[k], own[k - row]);
        own += row;
      }
      work_ += static_cast<std::int64_t>(table.size());
      least_.push_back(std::move(table));
    }
  }

  const Instance& it_;
  const std::vector<std::vector<Choice>>& choices_;
  const StartWindows& windows_;
  double horizon_, cell_;
  int cells_;
  double bound_ = 0;
  std::int64_t work_ = 0;
  std::vector<double> price_;  // of each cell, a processor second
  std::vector<double> from_;   // P at the start of each cell
  // Of each job, by processors: how many of its choices fit.
  std::shared_ptr<const std::vector<std::vector<int>>> within_;
  std::vector<std::vector<double>> least_;  // of each job, by choices and cells; when first asked
  struct Sums {
    double starts = 0, squares = 0;
  };
  std::vector<Sums> sums_;  // of the cheapest start of each job at each set of prices
  int tried_ = 0;           // sets of prices
};

}  // namespace cosched::moldable::search
