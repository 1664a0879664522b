#include "cosched/moldable/shared/bounds.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/moldable/model/bounds.hpp"
#include "cosched/opt/cover_lp.hpp"
#include "cosched/opt/matrix_game.hpp"

namespace cosched::moldable::shared {
namespace {

constexpr int kMostGameRounds = 200;
constexpr int kMostReleases = 200;
constexpr double kSmoothing = 0.7;  // weight of the best prices so far
constexpr double kEnough = 2e-3;    // relative gap between master and bound at which it ends
constexpr std::int64_t kFirstNodes = 10'000;  // of a pricing; more where it finds nothing
constexpr int kColumnsARound = 30;
constexpr std::int64_t kMostPivots = 1'000'000;

double rounded_down(double value, int terms) {
  return value * (1 - 4 * (terms + 8.0) * std::numeric_limits<double>::epsilon());
}

// What a second of job i on a count takes of each row, as a share: processors, resources, traffic.
class Rows {
 public:
  explicit Rows(const Instance& instance) : instance_(instance), sharing_(*instance.sharing()) {
    for (int i = 0; i < instance.jobs(); ++i)
      choices_.push_back(choices(sharing_, i, instance.useful_machines(),
                                 [&](int q) { return instance.given(i, q); }));
  }

  int count() const { return 1 + sharing_.resources() + (sharing_.has_bandwidth() ? 1 : 0); }

  double share(int row, int i, int q) const {
    if (row == 0) return static_cast<double>(q) / instance_.machines();
    if (row > sharing_.resources()) return sharing_.stall(i) == 1 ? sharing_.load(i, q) : 0;
    const double capacity = sharing_.capacity(row - 1);
    return capacity > 0 && capacity < kInfinity ? sharing_.need(row - 1, i, q) / capacity : 0;
  }

  const std::vector<Choice>& of(int i) const { return choices_[i]; }

  // The rows' sums where each job takes its cheapest count at these prices, and what that costs.
  std::pair<std::vector<double>, double> response(const std::vector<double>& prices,
                                                  const std::vector<int>& jobs) const {
    std::vector<double> sums(count(), 0);
    double total = 0;
    for (const int i : jobs) {
      double least = kInfinity;
      const Choice* best = nullptr;
      for (const Choice& c : choices_[i]) {
        double cost = 0;
        for (int row = 0; row < count(); ++row) cost += prices[row] * share(row, i, c.procs);
        if (cost * c.time < least) {
          least = cost * c.time;
          best = &c;
        }
      }
      total += least;
      for (int row = 0; row < count(); ++row) sums[row] += share(row, i, best->procs) * best->time;
    }
    return {sums, total};
  }

 private:
  const Instance& instance_;
  const Sharing& sharing_;
  std::vector<std::vector<Choice>> choices_;
};

struct Area {
  double value = 0;
  std::vector<double> prices;  // of the rows, sum 1
};

// The prices at which the jobs' cheapest counts cost most.
Area dearest_area(const Rows& rows, const std::vector<int>& jobs) {
  std::vector<double> prices(rows.count(), 0);
  prices[0] = 1;
  opt::MatrixGame game(rows.count());
  Area best;
  for (int round = 0; round < kMostGameRounds; ++round) {
    const auto [sums, total] = rows.response(prices, jobs);
    if (total > best.value) best = {total, prices};
    game.add_column(sums);
    if (rows.count() == 1) break;
    game.solve();
    if (best.value >= game.value() * (1 - kExactTolerance)) break;
    prices = game.prices();
    double sum = 0;
    for (double& price : prices) sum += price = std::max(price, 0.0);
    for (double& price : prices) price /= sum;
    check_interrupt();
  }
  return best;
}

std::vector<int> all_jobs(const Instance& instance) {
  std::vector<int> jobs(instance.jobs());
  std::iota(jobs.begin(), jobs.end(), 0);
  return jobs;
}

// Which configuration is worth most at prices u?
class ConfigurationPricing {
 public:
  ConfigurationPricing(const Instance& instance, const Rows& rows, std::vector<double> surrogate)
      : instance_(instance),
        sharing_(*instance.sharing()),
        rows_(rows),
        surrogate_(std::move(surrogate)) {}

  struct Member {
    int job, choice;
  };
  struct Found {
    double value;
    std::vector<Member> set;
  };
  struct Answer {
    double most = 0;           // no configuration is worth more
    std::vector<Found> found;  // some that are worth much
  };

  // Those worth more than `threshold`; the bound is not sharper than threshold.
  Answer best(const std::vector<double>& prices, double threshold, std::int64_t most_nodes,
              std::int64_t& nodes) {
    prepare(prices);
    Answer answer;
    answer.most = threshold;
    std::priority_queue<Node> open;
    open.push({bound_of({}, 0), 0, {}});
    double least_kept = threshold;
    const std::int64_t begin = evaluated_;
    while (!open.empty()) {
      const Node node = open.top();
      if (node.bound <= std::max(answer.most, threshold) * (1 + kEnough / 4)) {
        // What is left is worth no more than what was found, but for a tolerance.
        answer.most = std::max(answer.most, node.bound);
        break;
      }
      if (evaluated_ - begin > most_nodes) {
        answer.most = std::max(answer.most, node.bound);
        break;
      }
      open.pop();
      poll_.count(10'000);
      expand(node, answer, least_kept, open);
    }
    nodes += evaluated_ - begin;
    return answer;
  }

  std::vector<double> factors(const std::vector<Member>& set) const {
    std::vector<Run> runs;
    for (const Member& member : set)
      runs.push_back({member.job, choice_of(member).procs, choice_of(member).time});
    return sharing_.factors(runs);
  }

 private:
  struct Node {
    double bound;
    int from;  // of order_: what is decided
    std::vector<Member> set;
    bool operator<(const Node& other) const { return bound < other.bound; }
  };
  struct Step {
    int place;  // in order_
    double value, weight, density;
  };

  const Choice& choice_of(const Member& member) const {
    return rows_.of(member.job)[member.choice];
  }

  double weight(int i, const Choice& c) const {
    double sum = 0;
    for (int row = 0; row < rows_.count(); ++row)
      if (row <= sharing_.resources()) sum += surrogate_[row] * rows_.share(row, i, c.procs);
    return sum;
  }

  void prepare(const std::vector<double>& prices) {
    prices_ = prices;
    order_.clear();
    std::vector<double> density(instance_.jobs(), 0);
    for (int i = 0; i < instance_.jobs(); ++i) {
      if (!(prices[i] > 0)) continue;
      order_.push_back(i);
      for (const Choice& c : rows_.of(i))
        density[i] = std::max(density[i], prices[i] / c.time / std::max(weight(i, c), 1e-12));
    }
    std::stable_sort(order_.begin(), order_.end(),
                     [&](int a, int b) { return density[a] > density[b]; });
    by_procs_ = steps_by(
        [&](int, const Choice& c) { return static_cast<double>(c.procs) / instance_.machines(); });
    by_surrogate_ = surrogate_[0] < 1
                        ? steps_by([&](int i, const Choice& c) { return weight(i, c); })
                        : std::vector<Step>{};
  }

  // Of each job the upper hull of (weight, value), as steps of falling density; all steps, the densest first.
  template <class Weight>
  std::vector<Step> steps_by(const Weight& weight_of) const {
    std::vector<Step> steps;
    for (int place = 0; place < static_cast<int>(order_.size()); ++place) {
      const int i = order_[place];
      std::vector<std::pair<double, double>> points;
      for (const Choice& c : rows_.of(i)) points.emplace_back(weight_of(i, c), prices_[i] / c.time);
      std::sort(points.begin(), points.end());
      std::vector<std::pair<double, double>> hull{{0, 0}};
      for (const auto& point : points) {
        if (point.second <= hull.back().second) continue;
        while (hull.size() > 1) {
          const auto& [x1, y1] = hull[hull.size() - 2];
          const auto& [x2, y2] = hull.back();
          if ((y2 - y1) * (point.first - x1) > (point.second - y1) * (x2 - x1)) break;
          hull.pop_back();
        }
        hull.push_back(point);
      }
      for (std::size_t k = 1; k < hull.size(); ++k) {
        const double value = hull[k].second - hull[k - 1].second;
        const double width = hull[k].first - hull[k - 1].first;
        steps.push_back({place, value, width, width > 0 ? value / width : kInfinity});
      }
    }
    std::stable_sort(steps.begin(), steps.end(),
                     [](const Step& a, const Step& b) { return a.density > b.density; });
    return steps;
  }

  // The rest by their least slow-downs beside the set, as a fractional knapsack.
  double fill(const std::vector<Step>& steps, int from, double room) {
    scaled_.clear();
    for (const Step& step : steps) {
      if (step.place < from) continue;
      const double f = beside_[step.place];
      scaled_.push_back({step.place, step.value / f, step.weight, step.density / f});
    }
    if (!set_is_empty_)
      std::sort(scaled_.begin(), scaled_.end(),
                [](const Step& a, const Step& b) { return a.density > b.density; });
    double sum = 0;
    for (const Step& step : scaled_) {
      if (step.weight >= room) return sum + (step.weight > 0 ? step.value * room / step.weight : 0);
      sum += step.value;
      room -= step.weight;
    }
    return sum;
  }

  // Least factor of each job of order_[from..] beside the set.
  void slow_beside(const std::vector<Member>& set, int from) {
    set_is_empty_ = set.empty();
    beside_.assign(order_.size(), 1);
    if (set.empty()) return;
    double load = 0;
    for (const Member& member : set) load += sharing_.load(member.job, choice_of(member).procs);
    for (int place = from; place < static_cast<int>(order_.size()); ++place) {
      const int i = order_[place];
      double f = 1;
      for (const Member& member : set) {
        const double e = sharing_.excess(i, member.job);
        switch (sharing_.rule()) {
          case SlowdownRule::sum:
            f += e;
            break;
          case SlowdownRule::product:
            f *= 1 + e;
            break;
          case SlowdownRule::max:
            f = std::max(f, 1 + e);
            break;
        }
      }
      if (sharing_.has_bandwidth()) {
        double own = kInfinity;
        for (const Choice& c : rows_.of(i)) own = std::min(own, sharing_.load(i, c.procs));
        f = std::max(f, 1 + sharing_.stall(i) * std::max(0.0, load + own - 1));
      }
      beside_[place] = f;
    }
  }

  double value_of(const std::vector<Member>& set) const {
    const std::vector<double> f = factors(set);
    double sum = 0;
    for (std::size_t k = 0; k < set.size(); ++k)
      sum += prices_[set[k].job] / (choice_of(set[k]).time * f[k]);
    return sum;
  }

  double bound_of(const std::vector<Member>& set, int from) {
    ++evaluated_;
    slow_beside(set, from);
    double procs = 1, surrogate = 1;
    for (const Member& member : set) {
      procs -= static_cast<double>(choice_of(member).procs) / instance_.machines();
      surrogate -= weight(member.job, choice_of(member));
    }
    double rest = fill(by_procs_, from, std::max(0.0, procs) + 1e-12);
    if (!by_surrogate_.empty())
      rest = std::min(rest, fill(by_surrogate_, from, std::max(0.0, surrogate) + 1e-9));
    return value_of(set) + rest;
  }

  bool fits(const std::vector<Member>& set) const {
    std::vector<Run> runs;
    long long used = 0;
    for (const Member& member : set) {
      runs.push_back({member.job, choice_of(member).procs, 0});
      used += choice_of(member).procs;
    }
    return used <= instance_.machines() && sharing_.fits(runs);
  }

  // With the next job on each count that fits, and without it.
  void expand(const Node& node, Answer& answer, double& least_kept,
              std::priority_queue<Node>& open) {
    if (node.from >= static_cast<int>(order_.size())) return;
    const int job = order_[node.from];
    const double enough = answer.most;
    for (int c = 0; c < static_cast<int>(rows_.of(job).size()); ++c) {
      Node with{0, node.from + 1, node.set};
      with.set.push_back({job, c});
      if (!fits(with.set)) continue;
      const double value = value_of(with.set);
      if (value > least_kept) keep(answer, least_kept, {value, with.set});
      answer.most = std::max(answer.most, value);
      with.bound = std::min(node.bound, bound_of(with.set, with.from));
      if (with.bound > enough) open.push(std::move(with));
    }
    Node without{0, node.from + 1, node.set};
    without.bound = std::min(node.bound, bound_of(without.set, without.from));
    if (without.bound > enough) open.push(std::move(without));
  }

  static void keep(Answer& answer, double& least_kept, Found found) {
    answer.found.push_back(std::move(found));
    if (answer.found.size() < 2 * kColumnsARound) return;
    std::sort(answer.found.begin(), answer.found.end(),
              [](const Found& a, const Found& b) { return a.value > b.value; });
    answer.found.resize(kColumnsARound);
    least_kept = answer.found.back().value;
  }

  const Instance& instance_;
  const Sharing& sharing_;
  const Rows& rows_;
  std::vector<double> surrogate_;
  std::vector<double> prices_;
  std::vector<int> order_;
  std::vector<Step> by_procs_, by_surrogate_, scaled_;
  std::vector<double> beside_;
  bool set_is_empty_ = true;
  std::int64_t evaluated_ = 0;
  Poll poll_;
};

class Configurations {
 public:
  explicit Configurations(const Instance& instance)
      : instance_(instance),
        rows_(instance),
        pricing_(instance, rows_, dearest_area(rows_, all_jobs(instance)).prices),
        master_(std::vector<double>(instance.jobs(), 1.0), artificial_cost()) {
    for (int i = 0; i < instance.jobs(); ++i) {
      const int last = static_cast<int>(rows_.of(i).size()) - 1;
      add({{i, last}});
    }
  }

  double bound() const { return bound_; }
  const std::vector<double>& prices() const { return best_prices_; }

  // False where `work` nodes are not enough.
  bool solve(std::int64_t work) {
    std::int64_t nodes = 0, share = kFirstNodes;
    double best_total = 0;
    for (bool smooth = true;;) {
      check_interrupt();
      master_.solve(1e-9, kMostPivots);
      std::vector<double> prices = master_.dual();
      const double objective = master_.objective();
      if (bound_ >= objective * (1 - kEnough)) return true;
      if (smooth && !best_prices_.empty())
        for (std::size_t i = 0; i < prices.size(); ++i)
          prices[i] = kSmoothing * best_prices_[i] + (1 - kSmoothing) * prices[i];
      const double total = std::accumulate(prices.begin(), prices.end(), 0.0);
      // Prices whose best configuration is worth `total` / `bound` or less prove nothing new.
      const auto answer = pricing_.best(
          prices, std::max(1e-300, total / std::max(objective, 1e-300)) * 0.5, share, nodes);
      const double proved = rounded_down(total / answer.most, instance_.jobs() + 8);
      if (proved > bound_) {
        bound_ = proved;
        best_prices_ = prices;
        for (double& price : best_prices_) price /= answer.most;
        best_total = total / answer.most;
      }
      int added = 0;
      for (const auto& found : answer.found) added += improves(found.set) ? add(found.set) : 0;
      if (nodes >= work) return false;
      if (added > 0) {
        smooth = true;
        continue;
      }
      if (smooth && best_total > 0) {
        smooth = false;  // a mis-pricing: the master's own prices
        continue;
      }
      smooth = true;
      if (share > work) return false;
      share *= 4;
    }
  }

 private:
  // One job after the other, several times over.
  double artificial_cost() const {
    double sum = 0;
    for (int i = 0; i < instance_.jobs(); ++i) sum += rows_.of(i).back().time;
    return 10 * sum;
  }

  std::pair<std::vector<int>, std::vector<double>> column(
      const std::vector<ConfigurationPricing::Member>& set) const {
    std::vector<std::pair<int, double>> entries;
    const std::vector<double> f = pricing_.factors(set);
    for (std::size_t k = 0; k < set.size(); ++k)
      entries.emplace_back(set[k].job, 1 / (rows_.of(set[k].job)[set[k].choice].time * f[k]));
    std::sort(entries.begin(), entries.end());
    std::vector<int> jobs;
    std::vector<double> rates;
    for (const auto& [job, rate] : entries) {
      jobs.push_back(job);
      rates.push_back(rate);
    }
    return {jobs, rates};
  }

  bool improves(const std::vector<ConfigurationPricing::Member>& set) const {
    const auto [jobs, rates] = column(set);
    double worth = 0;
    for (std::size_t k = 0; k < jobs.size(); ++k) worth += master_.dual()[jobs[k]] * rates[k];
    return worth > 1 + 1e-9;
  }

  int add(const std::vector<ConfigurationPricing::Member>& set) {
    const auto [jobs, rates] = column(set);
    master_.add_column(1, jobs, rates);
    return 1;
  }

  const Instance& instance_;
  Rows rows_;
  ConfigurationPricing pricing_;
  opt::CoverLp master_;
  double bound_ = 0;
  std::vector<double> best_prices_;
};

}  // namespace

double area_bound(const Instance& instance) {
  const Rows rows(instance);
  std::vector<double> releases(instance.releases());
  std::sort(releases.begin(), releases.end());
  releases.erase(std::unique(releases.begin(), releases.end()), releases.end());
  double best = moldable::area_bound(instance);
  const std::size_t step = releases.size() / kMostReleases + 1;
  for (std::size_t k = 0; k < releases.size(); k += step) {
    std::vector<int> jobs;
    for (int i = 0; i < instance.jobs(); ++i)
      if (instance.release(i) >= releases[k]) jobs.push_back(i);
    best = std::max(best, releases[k] + rounded_down(dearest_area(rows, jobs).value,
                                                     instance.jobs() * (1 + rows.count())));
  }
  return best;
}

ConfigurationBound configuration_bound(const Instance& instance, std::int64_t work) {
  if (instance.sharing() == nullptr) {
    const Instance shared = instance.with(std::make_shared<const Sharing>(
        instance.jobs(), std::vector<Resource>{}, std::nullopt, std::nullopt));
    return configuration_bound(shared, work);
  }
  ConfigurationBound found;
  std::optional<Configurations> programme;
  const bool in_time = finishes_within(std::nullopt, [&] {
    found.value = std::max(longest_bound(instance), shared::area_bound(instance));
    programme.emplace(instance);
    found.complete = programme->solve(work);
  });
  if (programme) found.value = std::max(found.value, programme->bound());
  found.complete = found.complete && in_time;
  return found;
}

std::vector<double> configuration_prices(const Instance& instance, std::int64_t work) {
  Configurations programme(instance);
  programme.solve(work);
  return programme.prices();
}

}  // namespace cosched::moldable::shared
