#include "cosched/moldable/slots/slots_bound.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/moldable/dual/dual_approx.hpp"
#include "cosched/moldable/search/local_search.hpp"
#include "cosched/moldable/slots/slot_pricing.hpp"

namespace cosched::moldable::slots {
namespace {

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
