#include "cosched/moldable/shared/configurations.hpp"

#include "cosched/core/interrupt.hpp"
#include "cosched/moldable/list/standard.hpp"
#include "cosched/moldable/shared/corun_order_search.hpp"
#include "cosched/moldable/shared/pricing.hpp"
#include "cosched/opt/cover_lp.hpp"

namespace cosched::moldable::shared {
namespace {

// In one call of the master: far more than it needs, against a cycle.
constexpr std::int64_t kMaxPivots = 1'000'000;
constexpr int kUnscaledBits = 30;           // times from 2^-30 to 2^30 are not scaled
constexpr double kLeastTimeUnits = 1e-100;  // shorter times count as this: less than any rounding

std::vector<int> all_jobs(const Instance& instance) {
  std::vector<int> jobs(instance.jobs());
  std::iota(jobs.begin(), jobs.end(), 0);
  return jobs;
}

// For the master's tolerances, which are absolute: 1, or the power of two below the longest time.
double time_unit(const Instance& instance) {
  const double longest = bounds::longest_bound(instance.select(all_jobs(instance)));  // no releases
  const int bits = longest > 0 ? std::ilogb(longest) : 0;
  return std::abs(bits) <= kUnscaledBits ? 1 : std::scalbn(1.0, bits);
}

// For the first columns: without them many rounds pass before prices mean anything.
Placement anneal_briefly(const Instance& instance, const ConfigurationParams& params) {
  const Instance independent = instance.select(all_jobs(instance));
  const list::Decoder decoder(independent);
  Rng rng(1);
  CorunOrderSearch search(independent, decoder, rng);
  search.anneal(
      list::gang(independent), params.first_temperature, params.last_temperature,
      std::min(params.annealing_operations, params.annealing_operations_per_job * instance.jobs()));
  return search.best();
}

class ConfigurationMaster {
 public:
  explicit ConfigurationMaster(const Instance& instance, const ConfigurationParams& params = {})
      : instance_(instance),
        params_(params),
        unit_(time_unit(instance)),
        rows_(instance, unit_, kLeastTimeUnits),
        pricing_(instance, rows_, bounds::maximize_area(rows_, all_jobs(instance)).prices),
        master_(std::vector<double>(instance.jobs(), 1.0), artificial_cost()) {
    for (int i = 0; i < instance.jobs(); ++i) {
      const int last = static_cast<int>(rows_.choices(i).size()) - 1;
      add_column({{i, last}});
    }
    add_columns_of(anneal_briefly(instance, params));
  }

  double bound() const { return bound_ * unit_; }
  std::vector<double> prices() const {
    std::vector<double> prices = best_prices_;
    for (double& price : prices) price *= unit_;
    return prices;
  }

  // Column generation.  Returns false where it does not end within `work` steps.
  bool solve(std::int64_t work) {
    std::int64_t steps = 0, pricing_steps = params_.first_pricing_steps;
    double least_objective = kInfinity;
    std::vector<double> last_prices;
    int idle_rounds = 0;  // in which the objective does not fall
    bool is_smoothed = true;
    for (;;) {
      check_interrupt();
      master_.solve(kExactTolerance, kMaxPivots);
      std::vector<double> prices = master_.dual();
      const double objective = master_.objective();
      idle_rounds = objective < least_objective ? 0 : idle_rounds + 1;
      least_objective = std::min(least_objective, objective);
      if (idle_rounds > params_.max_idle_rounds) return false;
      if (bound_ >= objective * (1 - kPricingGap)) return true;
      if (is_smoothed && !last_prices.empty())
        for (std::size_t i = 0; i < prices.size(); ++i)
          prices[i] =
              params_.price_smoothing * last_prices[i] + (1 - params_.price_smoothing) * prices[i];
      last_prices = prices;
      const double total = std::accumulate(prices.begin(), prices.end(), 0.0);
      // Prices prove something new only if no configuration is worth total / bound_ or more.
      const auto pricing =
          pricing_.find_best(prices, std::max(1e-300, total / std::max(objective, 1e-300)) * 0.5,
                             pricing_steps, steps);
      raise_bound(bounds::round_down(total / pricing.value_bound, instance_.jobs() + 8), prices,
                  pricing.value_bound);
      int columns_added = 0;
      for (const auto& configuration : pricing.configurations) {
        if (!has_negative_reduced_cost(configuration.members)) continue;
        add_column(configuration.members);
        ++columns_added;
      }
      if (steps >= work) return false;
      if (columns_added > 0) {
        pricing_steps = std::max(pricing_steps / 4, params_.first_pricing_steps);
      } else if (!is_smoothed) {
        if (pricing_steps > work) return false;
        pricing_steps *= 4;
      }
      // Where smoothed prices give no column, the next round takes the prices of the master.
      is_smoothed = columns_added > 0 || !is_smoothed;
    }
  }

 private:
  void raise_bound(double proved_bound, const std::vector<double>& prices, double value_bound) {
    if (proved_bound <= bound_) return;
    bound_ = proved_bound;
    best_prices_ = prices;
    for (double& price : best_prices_) price /= value_bound;
  }

  // Several times the makespan of all jobs one after the other.
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
    return worth > 1 + kExactTolerance;
  }

  // Adds the set of jobs that run together at each time.
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
          const auto choice = std::find_if(counts.begin(), counts.end(), [&](const Choice& c) {
            return c.procs == placement.procs[i];
          });
          set.push_back({i, static_cast<int>(choice - counts.begin())});
        }
      add_column(set);
    }
  }

  void add_column(const std::vector<ConfigurationPricing::ConfigurationMember>& set) {
    const auto [jobs, rates] = make_column(set);
    master_.add_column(1, jobs, rates);
  }

  const Instance& instance_;
  ConfigurationParams params_;
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
  bounds::BoundResult result;
  std::optional<ConfigurationMaster> programme;
  const bool in_time = finishes_within(std::nullopt, [&] {
    result.value = std::max(bounds::longest_bound(instance), bounds::area_bound(instance));
    programme.emplace(instance);
    result.complete = programme->solve(ConfigurationParams{}.bound_work);
  });
  if (programme) result.value = std::max(result.value, programme->bound());
  result.complete = result.complete && in_time;
  return result;
}

std::vector<double> configuration_prices(const Instance& instance, std::int64_t work) {
  ConfigurationMaster programme(instance);
  programme.solve(work);
  return programme.prices();
}

}  // namespace cosched::moldable::shared
