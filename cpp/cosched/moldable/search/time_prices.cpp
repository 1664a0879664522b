#include "cosched/moldable/search/time_prices.hpp"

#include <algorithm>
#include <utility>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::moldable::search {
namespace {

constexpr int kFewestCells = 32;
constexpr int kDoublings = 3;
constexpr std::size_t kMostEntries = 4'000'000;  // 32 MB
constexpr double kPriceSums = 1e-12;             // relative, of some hundred terms
constexpr double kFirstStep = 1, kLeastStep = 1e-3, kMomentum = 0.7;
constexpr int kPatience = 12;  // sets of prices without gain, before steps get shorter

}  // namespace

TimePrices::TimePrices(const Instance& instance, const std::vector<std::vector<Choice>>& choices,
                       double value, double makespan, std::int64_t work)
    : it_(instance),
      choices_(choices),
      horizon_(makespan),
      cell_(makespan / kFewestCells),
      cells_(kFewestCells),
      price_(cells_, 0.0),
      from_(cells_ + 1, 0.0) {
  std::size_t columns = 0;
  for (const auto& own : choices_) {
    columns += own.size();
    within_.emplace_back(it_.machines() + 1, 0);
    for (const Choice& choice : own) ++within_.back()[choice.procs];
    for (int q = 1; q <= it_.machines(); ++q) within_.back()[q] += within_.back()[q - 1];
  }
  for (int doubling = 0;; ++doubling) {
    climb(value, work / (kDoublings + 1));
    if (doubling == kDoublings || 2 * cells_ * columns > kMostEntries) break;
    split();
  }
  tabulate();
}

std::int64_t TimePrices::take_work() { return std::exchange(work_, 0); }

void TimePrices::sum_up() {
  from_.assign(cells_ + 1, 0);
  for (int k = cells_ - 1; k >= 0; --k) from_[k] = from_[k + 1] + price_[k] * cell_;
}

// Two cells of each: the prices stay what they are.
void TimePrices::split() {
  std::vector<double> finer;
  for (const double price : price_) finer.insert(finer.end(), 2, price);
  price_ = std::move(finer);
  cells_ *= 2;
  cell_ = horizon_ / cells_;
  sum_up();
}

// Within a cell of starts what a job costs bends once at most.
void TimePrices::tabulate() {
  const int row = cells_ + 1;
  least_.clear();
  for (int job = 0; job < it_.jobs(); ++job) {
    const double weight = it_.weight(job);
    std::vector<double> table(choices_[job].size() * static_cast<std::size_t>(row));
    double* own = table.data();
    for (const Choice& choice : choices_[job]) {
      const double within = bend(choice, 0);
      own[cells_] = weight * (horizon_ + choice.seconds);
      for (int k = cells_ - 1; k >= 0; --k)
        own[k] = std::min({own[k + 1], cost(weight, choice, k * cell_),
                           cost(weight, choice, k * cell_ + within)});
      if (own != table.data())
        for (int k = 0; k < row; ++k) own[k] = std::min(own[k], own[k - row]);
      own += row;
    }
    work_ += static_cast<std::int64_t>(table.size());
    least_.push_back(std::move(table));
  }
}

double TimePrices::least(JobSet rest, const Step* steps, int count, double enough) {
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
        const Choice& fastest = choices_[job][some - 1];
        const double late = it_.weight(job) * (start + fastest.seconds);
        below = std::min(below, late);
        above = std::min(above, late);
      }
    }
    low += below;
    high += above;
  }
  work_ += count * size_of(rest);
  const auto rounded = [&](double sum) { return sum - right - kPriceSums * (sum + right); };
  if (rounded(low) >= enough || rounded(high) < enough) return rounded(low);
  double exact = 0;
  for (int job = 0; job < it_.jobs(); ++job)
    if (rest >> job & 1) exact += exactly(job, steps);
  return rounded(exact);
}

// At the steps where there are enough processors for a choice, or later.
double TimePrices::exactly(int job, const Step* step) {
  const double weight = it_.weight(job), release = it_.release(job);
  int free = step->count, number = 0;
  double least = kInfinity;
  for (const Choice& choice : choices_[job]) {
    while (free < choice.procs) free += (++step)->count;
    const double start = std::max(release, step->time), at = start / cell_;
    least = std::min(least, cost(weight, choice, start));
    if (at < cells_) {
      const int next = static_cast<int>(at) + 1;
      least = std::min(least, least_[job][number * (cells_ + 1) + next]);
      const double middle = bend(choice, start);
      if (middle < next * cell_) least = std::min(least, cost(weight, choice, middle));
    }
    ++number;
  }
  work_ += 4 * number;
  return least;
}

TimePrices::Column TimePrices::cheapest(int job) const {
  Column best{kInfinity, 0, nullptr};
  const double weight = it_.weight(job), release = it_.release(job);
  for (const Choice& choice : choices_[job]) {
    const auto offer = [&](double start) {
      if (start < release) return;
      const double own = cost(weight, choice, start);
      if (own < best.cost) best = {own, start, &choice};
    };
    offer(release);
    const double within = bend(choice, 0);
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
  return sum - right - kPriceSums * (sum + right);
}

// False at an optimum: no cell asks for another price.
bool TimePrices::follow(double pace, const std::vector<double>& use,
                        std::vector<double>& direction) {
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

void TimePrices::climb(double value, std::int64_t work) {
  std::vector<double> use, direction(cells_, 0), best = price_;
  std::int64_t round = 0;
  for (const auto& own : choices_) round += 4 * static_cast<std::int64_t>(own.size()) * cells_;
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
    } else if (!(value > found) || !follow(step * (value - found), use, direction)) {
      break;
    }
    sum_up();
  }
  price_ = std::move(best);
  sum_up();
}

}  // namespace cosched::moldable::search
