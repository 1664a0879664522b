#include "cosched/moldable/slots/time_indexed.hpp"

#include <algorithm>
#include <cmath>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/moldable/search/local_search.hpp"
#include "cosched/moldable/search/search_state.hpp"
#include "cosched/moldable/slots/slots_bound.hpp"

namespace cosched::moldable::slots {
namespace {

constexpr double kFirstStep = 1;
constexpr double kLeastStep = 1e-4;
constexpr double kGrowth = 1.3;  // slots get longer with time: early ones decide what waits
constexpr double kMomentum = 0.7;
constexpr int kMostJobs = 2'000;              // beyond, one set of prices takes too long
constexpr std::int64_t kLeastSets = 20;       // of prices: fewer are not worth the time
constexpr std::int64_t kMinsumWork = 20'000;  // of local search, a job, for the steps' length
constexpr int kPatience = 12;  // sets of prices without gain, before steps get shorter

// Subgradient steps on rows scaled to a right side of 1.
class Ascent {
 public:
  Ascent(SlotPricing& rows, double upper) : rows_(rows), upper_(upper) {
    for (RowPrices* all : {&prices_, &best_prices_, &direction_}) {
      all->slot.assign(rows_.slots(), 0);
      all->work.assign(rows_.slots() + 1, 0);
    }
  }

  double best() const { return std::max(best_, 0.0); }

  void run(std::int64_t work) {
    double step = kFirstStep;
    int idle = 0;
    for (std::int64_t done = 0; done <= work && step > kLeastStep; done += rows_.columns()) {
      check_interrupt();
      const double value = rows_.value(prices_, use_);
      if (value > best_) {
        idle = value > best_ + 1e-5 * std::abs(upper_ - best_) ? 0 : idle + 1;
        best_ = value;
        best_prices_ = prices_;
      } else {
        ++idle;
      }
      if (idle > kPatience) {
        idle = 0;
        step /= 2;
        prices_ = best_prices_;
        clear(direction_);
        continue;
      }
      if (!(upper_ > value) || !move(step * (upper_ - value))) return;
    }
  }

 private:
  static void clear(RowPrices& all) {
    std::fill(all.slot.begin(), all.slot.end(), 0.0);
    std::fill(all.work.begin(), all.work.end(), 0.0);
  }

  // False at an optimum: no row asks for another price.
  bool move(double gain) {
    double norm = 0;
    const auto deflect = [&](double& d, double use, double right, double price) {
      double g = use / right - 1;
      if (price <= 0 && g < 0) g = 0;
      d = g + kMomentum * d;
      if (price <= 0 && d < 0) d = 0;
      norm += d * d;
    };
    each(deflect);
    if (!(norm > 0)) return false;
    const double length = gain / norm;
    for (int s = 0; s < rows_.slots(); ++s)
      prices_.slot[s] =
          std::max(0.0, prices_.slot[s] + length * direction_.slot[s] / rows_.slot_right(s));
    for (int s = 1; s <= rows_.slots(); ++s)
      prices_.work[s] =
          std::max(0.0, prices_.work[s] + length * direction_.work[s] / rows_.work_right(s));
    return true;
  }

  template <class Function>
  void each(const Function& function) {
    for (int s = 0; s < rows_.slots(); ++s)
      function(direction_.slot[s], use_.slot[s], rows_.slot_right(s), prices_.slot[s]);
    for (int s = 1; s <= rows_.slots(); ++s)
      function(direction_.work[s], use_.work[s], rows_.work_right(s), prices_.work[s]);
  }

  SlotPricing& rows_;
  double upper_, best_ = -kInfinity;
  RowPrices prices_, best_prices_, direction_, use_;
};

std::vector<double> grid_of(double horizon, int slots) {
  std::vector<double> grid;
  for (int s = 0; s <= slots; ++s)
    grid.push_back(horizon * std::pow(static_cast<double>(s) / slots, kGrowth));
  return grid;
}

int slots_for(int jobs) {
  if (jobs <= 20) return 256;
  if (jobs <= 60) return 192;
  return jobs <= 300 ? 96 : 64;
}

}  // namespace

TimeIndexedBound time_indexed_bound(const Instance& instance, double upper, double horizon,
                                    const TimeIndexedOptions& options) {
  TimeIndexedBound result;
  SlotPricing rows(instance, grid_of(horizon, options.slots), SlotPricing::Jobs::pay_for_their_end);
  Ascent ascent(rows, upper);
  result.complete = finishes_within(std::nullopt, [&] { ascent.run(options.work); });
  result.value = ascent.best();
  return result;
}

TimeIndexedBound time_indexed_bound(const Instance& instance) {
  if (!instance.is_alone()) return time_indexed_bound(instance.alone());
  TimeIndexedBound result;
  if (instance.jobs() > kMostJobs) return result;
  TimeIndexedOptions options;
  options.slots = slots_for(instance.jobs());
  options.work = 50'000'000 + 500'000LL * instance.jobs();
  const std::int64_t columns =
      static_cast<std::int64_t>(instance.jobs()) * instance.useful_machines() * options.slots;
  if (columns > options.work / kLeastSets) return result;
  search::SearchOptions search;
  search.objective = search::Objective::minsum;
  search.work = kMinsumWork;
  const search::SearchResult found = search::local_search(instance, search);
  const Criteria upper = criteria(instance, found.placement);
  if (upper.minsum > 0)
    result = time_indexed_bound(instance, upper.minsum, upper.makespan, options);
  result.complete = result.complete && found.complete;
  return result;
}

}  // namespace cosched::moldable::slots
