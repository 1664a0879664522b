#include "cosched/moldable/search/time_prices.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::moldable::search {
namespace {

constexpr int kMostCellsPriced = 256;
constexpr std::size_t kMostEntries = 4'000'000;  // 32 MB
constexpr double kSums = 1e-12;                  // relative, of some hundred terms
constexpr double kFirstStep = 1, kLeastStep = 1e-3, kMomentum = 0.7;
constexpr int kPatience = 12;  // sets of prices without gain, before steps get shorter

std::size_t entries_a_cell(const std::vector<std::vector<Choice>>& choices) {
  std::size_t all = 0;
  for (const auto& own : choices) all += own.size();
  return all;
}

}  // namespace

TimePrices::TimePrices(const Instance& instance, const std::vector<std::vector<Choice>>& choices,
                       double value, double makespan, std::int64_t work)
    : it_(instance), choices_(choices) {
  const std::size_t columns = entries_a_cell(choices);
  cells_ = static_cast<int>(std::min<std::size_t>(kMostCellsPriced, kMostEntries / columns + 1));
  cell_ = makespan / cells_;
  price_.assign(cells_, 0);
  from_.assign(cells_ + 1, 0);
  std::size_t at = 0;
  for (const auto& own : choices_) {
    tables_.push_back(at);
    at += own.size() * static_cast<std::size_t>(cells_ + 1);
  }
  least_.resize(at);
  climb(value, work);
}

double TimePrices::price_from(double time) const {
  const double at = time / cell_;
  if (!(at < cells_)) return 0;
  const int k = static_cast<int>(at);
  return from_[k] - price_[k] * (time - k * cell_);
}

double TimePrices::cost(int job, const Choice& choice, double start) const {
  const double end = start + choice.seconds;
  return it_.weight(job) * end + choice.procs * (price_from(start) - price_from(end));
}

void TimePrices::sum_up() {
  for (int k = cells_ - 1; k >= 0; --k) from_[k] = from_[k + 1] + price_[k] * cell_;
}

// Within a cell of starts what a job costs bends once at most: where its end enters another cell.
void TimePrices::tabulate() {
  sum_up();
  for (int job = 0; job < it_.jobs(); ++job) {
    double* table = &least_[tables_[job]];
    for (const Choice& choice : choices_[job]) {
      table[cells_] = it_.weight(job) * (cells_ * cell_ + choice.seconds);
      // Ends at the start of a cell: `within` after the start of the cell that its start lies in.
      const double whole = std::floor(choice.seconds / cell_);
      const double within = (whole + 1) * cell_ - choice.seconds;
      for (int k = cells_ - 1; k >= 0; --k)
        table[k] = std::min(
            {table[k + 1], cost(job, choice, k * cell_), cost(job, choice, k * cell_ + within)});
      table += cells_ + 1;
    }
  }
}

double TimePrices::least(JobSet rest, const Step* steps, int count) {
  double sum = 0, right = 0;
  for (int k = 0; k < count; ++k) right += steps[k].count * price_from(steps[k].time);
  for (int job = 0; job < it_.jobs(); ++job)
    if (rest >> job & 1) sum += least_of(job, steps);
  return sum - right - kSums * (sum + right);
}

double TimePrices::least_of(int job, const Step* step) {
  const double* table = &least_[tables_[job]];
  const double release = it_.release(job);
  int free = step->count;
  double least = kInfinity;
  for (const Choice& choice : choices_[job]) {
    while (free < choice.procs) free += (++step)->count;
    least = std::min(least, least_from(job, choice, std::max(release, step->time), table));
    table += cells_ + 1;
  }
  work_ += 2 * static_cast<std::int64_t>(choices_[job].size());
  return least;
}

std::int64_t TimePrices::take_work() { return std::exchange(work_, 0); }

// At or after `start`; `table`: of the choice.
double TimePrices::least_from(int job, const Choice& choice, double start,
                              const double* table) const {
  const double at = start / cell_;
  if (!(at < cells_)) return it_.weight(job) * (start + choice.seconds);
  const int k = static_cast<int>(at);
  double least = std::min(table[k + 1], cost(job, choice, start));
  const double bend = (std::floor((start + choice.seconds) / cell_) + 1) * cell_ - choice.seconds;
  if (bend < (k + 1) * cell_) least = std::min(least, cost(job, choice, bend));
  return least;
}

TimePrices::Column TimePrices::cheapest(int job) const {
  Column best{kInfinity, 0, nullptr};
  const double release = it_.release(job);
  for (const Choice& choice : choices_[job]) {
    const auto offer = [&](double start) {
      if (start < release) return;
      const double own = cost(job, choice, start);
      if (own < best.cost) best = {own, start, &choice};
    };
    offer(release);
    const double within = (std::floor(choice.seconds / cell_) + 1) * cell_ - choice.seconds;
    for (int k = 0; k <= cells_; ++k) {
      offer(k * cell_);
      offer(k * cell_ + within);
    }
  }
  return best;
}

// The bound at these prices, and what the jobs use of each cell, in processor seconds.
double TimePrices::relaxed(std::vector<double>& use) const {
  use.assign(cells_, 0);
  double sum = 0;
  for (int job = 0; job < it_.jobs(); ++job) {
    const Column best = cheapest(job);
    sum += best.cost;
    const double end = best.start + best.choice->seconds;
    for (int k = static_cast<int>(std::min<double>(best.start / cell_, cells_));
         k < cells_ && k * cell_ < end; ++k)
      use[k] +=
          best.choice->procs * (std::min(end, (k + 1) * cell_) - std::max(best.start, k * cell_));
  }
  const double right = it_.machines() * from_[0];
  return sum - right - kSums * (sum + right);
}

void TimePrices::climb(double value, std::int64_t work) {
  std::vector<double> use, direction(cells_, 0), best = price_;
  const double room = it_.machines() * cell_;
  const std::int64_t round = 4 * static_cast<std::int64_t>(least_.size());
  double step = kFirstStep;
  int idle = 0;
  for (std::int64_t done = 0; done <= work && step > kLeastStep; done += round) {
    check_interrupt();
    work_ += round;
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
    } else {
      double norm = 0;
      for (int k = 0; k < cells_; ++k) {
        double slope = use[k] - room;
        if (price_[k] <= 0 && slope < 0) slope = 0;
        direction[k] = slope + kMomentum * direction[k];
        if (price_[k] <= 0 && direction[k] < 0) direction[k] = 0;
        norm += direction[k] * direction[k];
      }
      if (!(norm > 0) || !(value > found)) break;
      const double pace = step * (value - found) / norm;
      for (int k = 0; k < cells_; ++k) price_[k] = std::max(0.0, price_[k] + pace * direction[k]);
    }
    sum_up();
  }
  price_ = std::move(best);
  tabulate();
}

}  // namespace cosched::moldable::search
