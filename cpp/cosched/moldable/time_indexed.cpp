#include "cosched/moldable/time_indexed.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/moldable/local_search.hpp"

namespace cosched::moldable {
namespace {

constexpr double kFirstStep = 1;
constexpr double kLeastStep = 1e-4;
constexpr double kGrowth = 1.3;  // slots get longer with time: early ones decide what waits
constexpr double kMomentum = 0.7;
constexpr int kMostJobs = 2'000;             // beyond, one set of prices takes too long
constexpr std::int64_t kLeastSets = 20;      // of prices: fewer are not worth the time
constexpr std::int64_t kUpperWork = 20'000;  // of local search, a job, for the steps' length
constexpr int kPatience = 12;  // sets of prices without gain, before steps get shorter

// Prices per processor and second, of slots and of work up to the grid's moments.
struct RowPrices {
  std::vector<double> slot, work;  // J; J + 1 (work[0] is of no row)
};

class Relaxation {
 public:
  Relaxation(const Instance& instance, std::vector<double> grid)
      : it_(instance), grid_(std::move(grid)), slots_(static_cast<int>(grid_.size()) - 1) {
    for (int i = 0; i < it_.jobs(); ++i) {
      counts_.push_back(useful(i));
      for (const int q : counts_.back()) columns_ += q > 0 ? slots_ : 0;
    }
  }

  int slots() const { return slots_; }
  std::int64_t columns() const { return columns_; }
  double slot_right(int s) const { return it_.machines() * (grid_[s + 1] - grid_[s]); }
  double work_right(int s) const { return it_.machines() * grid_[s]; }

  // The bound at these prices (rounded down), and what the chosen columns use of each row.
  double value(const RowPrices& prices, RowPrices& use) {
    prepare(prices);
    use.slot.assign(slots_, 0);
    use.work.assign(slots_ + 1, 0);
    double sum = 0, magnitude = 0;
    for (int i = 0; i < it_.jobs(); ++i) {
      const Choice best = cheapest(i);
      poll_.count(5 * static_cast<std::int64_t>(counts_[i].size()) * slots_);
      sum += best.cost;
      magnitude += std::abs(best.cost);
      if (best.count > 0) add_use(best, use);
    }
    double right = 0;
    for (int s = 0; s < slots_; ++s) right += prices.slot[s] * slot_right(s);
    for (int s = 1; s <= slots_; ++s) right += prices.work[s] * work_right(s);
    const double terms = 8.0 * (it_.jobs() + 4.0 * slots_ + 16);
    return sum - right - terms * std::numeric_limits<double>::epsilon() * (magnitude + right);
  }

 private:
  struct Choice {
    double cost;
    int slot = 0, count = 0, last = 0;  // it is in slot rows slot..last-1
    double time = 0;
  };

  // Counts with a shorter time than all smaller ones.
  std::vector<int> useful(int job) const {
    std::vector<int> counts;
    for (int q = it_.fewest(job); q > 0; q = it_.faster(job, q)) counts.push_back(q);
    return counts;
  }

  // Prefix sums: of slot prices x width; of work prices, and of those x moment, from the end.
  void prepare(const RowPrices& prices) {
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

  Choice cheapest(int i) {
    const double w = it_.weight(i), r = it_.release(i);
    Choice best{w * (std::max(grid_[slots_], r) + it_.least_time(i))};
    const int first =
        static_cast<int>(std::upper_bound(grid_.begin(), grid_.end(), r) - grid_.begin()) - 1;
    for (const int q : counts_[i]) {
      const double t = it_.time(i, q);
      // Ends move with starts: `last` for the slot rows, `far` for work that is done in full.
      int last = first, far = first + 1;
      for (int a = first; a < slots_; ++a) {
        const double begin = std::max(grid_[a], r), base = w * (begin + t);
        if (base >= best.cost) break;
        while (last < slots_ && grid_[last + 1] <= begin + t) ++last;
        const double from = grid_[a + 1];
        far = std::max(far, a + 1);
        while (far <= slots_ && grid_[far] - from < t) ++far;
        const double partial =
            moments_[a + 1] - moments_[far] - from * (later_[a + 1] - later_[far]);
        const double held = last > a ? slot_sum_[last] - slot_sum_[a] : 0;
        const double cost = base + q * (held + partial + t * later_[far]);
        if (cost < best.cost) best = {cost, a, q, std::max(last, a), t};
      }
    }
    return best;
  }

  void add_use(const Choice& choice, RowPrices& use) const {
    for (int s = choice.slot; s < choice.last; ++s)
      use.slot[s] += choice.count * (grid_[s + 1] - grid_[s]);
    const double from = grid_[choice.slot + 1];
    for (int s = choice.slot + 2; s <= slots_; ++s)
      use.work[s] += choice.count * std::min(choice.time, grid_[s] - from);
  }

  const Instance& it_;
  std::vector<double> grid_;
  int slots_;
  std::int64_t columns_ = 0;
  std::vector<std::vector<int>> counts_;
  std::vector<double> slot_sum_, later_, moments_;
  Poll poll_;
};

// Subgradient steps on rows scaled to a right side of 1.
class Ascent {
 public:
  Ascent(Relaxation& relaxation, double upper) : rows_(relaxation), upper_(upper) {
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

  Relaxation& rows_;
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
  Relaxation relaxation(instance, grid_of(horizon, options.slots));
  Ascent ascent(relaxation, upper);
  result.complete = finishes_within(std::nullopt, [&] { ascent.run(options.work); });
  result.value = ascent.best();
  return result;
}

TimeIndexedBound time_indexed_bound(const Instance& instance) {
  TimeIndexedBound result;
  if (instance.jobs() > kMostJobs) return result;
  TimeIndexedOptions options;
  options.slots = slots_for(instance.jobs());
  options.work = 50'000'000 + 500'000LL * instance.jobs();
  const std::int64_t columns =
      static_cast<std::int64_t>(instance.jobs()) * instance.useful_machines() * options.slots;
  if (columns > options.work / kLeastSets) return result;
  SearchOptions search;
  search.objective = Objective::minsum;
  search.work = kUpperWork;
  const SearchResult found = local_search(instance, search);
  const Criteria upper = criteria(instance, found.placement);
  if (upper.minsum > 0)
    result = time_indexed_bound(instance, upper.minsum, upper.makespan, options);
  result.complete = result.complete && found.complete;
  return result;
}

double price_bound(const Instance& instance, const std::vector<double>& grid,
                   const std::vector<double>& slot_price, const std::vector<double>& work_price) {
  RowPrices use;
  return Relaxation(instance, grid).value({slot_price, work_price}, use);
}

}  // namespace cosched::moldable
