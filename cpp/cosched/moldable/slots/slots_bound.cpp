#include "cosched/moldable/slots/slots_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/moldable/dual/dual_approx.hpp"
#include "cosched/moldable/search/local_search.hpp"

namespace cosched::moldable::slots {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kShorter = 1 - 4 * kEpsilon;  // so that rounding fills no slot

// Counts with a shorter time than all smaller ones: all others are slower or use more.
std::vector<int> useful(const Instance& instance, int job) {
  std::vector<int> counts;
  for (int q = instance.fewest(job); q > 0; q = instance.faster(job, q)) counts.push_back(q);
  return counts;
}

constexpr double kPrecision = 1e-3, kFirstRise = 4e-3;
constexpr double kRate = 1.5;                   // of the weights
constexpr std::int64_t kMostColumns = 200'000;  // a set of prices
constexpr std::int64_t kMakespanWork = 20'000;  // of local search, a job

// Multiplicative weights on the rows, each scaled to a right side of 1: rows that the jobs' choices
// overload become dearer.
class Refutation {
 public:
  Refutation(const Instance& instance, double deadline, int slots)
      : rows_(instance, grid(deadline, slots), SlotPricing::Jobs::keep_the_deadline),
        load_(2 * static_cast<std::size_t>(slots), 0.0) {}

  /// Columns looked at so far.
  std::int64_t work() const { return work_; }

  /// Whether some prices refute the deadline.
  bool found(int rounds) {
    RowPrices prices{std::vector<double>(rows_.slots()), std::vector<double>(rows_.slots() + 1)};
    RowPrices use;
    for (int round = 1; round <= rounds; ++round) {
      check_interrupt();
      work_ += rows_.columns();
      set(prices, kRate * std::sqrt(std::log(static_cast<double>(load_.size())) / round));
      if (rows_.value(prices, use) > 0) return true;
      for (int s = 0; s < rows_.slots(); ++s) {
        const auto row = 2 * static_cast<std::size_t>(s);
        load_[row] += use.slot[s] / rows_.slot_right(s);
        load_[row + 1] += use.work[s + 1] / rows_.work_right(s + 1);
      }
    }
    return false;
  }

 private:
  static std::vector<double> grid(double deadline, int slots) {
    std::vector<double> grid;
    for (int s = 0; s <= slots; ++s) grid.push_back(deadline * s / slots);
    return grid;
  }

  void set(RowPrices& prices, double rate) const {
    const double most = *std::max_element(load_.begin(), load_.end());
    double sum = 0;
    for (const double load : load_) sum += std::exp(rate * (load - most));
    for (int s = 0; s < rows_.slots(); ++s) {
      const auto weight = [&](double load) { return std::exp(rate * (load - most)) / sum; };
      const auto row = 2 * static_cast<std::size_t>(s);
      prices.slot[s] = weight(load_[row]) / rows_.slot_right(s);
      prices.work[s + 1] = weight(load_[row + 1]) / rows_.work_right(s + 1);
    }
  }

  SlotPricing rows_;
  std::int64_t work_ = 0;
  std::vector<double> load_;  // of slot(0), work(1), slot(1), ...
};

}  // namespace

SlotPricing::SlotPricing(const Instance& instance, std::vector<double> grid, Jobs jobs)
    : it_(&instance),
      grid_(std::move(grid)),
      deadline_(jobs == Jobs::keep_the_deadline),
      slots_(static_cast<int>(grid_.size()) - 1) {
  for (int i = 0; i < instance.jobs(); ++i) {
    counts_.push_back(useful(instance, i));
    columns_ += static_cast<std::int64_t>(counts_.back().size()) * slots_;
  }
}

double SlotPricing::value(const RowPrices& prices, RowPrices& use) {
  prepare(prices);
  use.slot.assign(slots_, 0);
  use.work.assign(slots_ + 1, 0);
  double sum = 0, magnitude = 0;
  for (int i = 0; i < it_->jobs(); ++i) {
    const Choice best = cheapest(i);
    poll_.count(5 * static_cast<std::int64_t>(counts_[i].size()) * slots_);
    if (best.cost == kInfinity) return kInfinity;
    sum += best.cost;
    magnitude += std::abs(best.cost);
    if (best.count > 0) add_use(best, use);
  }
  double right = 0;
  for (int s = 0; s < slots_; ++s) right += prices.slot[s] * slot_right(s);
  for (int s = 1; s <= slots_; ++s) right += prices.work[s] * work_right(s);
  // Each job's cost is off by some 2 J roundings of what the machine is worth.
  const double terms = 4.0 * (it_->jobs() + 1.0) * (2.0 * slots_ + 16);
  return sum - right - terms * kEpsilon * (magnitude + right);
}
// Prefix sums: of slot prices x width; of work prices, and of those x moment, from the end.
void SlotPricing::prepare(const RowPrices& prices) {
  slot_sum_.assign(slots_ + 1, 0);
  for (int s = 0; s < slots_; ++s)
    slot_sum_[s + 1] = slot_sum_[s] + prices.slot[s] * (grid_[s + 1] - grid_[s]);
  later_.assign(slots_ + 2, 0);
  moments_.assign(slots_ + 2, 0);
  for (int s = slots_; s >= 1; --s) {
    later_[s] = later_[s + 1] + prices.work[s];
    moments_[s] = moments_[s + 1] + prices.work[s] * grid_[s];
  }
}

SlotPricing::Choice SlotPricing::cheapest(int i) const {
  const double w = deadline_ ? 0 : it_->weight(i), r = it_->release(i);
  const double latest = grid_[slots_] * (1 + kExactTolerance);
  Choice best{deadline_ ? kInfinity : w * (std::max(grid_[slots_], r) + it_->least_time(i))};
  const int first =
      static_cast<int>(std::upper_bound(grid_.begin(), grid_.end(), r) - grid_.begin()) - 1;
  for (const int q : counts_[i]) {
    const double t = it_->time(i, q);
    // Ends move with starts: `last` for the slot rows, `far` for work that is done in full.
    int last = first, far = first + 1;
    for (int a = first; a < slots_; ++a) {
      const double begin = std::max(grid_[a], r), base = w * (begin + t);
      if (deadline_ ? begin + t > latest : base >= best.cost) break;
      while (last < slots_ && grid_[last + 1] <= (begin + t) * kShorter) ++last;
      const double from = grid_[a + 1];
      far = std::max(far, a + 1);
      while (far <= slots_ && grid_[far] - from < t) ++far;
      const double partial = moments_[a + 1] - moments_[far] - from * (later_[a + 1] - later_[far]);
      const double held = last > a ? slot_sum_[last] - slot_sum_[a] : 0;
      const double cost = base + q * (held + partial + t * later_[far]);
      if (cost < best.cost) best = {cost, a, q, std::max(last, a), t};
    }
  }
  return best;
}

void SlotPricing::add_use(const Choice& choice, RowPrices& use) const {
  for (int s = choice.slot; s < choice.last; ++s)
    use.slot[s] += choice.count * (grid_[s + 1] - grid_[s]);
  const double from = grid_[choice.slot + 1];
  for (int s = choice.slot + 2; s <= slots_; ++s)
    use.work[s] += choice.count * std::min(choice.time, grid_[s] - from);
}

SlotsBound slots_bound(const Instance& instance, double lower, double upper,
                       const SlotsOptions& options) {
  SlotsBound result{lower, true};
  std::int64_t work = 0;
  result.complete = finishes_within(std::nullopt, [&] {
    // From the bound upwards: where a deadline is refuted, that is soon.
    double step = kFirstRise;
    while (upper - result.value > kPrecision * result.value && work < options.work) {
      const double middle = result.value + (upper - result.value) / 2;
      const double deadline = std::min(result.value * (1 + step), middle);
      Refutation refutation(instance, deadline, options.slots);
      (refutation.found(options.rounds) ? result.value : upper) = deadline;
      step *= 2;
      work += refutation.work();
    }
  });
  return result;
}

SlotsBound slots_bound(const Instance& instance) {
  if (!instance.is_alone()) return slots_bound(instance.alone());
  const double lower = dual::dual_approximation_bound(instance, dual::kDefaultTolerance);
  const SlotsOptions options;
  if (std::int64_t{instance.jobs()} * instance.useful_machines() * options.slots > kMostColumns)
    return {lower, true};
  search::SearchOptions search;
  search.work = kMakespanWork;
  const search::SearchResult found = search::local_search(instance, search);
  SlotsBound result = slots_bound(instance, lower, makespan(found.placement), options);
  result.complete = result.complete && found.complete;
  return result;
}

}  // namespace cosched::moldable::slots
