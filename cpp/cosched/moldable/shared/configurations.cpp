#include "cosched/moldable/shared/configurations.hpp"

#include "cosched/moldable/list/list_schedule.hpp"
#include "cosched/moldable/shared/orders.hpp"
#include "cosched/moldable/shared/pricing.hpp"
#include "cosched/opt/cover_lp.hpp"

namespace cosched::moldable::shared {
namespace {

constexpr double kSmoothing = 0.7;             // weight of the best prices so far
constexpr std::int64_t kFirstSteps = 100'000;  // of a pricing; more where it finds nothing
constexpr std::int64_t kMostPivots = 1'000'000;
constexpr int kUsualBits = 30;         // times from 2^-30 to 2^30 are taken as they are
constexpr double kLeastTime = 1e-100;  // of the unit: less rounding than anything else
constexpr double kQuickHot = 0.01, kQuickCold = 0.001;
constexpr std::int64_t kQuickOperations = 4'000'000, kQuickForEach = 50'000;
constexpr int kMostIdleRounds = 1000;
constexpr std::int64_t kBoundWork = 100'000'000;

std::vector<int> all_jobs(const Instance& instance) {
  std::vector<int> jobs(instance.jobs());
  std::iota(jobs.begin(), jobs.end(), 0);
  return jobs;
}

// For the master's tolerances, which are absolute: 1, or the power of two below the longest time.
double time_unit(const Instance& instance) {
  const double longest = bounds::longest_bound(instance.select(all_jobs(instance)));  // no releases
  const int bits = longest > 0 ? std::ilogb(longest) : 0;
  return std::abs(bits) <= kUsualBits ? 1 : std::scalbn(1.0, bits);
}

// For columns to begin with: without them prices take long to mean anything.
Placement anneal_briefly(const Instance& instance) {
  const Instance now = instance.select(all_jobs(instance));
  const list::Decoder decoder(now);
  Rng rng(1);
  OrderSearch search(now, decoder, rng);
  search.anneal(list::gang(now), kQuickHot, kQuickCold,
                std::min(kQuickOperations, kQuickForEach * instance.jobs()));
  return search.best();
}

class ConfigurationMaster {
 public:
  explicit ConfigurationMaster(const Instance& instance)
      : instance_(instance),
        unit_(time_unit(instance)),
        rows_(instance, unit_, kLeastTime),
        pricing_(instance, rows_, bounds::maximize_area(rows_, all_jobs(instance)).prices),
        master_(std::vector<double>(instance.jobs(), 1.0), artificial_cost()) {
    for (int i = 0; i < instance.jobs(); ++i) {
      const int last = static_cast<int>(rows_.choices(i).size()) - 1;
      add_column({{i, last}});
    }
    add_columns_of(anneal_briefly(instance));
  }

  double bound() const { return bound_ * unit_; }
  std::vector<double> prices() const {
    std::vector<double> prices = best_prices_;
    for (double& price : prices) price *= unit_;
    return prices;
  }

  // False where `work` is not enough.
  bool solve(std::int64_t work) {
    std::int64_t steps = 0, share = kFirstSteps;
    double least = kInfinity;
    std::vector<double> before;
    int idle = 0;  // rounds in which rounding errors are all that moves
    for (bool smooth = true;;) {
      check_interrupt();
      master_.solve(1e-9, kMostPivots);
      std::vector<double> prices = master_.dual();
      const double objective = master_.objective();
      idle = objective < least ? 0 : idle + 1;
      least = std::min(least, objective);
      if (idle > kMostIdleRounds) return false;
      if (bound_ >= objective * (1 - kPricingGap)) return true;
      if (smooth && !before.empty())
        for (std::size_t i = 0; i < prices.size(); ++i)
          prices[i] = kSmoothing * before[i] + (1 - kSmoothing) * prices[i];
      before = prices;
      const double total = std::accumulate(prices.begin(), prices.end(), 0.0);
      // Prices whose best configuration is worth `total` / `bound` or less prove nothing new.
      const auto answer = pricing_.find_best(
          prices, std::max(1e-300, total / std::max(objective, 1e-300)) * 0.5, share, steps);
      raise_bound(bounds::round_down(total / answer.value_bound, instance_.jobs() + 8), prices,
                  answer.value_bound);
      int added = 0;
      for (const auto& found : answer.configurations)
        added += has_negative_reduced_cost(found.members) ? add_column(found.members) : 0;
      if (steps >= work) return false;
      if (added > 0) {
        share = std::max(share / 4, kFirstSteps);
      } else if (!smooth) {
        if (share > work) return false;
        share *= 4;
      }
      smooth = added > 0 || !smooth;  // none with smooth ones: then with the master's own prices
    }
  }

 private:
  void raise_bound(double proved, const std::vector<double>& prices, double most) {
    if (proved <= bound_) return;
    bound_ = proved;
    best_prices_ = prices;
    for (double& price : best_prices_) price /= most;
  }

  // One job after the other, several times over.
  double artificial_cost() const {
    double sum = 0;
    for (int i = 0; i < instance_.jobs(); ++i) sum += rows_.choices(i).back().time;
    return 10 * sum;
  }

  std::pair<std::vector<int>, std::vector<double>> make_column(
      const std::vector<ConfigurationPricing::ConfigurationMember>& set) const {
    std::vector<std::pair<int, double>> entries;
    const std::vector<double> f = pricing_.slowdown_factors(set);
    for (std::size_t k = 0; k < set.size(); ++k)
      entries.emplace_back(set[k].job, 1 / (rows_.choices(set[k].job)[set[k].choice].time * f[k]));
    std::sort(entries.begin(), entries.end());
    std::vector<int> jobs;
    std::vector<double> rates;
    for (const auto& [job, rate] : entries) {
      jobs.push_back(job);
      rates.push_back(rate);
    }
    return {jobs, rates};
  }

  bool has_negative_reduced_cost(
      const std::vector<ConfigurationPricing::ConfigurationMember>& set) const {
    const auto [jobs, rates] = make_column(set);
    double worth = 0;
    for (std::size_t k = 0; k < jobs.size(); ++k) worth += master_.dual()[jobs[k]] * rates[k];
    return worth > 1 + 1e-9;
  }

  // What runs at each moment.
  void add_columns_of(const Placement& placement) {
    std::vector<double> starts = placement.start;
    starts.insert(starts.end(), placement.end.begin(), placement.end.end());
    std::sort(starts.begin(), starts.end());
    for (std::size_t k = 0; k + 1 < starts.size(); ++k) {
      const double middle = (starts[k] + starts[k + 1]) / 2;
      if (!(starts[k] < middle && middle < starts[k + 1])) continue;
      std::vector<ConfigurationPricing::ConfigurationMember> set;
      for (int i = 0; i < placement.jobs(); ++i)
        if (placement.start[i] < middle && middle < placement.end[i]) {
          const auto& counts = rows_.choices(i);
          const auto at = std::find_if(counts.begin(), counts.end(), [&](const Choice& c) {
            return c.procs == placement.procs[i];
          });
          set.push_back({i, static_cast<int>(at - counts.begin())});
        }
      add_column(set);
    }
  }

  int add_column(const std::vector<ConfigurationPricing::ConfigurationMember>& set) {
    const auto [jobs, rates] = make_column(set);
    master_.add_column(1, jobs, rates);
    return 1;
  }

  const Instance& instance_;
  double unit_;
  bounds::ResourceRows rows_;
  ConfigurationPricing pricing_;
  opt::CoverLp master_;
  double bound_ = 0;
  std::vector<double> best_prices_;
};

}  // namespace

bounds::BoundResult configuration_bound(const Instance& instance) {
  if (instance.sharing() == nullptr) {
    const Instance shared = instance.with_sharing(std::make_shared<const Sharing>(
        instance.jobs(), std::vector<Resource>{}, std::nullopt, std::nullopt));
    return configuration_bound(shared);
  }
  bounds::BoundResult found;
  std::optional<ConfigurationMaster> programme;
  const bool in_time = finishes_within(std::nullopt, [&] {
    found.value = std::max(bounds::longest_bound(instance), bounds::area_bound(instance));
    programme.emplace(instance);
    found.complete = programme->solve(kBoundWork);
  });
  if (programme) found.value = std::max(found.value, programme->bound());
  found.complete = found.complete && in_time;
  return found;
}

std::vector<double> configuration_prices(const Instance& instance, std::int64_t work) {
  ConfigurationMaster programme(instance);
  programme.solve(work);
  return programme.prices();
}

}  // namespace cosched::moldable::shared
