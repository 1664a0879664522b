#include "cosched/moldable/search/shared_search.hpp"

#include "cosched/core/annealing.hpp"
#include "cosched/moldable/dual/dual_approx.hpp"
#include "cosched/moldable/list/list_schedule.hpp"
#include "cosched/moldable/search/active_search.hpp"
#include "cosched/moldable/search/annealing.hpp"
#include "cosched/moldable/search/graph_search.hpp"
#include "cosched/moldable/search/rounds.hpp"
#include "cosched/moldable/shared/beam.hpp"
#include "cosched/moldable/shared/configurations.hpp"
#include "cosched/moldable/shared/orders.hpp"

namespace cosched::moldable::search {
namespace {

constexpr double kFirstHeat = 0.012, kLastHeat = 0.0003;
constexpr double kCooler = 0.4;
constexpr int kNear = 6;  // places in the order between jobs that are exchanged every other time
constexpr double kPlateau =
    1e-3;  // of the mean end, so that plateaus of the makespan lead somewhere
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

// Several differ more than one gains by taking as long as all.
constexpr int kHotChains = 6, kWarmChains = 4, kWarmGenerations = 4;
constexpr double kHottest = 0.003, kWarm = 0.0012, kColdest = 0.0005;
constexpr double kWarmShare = 0.6;  // of the operations

class ListSearch {
 public:
  ListSearch(const Instance& instance, const SearchOptions& options)
      : instance_(instance),
        objective_(options.objective),
        decoder_(instance),
        seed_(options.seed),
        rng_(options.seed),
        best_(instance, options.objective) {
    if (!by_orders() && !instance.sharing()->slows()) active_.emplace(instance, objective_);
  }

  list::Decoder& decoder() { return decoder_; }

  /// A schedule that is feasible as it stands.
  void offer(const Placement& placement) { best_.offer(placement); }

  /// Under every threshold, and at the prices; each job at its earliest fit where nobody slows
  /// anybody.
  void offer(list::List list) {
    if (active_) offer(active_->decoded(list.order, list.procs));
    for (const double theta : list::kThetas) {
      list.theta = theta;
      consider(list);
    }
    if (prices_.empty()) return;
    list.prices = prices_;
    consider(list);
  }

  /// Where beams do not know the objective or releases, greedy schedules at the prices, and near
  /// them.
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

  /// The round of this number; every other one is cooler.
  void run(std::int64_t work, int number) {
    if (!by_orders()) {
      // Lists, and from the best of them orders at earliest fits: either finds what the other
      // misses.
      anneal(work, number % 2 == 0 ? 1 : kCooler);
      if (active_) anneal_active(work / 2, number);
      return;
    }
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

  // Lists start what fits.  Where jobs are released late, or heavy ones come first, waiting pays.
  void anneal_active(std::int64_t work, int number) {
    active_->offer(best());
    const bool is_complete =
        finishes_within(std::nullopt, [&] { active_->anneal(work, seed_ + number, number, 0); });
    offer(active_->placement());
    if (!is_complete) check_interrupt();
  }

  void anneal(std::int64_t work, double heat) {
    list::List now = start_;
    double current = start_value_;
    const double scale = start_value_;
    const double first = kFirstHeat * heat;
    const std::int64_t begin = decoder_.operations();
    const auto spent = [&] { return decoder_.operations() - begin; };
    const double steps = kStepsAnOperation * static_cast<double>(work);
    cosched::anneal(kLastHeat / first, steps, spent, [&](double warmth) {
      const double temperature = scale * first * warmth;
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
      return true;
    });
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
  std::uint64_t seed_;
  Rng rng_;
  BestSoFar best_;
  std::optional<ActiveSearch> active_;  // where jobs slow nobody, and orders do not do
  list::List start_;                    // the best list
  std::vector<double> prices_;
  double start_value_ = kInfinity;
  int drawn_ = 0;  // beams
};

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

class SharedSearch : public Search {
 public:
  SharedSearch(const Instance& instance, const SearchOptions& options)
      : instance_(instance), options_(options), made_(instance, options) {
    unhurried([&] {
      offer_lists(instance, made_);
      for (const Placement& start : options.starts) offer(start);
      if (!instance.has_releases()) made_.offer(list::gang(instance));
    });
  }

  void begin() override {
    if (!instance_.has_releases())
      for (const dual::ListOrder order :
           {dual::ListOrder::shelf, dual::ListOrder::lptf, dual::ListOrder::saf})
        offer(dual::list_graham(instance_, order));
    if (instance_.jobs() <= kMostPriced) {
      std::vector<double> prices = shared::configuration_prices(instance_, kPriceWork);
      if (!prices.empty()) made_.price(std::move(prices), kDraws);
    }
    SearchOptions options = options_;
    options.starts.clear();
    options.time_limit.reset();
    // No more than by default: what a time limit leaves belongs to the rounds.
    options.work = std::min(options.work, kSearchWork);
    const Sharing& sharing = *instance_.sharing();
    without_.emplace(instance_.with(sharing.slows() ? sharing.without_slowdowns() : nullptr));
    if (sharing.slows() && instance_.jobs() <= kExactJobs)  // with its proof
      made_.offer(list::replayed(instance_, local_search(*without_, options).placement));
    if (without_->sharing() != nullptr)
      plain_ = std::make_unique<SharedSearch>(*without_, options);
    else
      plain_ = std::make_unique<AloneSearch>(*without_, options);
    plain_->begin();
    offer_plain();
  }

  bool round(std::int64_t work, int number) override {
    if (more_) more_ = plain_->round(work, number);
    offer_plain();
    made_.run(total_work(instance_, work), number);
    return instance_.sharing()->slows() || !is_proved();
  }

  const Placement& best() const override { return made_.best(); }

  bool is_proved() const override {
    if (options_.objective != Objective::makespan) return false;
    if (!least_)
      least_ = unhurried([&] {  // a limit may be over
        return std::max(bounds::longest_bound(instance_), bounds::area_bound(instance_));
      });
    return makespan(best()) <= *least_ * (1 + kExactTolerance);
  }

 private:
  void offer(const Placement& found) {
    made_.offer(found);
    made_.offer(list::as_list(made_.decoder(), found));
  }

  // Resources alone: the search as if there were none gives an order; else the one that knows them.
  void offer_plain() {
    made_.offer(list::as_list(made_.decoder(), plain_->best()));
    if (instance_.sharing()->slows()) made_.offer(list::replayed(instance_, plain_->best()));
  }

  const Instance& instance_;
  SearchOptions options_;
  ListSearch made_;
  std::optional<Instance> without_;  // what they share, or slow-downs
  std::unique_ptr<Search> plain_;
  bool more_ = true;
  mutable std::optional<double> least_;  // no schedule is shorter; when first asked for
};

}  // namespace

Placement anneal_orders(const Instance& instance, const list::Decoder& decoder,
                        const Placement& from, double operations, Rng& rng) {
  Placement best = from;
  const auto generation = [&](int chains, double hot, double share) {
    std::vector<std::uint64_t> seeds;
    for (int k = 0; k < chains; ++k) seeds.push_back(rng.bits());
    const auto each = static_cast<std::int64_t>(share * operations / chains);
    const Placement start = best;
    return finishes_within(std::nullopt, [&] {
      in_chains(
          chains,
          [&](int k, const Offer& offer) {
            Rng own(seeds[k]);
            shared::OrderSearch orders(instance, decoder, own);
            const bool ended =
                finishes_within(std::nullopt, [&] { orders.anneal(start, hot, kColdest, each); });
            if (Placement found = orders.best(); found.jobs() > 0) offer(std::move(found));
            if (!ended) check_interrupt();
          },
          [&](Placement found) {
            if (makespan(found) < makespan(best)) best = std::move(found);
          });
    });
  };
  if (!generation(kHotChains, kHottest, 1 - kWarmShare)) return best;
  for (int k = 0; k < kWarmGenerations; ++k)
    if (!generation(kWarmChains, kWarm, kWarmShare / kWarmGenerations)) break;
  return best;
}

SearchResult shared_search(const Instance& instance, const SearchOptions& options) {
  SearchOptions started = options;
  const bool is_provable = !instance.sharing()->slows() && is_graph_provable(instance);
  if (is_provable) {
    if (std::optional<Proof> quick = prove_quickly(instance, options)) {
      if (quick->proved) return {std::move(quick->placement), true, true, 0};
      started.starts.push_back(std::move(quick->placement));
    }
  }
  SharedSearch search(instance, started);
  const bool has_begun = finishes_within(std::nullopt, [&] {
    if (options.work > 0) search.begin();
  });
  if (!has_begun) return {search.best(), false, search.is_proved(), 0};
  RoundsOptions rounds{kSearchWork, options.work, {}};
  if (options.proof && is_provable)
    rounds.prove = [&](const Placement& start, const ProofOptions& share) {
      return prove_graph(instance, start, share);
    };
  return run_rounds(search, instance, options, rounds);
}

}  // namespace cosched::moldable::search
