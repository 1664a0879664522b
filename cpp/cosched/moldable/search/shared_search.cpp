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

class SharedListSearch {
 public:
  SharedListSearch(const Instance& instance, const SearchOptions& options)
      : instance_(instance),
        objective_(options.objective),
        decoder_(instance),
        seed_(options.seed),
        rng_(options.seed),
        incumbent_(instance, options.objective) {
    if (!uses_orders() && !instance.sharing()->slows())
      active_search_.emplace(instance, objective_);
  }

  list::Decoder& decoder() { return decoder_; }

  /// A schedule that is feasible as it stands.
  void offer(const Placement& placement) { incumbent_.offer(placement); }

  /// Under every threshold, and at the prices; each job at its earliest fit where nobody slows
  /// anybody.
  void offer(list::JobList list) {
    if (active_search_) offer(active_search_->decode(list.order, list.procs));
    for (const double theta : list::kThetas) {
      list.theta = theta;
      consider_list(list);
    }
    if (prices_.empty()) return;
    list.prices = prices_;
    consider_list(list);
  }

  /// Where beams do not know the objective or releases, greedy schedules at the prices, and near
  /// them.
  void offer_priced_schedules(std::vector<double> prices, int draws) {
    prices_ = std::move(prices);
    if (uses_orders()) return;
    for (int k = 0; k < draws; ++k) {
      std::vector<double> near = prices_;
      for (double& value_of_job : near)
        if (k > 0) value_of_job *= 1 + kNoise * (2 * rng_.uniform() - 1);
      const Placement placement = decoder_.decode_greedily(near);
      offer(placement);
      list::JobList list = list::to_list(decoder_, placement);
      list.prices = near;
      consider_list(list);
    }
  }

  /// The round of this number; every other one is cooler.
  void run_round(std::int64_t work, int number) {
    if (!uses_orders()) {
      // Lists, and from the best of them orders at earliest fits: either finds what the other
      // misses.
      anneal_lists(work, number % 2 == 0 ? 1 : kCooler);
      if (active_search_) anneal_active_orders(work / 2, number);
      return;
    }
    if (!prices_.empty())
      run_beams(
          static_cast<std::int64_t>(kBeams * static_cast<double>(work) / kStepsABeamOperation));
    const double steps = instance_.sharing()->slows() ? kStepsAnOrderOperation : kStepsAPlainOne;
    offer(
        anneal_order_chains(instance_, decoder_, best(), static_cast<double>(work) / steps, rng_));
    check_interrupt();
  }

  const Placement& best() const { return incumbent_.placement(); }

 private:
  bool uses_orders() const {
    return objective_ == Objective::makespan && !instance_.has_releases();
  }

  // At the prices, and near them, ever wider up to kWidth.
  void run_beams(std::int64_t operations) {
    while (operations > 0) {
      std::vector<double> near = prices_;
      const double noise = beam_count_ == 0 ? 0 : kBeamNoise[beam_count_ / 2 % 2];
      for (double& price : near) price *= 1 + noise * (2 * rng_.uniform() - 1);
      const shared::BeamOptions options{std::min(kWidth, 1 << std::min(2 * beam_count_, 20)),
                                        kBranches, kWastes[beam_count_ % 2]};
      const auto found = shared::beam_search(instance_, decoder_, near, options, operations);
      if (!found) return;
      offer(*found);
      ++beam_count_;
    }
  }

  // Lists start what fits.  Where jobs are released late, or heavy ones come first, waiting pays.
  void anneal_active_orders(std::int64_t work, int number) {
    active_search_->offer_placement(best());
    const bool is_complete = finishes_within(
        std::nullopt, [&] { active_search_->anneal(work, seed_ + number, number, 0); });
    offer(active_search_->placement());
    if (!is_complete) check_interrupt();
  }

  void anneal_lists(std::int64_t work, double heat) {
    list::JobList now = best_list_;
    double current = best_list_value_;
    const double scale = best_list_value_;
    const double first = kFirstHeat * heat;
    const std::int64_t begin = decoder_.operations();
    const auto spent = [&] { return decoder_.operations() - begin; };
    const double steps = kStepsAnOperation * static_cast<double>(work);
    cosched::anneal(kLastHeat / first, steps, spent, [&](double warmth) {
      const double temperature = scale * first * warmth;
      for (int k = 0; k < 8; ++k) {
        list::JobList next = draw_neighbour(now);
        const Placement placement = decoder_.decode(next);
        const double found = plateau_value(placement);
        offer(placement);
        if (found < best_list_value_) {
          best_list_value_ = found;
          best_list_ = next;
        }
        if (found > current && !(rng_.uniform() < std::exp((current - found) / temperature)))
          continue;
        current = found;
        now = std::move(next);
      }
      return true;
    });
  }

  void consider_list(const list::JobList& list) {
    const Placement placement = decoder_.decode(list);
    const double found = plateau_value(placement);
    offer(placement);
    if (!best_list_.order.empty() && !(found < best_list_value_)) return;
    best_list_value_ = found;
    best_list_ = list;
  }

  double plateau_value(const Placement& placement) const {
    const Criteria found = evaluate_criteria(instance_, placement);
    if (objective_ == Objective::minsum) return found.minsum + kPlateau * found.makespan;
    double sum = 0;
    for (const double end : placement.end) sum += end;
    return found.makespan + kPlateau * sum / placement.jobs();
  }

  list::JobList draw_neighbour(const list::JobList& from) {
    list::JobList to = from;
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
  Incumbent incumbent_;
  std::optional<ActiveSearch> active_search_;  // where jobs slow nobody, and orders do not do
  list::JobList best_list_;                    // the best list
  std::vector<double> prices_;
  double best_list_value_ = kInfinity;
  int beam_count_ = 0;  // beams
};

void offer_lists(const Instance& instance, SharedListSearch& made) {
  list::Decoder& decoder = made.decoder();
  const int n = instance.jobs();
  for (const int share : {1, 2, 4, 8, 16}) {
    Allotment procs(n, std::max(1, instance.machines() / share));
    procs = decoder.fitting_allotment(procs);
    list::JobList longest{{}, procs, 0, {}};
    for (int i = 0; i < n; ++i) longest.order.push_back(i);
    std::stable_sort(longest.order.begin(), longest.order.end(), [&](int a, int b) {
      return instance.exact_time(a, procs[a]) > instance.exact_time(b, procs[b]);
    });
    made.offer(longest);
    list::JobList urgent = longest;
    std::stable_sort(urgent.order.begin(), urgent.order.end(), [&](int a, int b) {
      return instance.weight(a) * instance.exact_time(b, procs[b]) >
             instance.weight(b) * instance.exact_time(a, procs[a]);
    });
    made.offer(urgent);
  }
}

class SharedSearchRounds : public SearchRounds {
 public:
  SharedSearchRounds(const Instance& instance, const SearchOptions& options)
      : instance_(instance), options_(options), list_search_(instance, options) {
    without_deadline([&] {
      offer_lists(instance, list_search_);
      for (const Placement& start : options.starts) offer_with_list(start);
      if (!instance.has_releases()) list_search_.offer(list::gang(instance));
    });
  }

  void offer_first_schedules() override {
    if (!instance_.has_releases())
      for (const dual::ListOrder order :
           {dual::ListOrder::shelf, dual::ListOrder::lptf, dual::ListOrder::saf})
        offer_with_list(dual::list_graham(instance_, order));
    if (instance_.jobs() <= kMostPriced) {
      std::vector<double> prices = shared::configuration_prices(instance_, kPriceWork);
      if (!prices.empty()) list_search_.offer_priced_schedules(std::move(prices), kDraws);
    }
    SearchOptions options = options_;
    options.starts.clear();
    options.time_limit.reset();
    // No more than by default: what a time limit leaves belongs to the rounds.
    options.work = std::min(options.work, kSearchWork);
    const Sharing& sharing = *instance_.sharing();
    relaxed_instance_.emplace(
        instance_.with_sharing(sharing.slows() ? sharing.without_slowdowns() : nullptr));
    if (sharing.slows() && instance_.jobs() <= kExactJobs)  // with its proof
      list_search_.offer(
          list::replay(instance_, local_search(*relaxed_instance_, options).placement));
    if (relaxed_instance_->sharing() != nullptr)
      relaxed_search_ = std::make_unique<SharedSearchRounds>(*relaxed_instance_, options);
    else
      relaxed_search_ = std::make_unique<IndependentJobsSearch>(*relaxed_instance_, options);
    relaxed_search_->offer_first_schedules();
    offer_relaxed_best();
  }

  bool run_round(std::int64_t work, int number) override {
    if (has_relaxed_rounds_) has_relaxed_rounds_ = relaxed_search_->run_round(work, number);
    offer_relaxed_best();
    list_search_.run_round(total_work(instance_, work), number);
    return instance_.sharing()->slows() || !is_proved();
  }

  const Placement& best() const override { return list_search_.best(); }

  bool is_proved() const override {
    if (options_.objective != Objective::makespan) return false;
    if (!makespan_bound_)
      makespan_bound_ = without_deadline([&] {  // a limit may be over
        return std::max(bounds::longest_bound(instance_), bounds::area_bound(instance_));
      });
    return makespan(best()) <= *makespan_bound_ * (1 + kExactTolerance);
  }

 private:
  void offer_with_list(const Placement& found) {
    list_search_.offer(found);
    list_search_.offer(list::to_list(list_search_.decoder(), found));
  }

  // Resources alone: the search as if there were none gives an order; else the one that knows them.
  void offer_relaxed_best() {
    list_search_.offer(list::to_list(list_search_.decoder(), relaxed_search_->best()));
    if (instance_.sharing()->slows())
      list_search_.offer(list::replay(instance_, relaxed_search_->best()));
  }

  const Instance& instance_;
  SearchOptions options_;
  SharedListSearch list_search_;
  std::optional<Instance> relaxed_instance_;  // what they share, or slow-downs
  std::unique_ptr<SearchRounds> relaxed_search_;
  bool has_relaxed_rounds_ = true;
  mutable std::optional<double> makespan_bound_;  // no schedule is shorter; when first asked for
};

}  // namespace

Placement anneal_order_chains(const Instance& instance, const list::Decoder& decoder,
                              const Placement& from, double operations, Rng& rng) {
  Placement best = from;
  const auto generation = [&](int chains, double hot, double share) {
    std::vector<std::uint64_t> seeds;
    for (int k = 0; k < chains; ++k) seeds.push_back(rng.bits());
    const auto each = static_cast<std::int64_t>(share * operations / chains);
    const Placement start = best;
    return finishes_within(std::nullopt, [&] {
      run_chains(
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
    if (std::optional<ProofResult> quick = prove_quickly(instance, options)) {
      if (quick->is_proved) return {std::move(quick->placement), true, true, 0};
      started.starts.push_back(std::move(quick->placement));
    }
  }
  SharedSearchRounds search(instance, started);
  const bool has_begun = finishes_within(std::nullopt, [&] {
    if (options.work > 0) search.offer_first_schedules();
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
