#include "cosched/moldable/search/shared_search.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/core/rng.hpp"
#include "cosched/moldable/bounds/makespan.hpp"
#include "cosched/moldable/dual/dual_approx.hpp"
#include "cosched/moldable/list/decoder.hpp"
#include "cosched/moldable/list/list_schedule.hpp"
#include "cosched/moldable/search/chains.hpp"
#include "cosched/moldable/shared/beam.hpp"
#include "cosched/moldable/shared/configurations.hpp"

namespace cosched::moldable::search {
namespace {

constexpr double kFirstTemperature = 0.012, kLastTemperature = 0.0003;
constexpr int kNear = 6;  // places in the order between jobs that are exchanged every other time
constexpr double kPlateau =
    1e-3;  // of the mean end, so that plateaus of the makespan lead somewhere
constexpr int kRounds = 3;
constexpr double kStepsAnOperation = 8;  // the decoder's steps are smaller than those of `work`
constexpr double kNoise = 0.3;           // of prices, relative
constexpr int kDraws = 60;               // greedy schedules
// Of work, as above; less where jobs slow each other, which leaves more to gain.
constexpr double kStepsAnOrderOperation = 0.06, kStepsAPlainOne = 0.3;
constexpr int kWidth = 64, kBranches = 12;  // of a beam
constexpr double kBeams = 0.75;             // of the work
constexpr double kBeamNoise[] = {0.05, 0.15}, kWastes[] = {0.05, 0.1};
constexpr double kStepsABeamOperation = 0.5;  // of work, as above
constexpr int kMostPriced = 200;              // jobs
constexpr std::int64_t kPriceWork = 10'000'000;

class ListSearch {
 public:
  ListSearch(const Instance& instance, const SearchOptions& options)
      : instance_(instance),
        objective_(options.objective),
        decoder_(instance),
        rng_(options.seed),
        best_(instance, options.objective) {}

  list::Decoder& decoder() { return decoder_; }

  /// A schedule that is feasible as it stands.
  void offer(const Placement& placement) { best_.offer(placement); }

  /// Under every threshold, and at the prices.
  void offer(list::List list) {
    for (const double theta : list::kThetas) {
      list.theta = theta;
      consider(list);
    }
    if (prices_.empty()) return;
    list.prices = prices_;
    consider(list);
  }

  /// Where beams do not know the objective or releases, greedy schedules at the prices, and near them.
  void price(std::vector<double> prices, int draws) {
    prices_ = std::move(prices);
    if (by_orders()) return;
    for (int k = 0; k < draws; ++k) {
      std::vector<double> near = prices_;
      for (double& value_of_job : near)
        if (k > 0) value_of_job *= 1 + kNoise * (2 * rng_.uniform() - 1);
      const Placement placement = decoder_.greedy(near);
      offer(placement);
      list::List list = list::as_list(decoder_, placement);
      list.prices = near;
      consider(list);
    }
  }

  void spend(std::int64_t work) {
    const int rounds = by_orders() ? 1 : kRounds;  // orders have theirs
    for (int k = 0; k < rounds; ++k) run(work / rounds, k == 0 ? 1 : 0.4);
  }

  void run(std::int64_t work, double heat) {
    if (!by_orders()) return anneal(work, heat);
    if (!prices_.empty())
      beams(static_cast<std::int64_t>(kBeams * static_cast<double>(work) / kStepsABeamOperation));
    const double steps = instance_.sharing()->slows() ? kStepsAnOrderOperation : kStepsAPlainOne;
    offer(anneal_orders(instance_, decoder_, best(), static_cast<double>(work) / steps, rng_));
    check_interrupt();
  }

  const Placement& best() const { return best_.placement(); }

 private:
  bool by_orders() const { return objective_ == Objective::makespan && !instance_.has_releases(); }

  // At the prices, and near them, ever wider up to kWidth.
  void beams(std::int64_t operations) {
    while (operations > 0) {
      std::vector<double> near = prices_;
      const double noise = drawn_ == 0 ? 0 : kBeamNoise[drawn_ / 2 % 2];
      for (double& price : near) price *= 1 + noise * (2 * rng_.uniform() - 1);
      const shared::BeamOptions options{std::min(kWidth, 1 << std::min(2 * drawn_, 20)), kBranches,
                                        kWastes[drawn_ % 2]};
      const auto found = shared::beam(instance_, decoder_, near, options, operations);
      if (!found) return;
      offer(*found);
      ++drawn_;
    }
  }

  void anneal(std::int64_t work, double heat) {
    list::List now = start_;
    double current = start_value_;
    const double total = seconds_left(), scale = start_value_;
    const std::int64_t begin = decoder_.operations();
    for (double done = 0; done < 1;) {
      const double passed = total < kInfinity ? 1 - seconds_left() / total : 0;
      const double first = kFirstTemperature * heat;
      const double temperature =
          scale * first * std::pow(kLastTemperature / first, std::max(done, passed));
      for (int k = 0; k < 8; ++k) {
        list::List next = changed(now);
        const Placement placement = decoder_.run(next);
        const double found = value(placement);
        offer(placement);
        if (found < start_value_) {
          start_value_ = found;
          start_ = next;
        }
        if (found > current && !(rng_.uniform() < std::exp((current - found) / temperature)))
          continue;
        current = found;
        now = std::move(next);
      }
      check_interrupt();
      done = static_cast<double>(decoder_.operations() - begin) / kStepsAnOperation /
             static_cast<double>(work);
    }
  }

  void consider(const list::List& list) {
    const Placement placement = decoder_.run(list);
    const double found = value(placement);
    offer(placement);
    if (!start_.order.empty() && !(found < start_value_)) return;
    start_value_ = found;
    start_ = list;
  }

  double value(const Placement& placement) const {
    const Criteria found = criteria(instance_, placement);
    if (objective_ == Objective::minsum) return found.minsum + kPlateau * found.makespan;
    double sum = 0;
    for (const double end : placement.end) sum += end;
    return found.makespan + kPlateau * sum / placement.jobs();
  }

  list::List changed(const list::List& from) {
    list::List to = from;
    const int n = instance_.jobs();
    const std::uint64_t kind = rng_.below(16);
    const auto a = static_cast<int>(rng_.below(n));
    const auto b = static_cast<int>(
        rng_.below(2) == 0 ? std::clamp<std::int64_t>(a + rng_.between(-kNear, kNear), 0, n - 1)
                           : static_cast<std::int64_t>(rng_.below(n)));
    if (kind == 0 && rng_.below(2) == 0 && !prices_.empty()) {
      if (to.prices.empty()) to.prices = prices_;
      to.prices[a] *= 1 + kNoise * (2 * rng_.uniform() - 1);
    } else if (kind == 0) {
      to.theta = list::kThetas[rng_.below(std::size(list::kThetas))];
      to.prices.clear();
    } else if (kind < 7) {
      const auto& counts = decoder_.counts(a);
      auto at = std::find_if(counts.begin(), counts.end(),
                             [&](const Choice& c) { return c.procs == to.procs[a]; }) -
                counts.begin();
      const auto last = static_cast<std::int64_t>(counts.size()) - 1;
      if (rng_.below(4) == 0)
        at = rng_.between(0, last);
      else
        at = std::clamp<std::int64_t>(at + (rng_.below(2) == 0 ? 1 : -1), 0, last);
      to.procs[a] = counts[at].procs;
    } else if (kind < 11) {
      std::swap(to.order[a], to.order[b]);
    } else {
      const int job = to.order[a];
      to.order.erase(to.order.begin() + a);
      to.order.insert(to.order.begin() + b, job);
    }
    return to;
  }

  const Instance& instance_;
  Objective objective_;
  list::Decoder decoder_;
  Rng rng_;
  BestSoFar best_;
  list::List start_;  // the best list
  std::vector<double> prices_;
  double start_value_ = kInfinity;
  int drawn_ = 0;  // beams
};

// What the same search finds for jobs that slow nobody, with the same work: knowing them is never worse.
Placement plain_search(const Instance& instance, SearchOptions options) {
  options.starts.clear();
  options.proof = false;
  options.time_limit.reset();
  if (seconds_left() < kInfinity) options.time_limit = std::max(0.0, seconds_left() / 4);
  const Sharing& sharing = *instance.sharing();
  const Instance plain = instance.with(sharing.slows() ? sharing.without_slowdowns() : nullptr);
  return local_search(plain, options).placement;
}

void offer_lists(const Instance& instance, ListSearch& made) {
  list::Decoder& decoder = made.decoder();
  const int n = instance.jobs();
  for (const int share : {1, 2, 4, 8, 16}) {
    Allotment procs(n, std::max(1, instance.machines() / share));
    procs = decoder.fitting(procs);
    list::List longest{{}, procs, 0, {}};
    for (int i = 0; i < n; ++i) longest.order.push_back(i);
    std::stable_sort(longest.order.begin(), longest.order.end(), [&](int a, int b) {
      return instance.given(a, procs[a]) > instance.given(b, procs[b]);
    });
    made.offer(longest);
    list::List urgent = longest;
    std::stable_sort(urgent.order.begin(), urgent.order.end(), [&](int a, int b) {
      return instance.weight(a) * instance.given(b, procs[b]) >
             instance.weight(b) * instance.given(a, procs[a]);
    });
    made.offer(urgent);
  }
}

}  // namespace

SearchResult shared_search(const Instance& instance, const SearchOptions& options) {
  ListSearch made(instance, options);
  unhurried([&] {
    offer_lists(instance, made);
    for (const Placement& start : options.starts) {
      made.offer(start);
      made.offer(list::as_list(made.decoder(), start));
    }
    if (!instance.has_releases()) made.offer(list::gang(instance));
  });
  SearchResult result;
  result.complete = finishes_within(std::nullopt, [&] {
    if (options.work == 0) return;
    if (!instance.has_releases())
      for (const dual::ListOrder order :
           {dual::ListOrder::shelf, dual::ListOrder::lptf, dual::ListOrder::saf}) {
        const Placement found = dual::list_graham(instance, order);
        made.offer(found);
        made.offer(list::as_list(made.decoder(), found));
      }
    if (instance.jobs() <= kMostPriced) {
      std::vector<double> prices = shared::configuration_prices(instance, kPriceWork);
      if (!prices.empty()) made.price(std::move(prices), kDraws);
    }
    // Resources alone: the search as if there were none gives an order; else the one that knows them.
    const Placement plain = plain_search(instance, options);
    made.offer(list::as_list(made.decoder(), plain));
    if (instance.sharing()->slows()) made.offer(list::replayed(instance, plain));
    if (options.work >= kUnlimitedWork / 2)
      in_rounds(kSearchWork, [&](std::int64_t part, int number) {
        made.run(total_work(instance, part), number % 2 == 0 ? 1 : 0.4);
        return true;
      });
    else
      made.spend(total_work(instance, options.work));
  });
  result.placement = made.best();
  const double least = std::max(bounds::longest_bound(instance), bounds::area_bound(instance));
  result.proved = options.objective == Objective::makespan &&
                  makespan(result.placement) <= least * (1 + kExactTolerance);
  return result;
}

}  // namespace cosched::moldable::search
