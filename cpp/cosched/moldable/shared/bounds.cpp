#include "cosched/moldable/shared/bounds.hpp"

#include <algorithm>
#include <cmath>
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
constexpr double kEnough = 5e-4;    // relative gap between master and bound at which it ends
constexpr std::int64_t kFirstSteps = 1'000'000;  // of a pricing; more where it finds nothing
constexpr int kDives = 8;
constexpr int kColumnsARound = 30;
constexpr std::int64_t kMostPivots = 1'000'000;
constexpr int kUsualBits = 30;  // times from 2^-30 to 2^30 are taken as they are
constexpr int kMostIdleRounds = 1000;

double rounded_down(double value, int terms) {
  return value * (1 - 4 * (terms + 8.0) * std::numeric_limits<double>::epsilon());
}

// For the master's tolerances, which are absolute: 1, or the power of two below the longest time.
double unit_of(const Instance& instance) {
  const double longest = longest_bound(instance);
  const int bits = longest > 0 ? std::ilogb(longest) : 0;
  return std::abs(bits) <= kUsualBits ? 1 : std::scalbn(1.0, bits);
}

// What a `unit` of time of job i on a count takes of each row, as a share: processors, resources, traffic.
class Rows {
 public:
  explicit Rows(const Instance& instance, double unit = 1)
      : instance_(instance), sharing_(*instance.sharing()) {
    for (int i = 0; i < instance.jobs(); ++i)
      choices_.push_back(choices(sharing_, i, instance.useful_machines(),
                                 [&](int q) { return instance.given(i, q) / unit; }));
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

// Which configuration is worth most at prices u?  Best first over sets of jobs; counts are chosen at the end, for what
// a job slows and needs is the same on all of them, or on groups of them.
class ConfigurationPricing {
 public:
  ConfigurationPricing(const Instance& instance, const Rows& rows,
                       const std::vector<double>& surrogate)
      : instance_(instance), sharing_(*instance.sharing()), rows_(rows) {
    for (int row = 0; row <= sharing_.resources(); ++row) {
      weights_.emplace_back(sharing_.resources() + 1, 0.0);
      weights_.back()[row] = 1;
    }
    weights_.emplace_back(surrogate.begin(), surrogate.begin() + sharing_.resources() + 1);
    for (int i = 0; i < instance.jobs(); ++i) groups_.push_back(groups_of(i));
  }

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
    bool complete = true;
  };

  // Those worth more than `threshold`; the bound is not sharper than threshold.
  Answer best(const std::vector<double>& prices, double threshold, std::int64_t most_steps,
              std::int64_t& steps) {
    prepare(prices);
    Answer answer;
    answer.most = least_kept_ = threshold;
    const std::int64_t begin = steps_, last = begin + most_steps;
    open_ = {};
    open_.push({bound_of({}, {}, 0), 0, {}});
    dive(answer);
    while (!open_.empty()) {
      const Node node = open_.top();
      // What is left is worth no more than what was found, but for a tolerance.
      const bool enough = node.bound <= answer.most * (1 + kEnough / 4);
      if (enough || steps_ > last || !expand(node, answer, last)) {
        answer.most = std::max(answer.most, node.bound);
        answer.complete = enough;
        break;
      }
    }
    steps += steps_ - begin;
    return answer;
  }

  std::vector<double> factors(const std::vector<Member>& set) const {
    std::vector<Run> runs;
    for (const Member& member : set)
      runs.push_back({member.job, choice_of(member).procs, choice_of(member).time});
    return sharing_.factors(runs);
  }

 private:
  struct Pick {
    int place, group;  // of order_, of groups_
  };
  struct Node {
    double bound;  // of its set, and what may be added from `from` on
    int from;
    std::vector<Pick> set;
    bool operator<(const Node& other) const { return bound < other.bound; }
  };
  struct Step {
    double value, weight;
  };
  // Upper hull of (weight, value) over counts, as steps of falling density from its first point.
  struct Hull {
    double value = 0, weight = 0;
    std::vector<Step> steps;
  };
  struct Group {
    int first, last;  // of the choices
  };

  const Choice& choice_of(const Member& member) const {
    return rows_.of(member.job)[member.choice];
  }

  // Neighbours that need and load the same.
  std::vector<Group> groups_of(int i) const {
    std::vector<Group> groups;
    const std::vector<Choice>& counts = rows_.of(i);
    for (int c = 0; c < static_cast<int>(counts.size()); ++c) {
      const auto same = [&](int q, int other) {
        for (int r = 0; r < sharing_.resources(); ++r)
          if (sharing_.need(r, i, q) != sharing_.need(r, i, other)) return false;
        return sharing_.load(i, q) == sharing_.load(i, other);
      };
      if (c > 0 && same(counts[c].procs, counts[c - 1].procs))
        groups.back().last = c;
      else
        groups.push_back({c, c});
    }
    return groups;
  }

  double weight(const std::vector<double>& of_rows, int i, const Choice& c) const {
    double sum = 0;
    for (std::size_t row = 0; row < of_rows.size(); ++row)
      if (of_rows[row] > 0) sum += of_rows[row] * rows_.share(static_cast<int>(row), i, c.procs);
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
        density[i] = std::max(density[i],
                              prices[i] / c.time / std::max(weight(weights_.back(), i, c), 1e-12));
    }
    std::stable_sort(order_.begin(), order_.end(),
                     [&](int a, int b) { return density[a] > density[b]; });
    const std::size_t n = order_.size();
    joining_.assign(weights_.size(), std::vector<Hull>(n));
    joined_.assign(weights_.size(), std::vector<std::vector<Hull>>(n));
    for (std::size_t w = 0; w < weights_.size(); ++w)
      for (std::size_t place = 0; place < n; ++place) {
        const int i = order_[place], counts = static_cast<int>(rows_.of(i).size());
        joining_[w][place] = hull(weights_[w], i, {0, counts - 1}, true);
        for (const Group& group : groups_[i])
          joined_[w][place].push_back(hull(weights_[w], i, group, false));
      }
  }

  Hull hull(const std::vector<double>& of_rows, int i, Group group, bool from_nothing) const {
    std::vector<std::pair<double, double>> points;
    for (int c = group.first; c <= group.last; ++c) {
      const Choice& choice = rows_.of(i)[c];
      points.emplace_back(weight(of_rows, i, choice), -prices_[i] / choice.time);
    }
    std::sort(points.begin(), points.end());  // the worthiest of a weight first
    std::vector<std::pair<double, double>> kept;
    if (from_nothing) kept.emplace_back(0, 0);
    for (auto [x, negative] : points) {
      const double y = -negative;
      if (!kept.empty() && y <= kept.back().second) continue;
      while (kept.size() > 1) {
        const auto& [x1, y1] = kept[kept.size() - 2];
        const auto& [x2, y2] = kept.back();
        if ((y2 - y1) * (x - x1) > (y - y1) * (x2 - x1)) break;
        kept.pop_back();
      }
      kept.emplace_back(x, y);
    }
    Hull made{kept.front().second, kept.front().first, {}};
    for (std::size_t k = 1; k < kept.size(); ++k)
      made.steps.push_back(
          {kept[k].second - kept[k - 1].second, kept[k].first - kept[k - 1].first});
    return made;
  }

  // Those from order_[from] on that fit beside the set, with their least factors there, and at least so much less
  // worth of the set where they join.
  void look_beside(const std::vector<Pick>& set, const std::vector<double>& factors, int from) {
    beside_.clear();
    double load = 0;
    std::vector<double> used(sharing_.resources(), 0);
    int procs = 0;
    for (const Pick& pick : set) {
      const int i = order_[pick.place];
      const int q = rows_.of(i)[groups_[i][pick.group].first].procs;
      load += sharing_.load(i, q);
      procs += q;
      for (int r = 0; r < sharing_.resources(); ++r) used[r] += sharing_.need(r, i, q);
    }
    for (int place = from; place < static_cast<int>(order_.size()); ++place) {
      const int i = order_[place];
      double own = kInfinity;
      for (const Group& group : groups_[i])
        if (fits(i, group, used, procs))
          own = std::min(own, sharing_.load(i, rows_.of(i)[group.first].procs));
      if (own == kInfinity) continue;
      double f = 1;
      for (const Pick& pick : set) {
        const double e = sharing_.excess(i, order_[pick.place]);
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
      if (!set.empty()) f = std::max(f, 1 + sharing_.stall(i) * std::max(0.0, load + own - 1));
      beside_.push_back({place, f, 0});
    }
    steps_ += static_cast<std::int64_t>(order_.size()) - from;
    if (sharing_.has_bandwidth() || sharing_.rule() == SlowdownRule::max) return;
    // At most `room` join, each with one processor.  A member of worth w / f is worth w / (f + E) or less with an
    // excess of E more, and w / f - E w / (f (f + E')) or less for every E <= E'.
    const int room = std::min<int>(instance_.machines() - procs, most_that_join(used));
    for (std::size_t k = 0; k < set.size(); ++k) {
      const int i = order_[set[k].place];
      double most = 0;
      for (const Beside& other : beside_)
        most = std::max(most, sharing_.excess(i, order_[other.place]));
      const double f = sharing_.rule() == SlowdownRule::sum ? factors[k] : 1;
      const double slope =
          joined_[0][set[k].place][set[k].group].value / (factors[k] * (f + room * most));
      for (Beside& other : beside_)
        other.penalty += slope * sharing_.excess(i, order_[other.place]);
    }
  }

  bool fits(int i, const Group& group, const std::vector<double>& used, int procs) const {
    const int q = rows_.of(i)[group.first].procs;
    if (procs + q > instance_.machines()) return false;
    for (int r = 0; r < sharing_.resources(); ++r)
      if (!leq(used[r] + sharing_.need(r, i, q), sharing_.capacity(r))) return false;
    return true;
  }

  // Of those beside, by each resource the ones that need least.
  int most_that_join(const std::vector<double>& used) {
    auto most = static_cast<int>(beside_.size());
    for (int r = 0; r < sharing_.resources(); ++r) {
      if (sharing_.capacity(r) == kInfinity) continue;
      needs_.clear();
      for (const Beside& other : beside_) {
        const int i = order_[other.place];
        double least = kInfinity;
        for (const Group& group : groups_[i])
          least = std::min(least, sharing_.need(r, i, rows_.of(i)[group.first].procs));
        needs_.push_back(least);
      }
      std::sort(needs_.begin(), needs_.end());
      double sum = used[r];
      int joined = 0;
      for (const double need : needs_) {
        if (!leq(sum += need, sharing_.capacity(r) * (1 + kExactTolerance))) break;
        ++joined;
      }
      most = std::min(most, joined);
    }
    return most;
  }

  // Counts of the set and of those beside it, as a fractional knapsack of one row.
  double fill(std::size_t w, const std::vector<Pick>& set, const std::vector<double>& factors,
              bool with_beside) {
    scaled_.clear();
    double sum = 0, room = 1e-8;
    for (const double share : weights_[w]) room += share;
    for (std::size_t k = 0; k < set.size(); ++k) {
      const Hull& own = joined_[w][set[k].place][set[k].group];
      sum += own.value / factors[k];
      room -= own.weight;
      for (const Step& step : own.steps) scaled_.push_back({step.value / factors[k], step.weight});
    }
    room = std::max(room, 0.0);
    if (with_beside)
      for (const Beside& other : beside_) {
        const std::vector<Step>& steps = joining_[w][other.place].steps;
        Step merged{-other.penalty, 0};
        std::size_t k = 0;
        do {
          merged.value += steps[k].value / other.factor;
          merged.weight += steps[k].weight;
          ++k;
        } while (k < steps.size() &&
                 merged.value * steps[k].weight < steps[k].value / other.factor * merged.weight);
        if (merged.value <= 0) continue;
        scaled_.push_back(merged);
        for (; k < steps.size(); ++k)
          scaled_.push_back({steps[k].value / other.factor, steps[k].weight});
      }
    std::sort(scaled_.begin(), scaled_.end(),
              [](const Step& a, const Step& b) { return a.value * b.weight > b.value * a.weight; });
    steps_ += static_cast<std::int64_t>(scaled_.size());
    for (const Step& step : scaled_) {
      if (step.weight > room) return sum + step.value * room / step.weight;
      sum += step.value;
      room -= step.weight;
    }
    return sum;
  }

  double bound_of(const std::vector<Pick>& set, const std::vector<double>& factors, int from) {
    look_beside(set, factors, from);
    double least = kInfinity;
    for (std::size_t w = 0; w < weights_.size(); ++w)
      least = std::min(least, fill(w, set, factors, true));
    return least;
  }

  std::vector<double> factors_of(const std::vector<Pick>& set) const {
    std::vector<Run> runs;
    for (const Pick& pick : set) {
      const int i = order_[pick.place];
      const Choice& c = rows_.of(i)[groups_[i][pick.group].first];
      runs.push_back({i, c.procs, c.time});
    }
    return sharing_.factors(runs);
  }

  // The best counts of a set, by processors.
  Found with_counts(const std::vector<Pick>& set, const std::vector<double>& factors) {
    const int m = instance_.machines();
    std::vector<std::vector<int>> chosen(set.size(), std::vector<int>(m + 1, -1));
    std::vector<double> worth(m + 1, 0), next;
    for (std::size_t k = 0; k < set.size(); ++k) {
      const int i = order_[set[k].place];
      const Group& group = groups_[i][set[k].group];
      next.assign(m + 1, -kInfinity);
      for (int c = group.first; c <= group.last; ++c) {
        const Choice& choice = rows_.of(i)[c];
        const double value = prices_[i] / (choice.time * factors[k]);
        for (int p = choice.procs; p <= m; ++p)
          if (worth[p - choice.procs] + value > next[p]) {
            next[p] = worth[p - choice.procs] + value;
            chosen[k][p] = c;
          }
      }
      worth = next;
      steps_ += static_cast<std::int64_t>(m) * (group.last - group.first + 1) / 8;
    }
    Found found{worth[m], {}};
    int p = m;
    for (std::size_t k = set.size(); k-- > 0;) {
      const int i = order_[set[k].place], c = chosen[k][p];
      found.set.push_back({i, c});
      p -= rows_.of(i)[c].procs;
    }
    return found;
  }

  void consider(const std::vector<Pick>& set, const std::vector<double>& factors, Answer& answer) {
    if (fill(0, set, factors, false) <= least_kept_) return;
    Found found = with_counts(set, factors);
    if (found.value <= least_kept_) return;
    answer.most = std::max(answer.most, found.value);
    answer.found.push_back(std::move(found));
    if (answer.found.size() < 2 * kColumnsARound) return;
    std::sort(answer.found.begin(), answer.found.end(),
              [](const Found& a, const Found& b) { return a.value > b.value; });
    answer.found.resize(kColumnsARound);
    least_kept_ = answer.found.back().value;
  }

  // Each further job that fits, on each group of counts.  False where the steps end before all have been looked at.
  bool expand(const Node& node, Answer& answer, std::int64_t last) {
    open_.pop();
    std::vector<Pick> set = node.set;
    look_beside(set, factors_of(set), node.from);
    std::vector<int> places;
    for (const Beside& other : beside_) places.push_back(other.place);
    for (const int place : places)
      for (int g = 0; g < static_cast<int>(groups_[order_[place]].size()); ++g) {
        poll_.count(10'000);
        set.push_back({place, g});
        if (fits(set)) {
          const std::vector<double> factors = factors_of(set);
          consider(set, factors, answer);
          Node with{std::min(node.bound, bound_of(set, factors, place + 1)), place + 1, set};
          if (!beside_.empty() && with.bound > answer.most) open_.push(std::move(with));
        }
        set.pop_back();
        if (steps_ > last) return false;
      }
    return true;
  }

  // From each of the densest the set that grows by what adds most.
  void dive(Answer& answer) {
    for (int first = 0; first < std::min<int>(kDives, static_cast<int>(order_.size())); ++first) {
      std::vector<Pick> set;
      double value = 0;
      for (bool grew = true; grew;) {
        grew = false;
        Pick best{};
        look_beside(set, factors_of(set), 0);
        std::vector<int> places;
        for (const Beside& other : beside_) places.push_back(other.place);
        if (set.empty()) places = {first};
        for (const int place : places) {
          if (std::any_of(set.begin(), set.end(), [&](const Pick& p) { return p.place == place; }))
            continue;
          for (int g = 0; g < static_cast<int>(groups_[order_[place]].size()); ++g) {
            set.push_back({place, g});
            if (fits(set)) {
              const double found = fill(0, set, factors_of(set), false);
              if (found > value) {
                value = found;
                best = {place, g};
                grew = true;
              }
            }
            set.pop_back();
          }
        }
        if (grew) set.push_back(best);
        poll_.count(10'000);
      }
      consider(set, factors_of(set), answer);
    }
  }

  bool fits(const std::vector<Pick>& set) const {
    std::vector<Run> runs;
    long long used = 0;
    for (const Pick& pick : set) {
      const int i = order_[pick.place];
      runs.push_back({i, rows_.of(i)[groups_[i][pick.group].first].procs, 0});
      used += runs.back().procs;
    }
    return used <= instance_.machines() && sharing_.fits(runs);
  }

  struct Beside {
    int place;
    double factor, penalty;
  };

  const Instance& instance_;
  const Sharing& sharing_;
  const Rows& rows_;
  std::vector<std::vector<double>> weights_;  // of rows, of several knapsacks
  std::vector<std::vector<Group>> groups_;
  std::vector<double> prices_;
  std::vector<int> order_;
  std::vector<std::vector<Hull>> joining_;              // by knapsack and place
  std::vector<std::vector<std::vector<Hull>>> joined_;  // and group
  std::priority_queue<Node> open_;
  std::vector<Beside> beside_;
  std::vector<Step> scaled_;
  std::vector<double> needs_;
  double least_kept_ = 0;
  std::int64_t steps_ = 0;
  Poll poll_;
};

class Configurations {
 public:
  explicit Configurations(const Instance& instance)
      : instance_(instance),
        unit_(unit_of(instance)),
        rows_(instance, unit_),
        pricing_(instance, rows_, dearest_area(rows_, all_jobs(instance)).prices),
        master_(std::vector<double>(instance.jobs(), 1.0), artificial_cost()) {
    for (int i = 0; i < instance.jobs(); ++i) {
      const int last = static_cast<int>(rows_.of(i).size()) - 1;
      add({{i, last}});
    }
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
    double best_total = 0, least = kInfinity;
    int idle = 0;  // rounds in which rounding errors are all that moves
    for (bool smooth = true;;) {
      check_interrupt();
      master_.solve(1e-9, kMostPivots);
      std::vector<double> prices = master_.dual();
      const double objective = master_.objective();
      idle = objective < least ? 0 : idle + 1;
      least = std::min(least, objective);
      if (idle > kMostIdleRounds) return false;
      if (bound_ >= objective * (1 - kEnough)) return true;
      if (smooth && !best_prices_.empty())
        for (std::size_t i = 0; i < prices.size(); ++i)
          prices[i] = kSmoothing * best_prices_[i] + (1 - kSmoothing) * prices[i];
      const double total = std::accumulate(prices.begin(), prices.end(), 0.0);
      // Prices whose best configuration is worth `total` / `bound` or less prove nothing new.
      const auto answer = pricing_.best(
          prices, std::max(1e-300, total / std::max(objective, 1e-300)) * 0.5, share, steps);
      const double proved = rounded_down(total / answer.most, instance_.jobs() + 8);
      if (proved > bound_) {
        bound_ = proved;
        best_prices_ = prices;
        for (double& price : best_prices_) price /= answer.most;
        best_total = total / answer.most;
      }
      int added = 0;
      for (const auto& found : answer.found) added += improves(found.set) ? add(found.set) : 0;
      if (steps >= work) return false;
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
  double unit_;
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
