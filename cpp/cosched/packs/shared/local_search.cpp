#include "cosched/packs/shared/local_search.hpp"

#include <algorithm>

#include "cosched/core/annealing.hpp"
#include "cosched/core/rng.hpp"
#include "cosched/packs/shared/heuristics.hpp"
#include "cosched/packs/shared/subsets.hpp"

namespace cosched::packs::shared {
namespace {

class SharedAnnealing {
 public:
  SharedAnnealing(const Instance& instance, PackTable& table, const Packs& start,
                  std::uint64_t seed, const SharedLocalSearchParams& params)
      : params_(params),
        instance_(instance),
        table_(table),
        rng_(seed),
        pack_of_(instance.tasks()),
        best_(start) {
    for (int i = 0; i < instance.tasks(); ++i) cost_alone_.push_back(table.exact_price({i}).cost);
    restart();
    best_cost_ = sum_;
    scale_ = sum_ / static_cast<double>(packs_.size());
  }

  // Spends `work` operations; `heat` scales the first temperature.  May be left by an exception of
  // check_interrupt().
  void run(std::int64_t work, double heat) {
    restart();
    const double first = params_.first_temperature * heat;
    const std::int64_t begin = table_.pricer().evaluations();
    std::int64_t moves = 0;
    const auto spent = [&] {
      return (table_.pricer().evaluations() - begin) * params_.evaluation_work +
             moves * params_.move_work;
    };
    anneal(params_.last_temperature / first, static_cast<double>(work), spent, [&](double warmth) {
      temperature_ = scale_ * first * warmth;
      for (int k = 0; k < params_.moves_per_temperature; ++k) try_random_move();
      moves += params_.moves_per_temperature;
      if (table_.size() > params_.max_table_entries) table_.clear();
      return true;
    });
  }

  void offer_packs(const Packs& packs) {
    const Packs before = best_;
    best_ = packs;
    restart();
    if (sum_ < best_cost_ * (1 - kExactTolerance))
      best_cost_ = sum_;
    else
      best_ = before;
  }

  const Packs& best() const { return best_; }

 private:
  // The cost of a pack: at most that of its tasks one after the other, which is also the cost of a
  // pack that does not fit.
  double pack_cost(const std::vector<int>& pack) {
    if (pack.empty()) return 0;
    double apart = 0;
    for (const int i : pack) apart += cost_alone_[i];
    return std::min(apart, table_.exact_price(pack, kSearchNodes).cost);
  }

  void restart() {
    packs_ = best_;
    cost_.clear();
    sum_ = 0;
    for (std::size_t p = 0; p < packs_.size(); ++p) {
      std::sort(packs_[p].begin(), packs_[p].end());
      for (const int i : packs_[p]) pack_of_[i] = static_cast<int>(p);
      cost_.push_back(pack_cost(packs_[p]));
      sum_ += cost_.back();
    }
  }

  static std::vector<int> remove_task(std::vector<int> pack, int i) {
    pack.erase(std::lower_bound(pack.begin(), pack.end(), i));
    return pack;
  }

  void try_random_move() {
    const int n = instance_.tasks();
    const int i = static_cast<int>(rng_.below(n)), from = pack_of_[i];
    const std::uint64_t kind = rng_.below(params_.new_pack_every);
    if (kind == 0) {
      if (packs_[from].size() > 1) try_change(from, remove_task(packs_[from], i), -1, {i});
      return;
    }
    const int j = static_cast<int>(rng_.below(n)), to = pack_of_[j];
    if (from == to) return;
    if (kind % 2 == 1) {
      if (static_cast<int>(packs_[to].size()) < instance_.max_tasks())
        try_change(from, remove_task(packs_[from], i), to, insert_task(packs_[to], i));
    } else {
      try_change(from, insert_task(remove_task(packs_[from], i), j), to,
                 insert_task(remove_task(packs_[to], j), i));
    }
  }

  // Replaces packs a and b (-1: a new pack) by these, if the increase of cost is accepted.
  void try_change(int a, std::vector<int> for_a, int b, std::vector<int> for_b) {
    const double before = cost_[a] + (b < 0 ? 0 : cost_[b]);
    const double cost_a = pack_cost(for_a), cost_b = pack_cost(for_b);
    const double worse = cost_a + cost_b - before;
    if (worse > 0 && !(rng_.uniform() < std::exp(-worse / temperature_))) return;
    if (b < 0) {
      b = static_cast<int>(packs_.size());
      packs_.emplace_back();
      cost_.push_back(0);
    }
    set_pack(a, std::move(for_a), cost_a);
    set_pack(b, std::move(for_b), cost_b);
    if (packs_[a].empty()) drop_pack(a);
    sum_ += worse;
    if (sum_ < best_cost_ * (1 - kExactTolerance)) {
      best_cost_ = sum_;
      best_ = packs_;
    }
  }

  void set_pack(int p, std::vector<int> tasks, double cost) {
    for (const int i : tasks) pack_of_[i] = p;
    packs_[p] = std::move(tasks);
    cost_[p] = cost;
  }

  void drop_pack(int p) {
    if (p + 1 < static_cast<int>(packs_.size())) {
      std::vector<int> last = std::move(packs_.back());
      set_pack(p, std::move(last), cost_.back());
    }
    packs_.pop_back();
    cost_.pop_back();
  }

  SharedLocalSearchParams params_;
  const Instance& instance_;
  PackTable& table_;
  Rng rng_;
  std::vector<int> pack_of_;
  Packs best_, packs_;
  std::vector<double> cost_alone_, cost_;
  double sum_ = 0, best_cost_ = 0, scale_ = 0, temperature_ = 0;
};

// The same search without slow-downs, from the start: repeating its earlier rounds is a third of
// its work.
SearchedCoschedule search_without_slowdowns(const Instance& instance, std::uint64_t seed,
                                            std::int64_t work) {
  const Instance unslowed(instance.times(), instance.max_tasks(),
                          instance.sharing()->without_slowdowns());
  return unslowed.sharing() != nullptr ? local_search(unslowed, seed, work, std::nullopt)
                                       : search::local_search(unslowed, seed, work, std::nullopt);
}

std::int64_t total_work(const Instance& instance, std::int64_t work) {
  const std::int64_t max_work = std::numeric_limits<std::int64_t>::max() / 2;
  return work > max_work / instance.tasks() ? max_work : work * instance.tasks();
}

}  // namespace

SearchedCoschedule local_search(const Instance& instance, std::uint64_t seed,
                                std::optional<std::int64_t> given_work,
                                std::optional<double> time_limit,
                                const search::AfterRound& after_round,
                                const SharedLocalSearchParams& params) {
  const std::int64_t default_work = search::default_work(instance.tasks());
  const std::int64_t work = given_work.value_or(default_work);
  if (work < 0)
    throw InvalidInstance("work = " + std::to_string(work) + ": expected a number >= 0");
  const ScopedTimeLimit limit(time_limit);
  SearchedCoschedule best;
  best.coschedule =
      without_deadline([&] { return pack_by_pack(instance, heuristic::nine_epsilons()); });
  if (work == 0) return best;
  PackTable table(instance);
  const auto offer = [&](auto&& make_coschedule) {
    Coschedule candidate = without_deadline(make_coschedule);
    if (candidate.cost < best.coschedule.cost) best.coschedule = std::move(candidate);
  };
  const auto offer_plain = [&](std::int64_t so_far) {
    const SearchedCoschedule unslowed_result = search_without_slowdowns(instance, seed, so_far);
    offer([&] {
      return coschedule_at_prices(
          instance, table,
          repair_packs(instance, table, packs_of(unslowed_result.coschedule.pack_of)),
          kSearchNodes);
    });
  };
  const bool slows = instance.sharing()->slows();
  if (slows) offer_plain(1);
  if (instance.tasks() <= kMaxSubsetTasks) {
    ExactResult exact = subsets(instance, {best.coschedule, 0, false, true});
    best = {std::move(exact.coschedule), exact.is_complete, exact.is_proved};
    if (best.is_proved || !best.is_complete) return best;
  }
  SharedAnnealing annealing(instance, table, packs_of(best.coschedule.pack_of), seed, params);
  const auto offer_best = [&] {
    offer([&] { return coschedule_at_prices(instance, table, annealing.best()); });
  };
  std::int64_t so_far = 0;
  best.is_complete = finishes_within(std::nullopt, [&] {
    GrowingRounds(default_work).run(work, [&](std::int64_t part, int number) {
      const double cost_before = best.coschedule.cost;
      so_far += part;
      if (slows) offer_plain(so_far);
      annealing.offer_packs(packs_of(best.coschedule.pack_of));
      annealing.run(total_work(instance, part), number % 2 == 0 ? 1 : params.cool_round);
      offer_best();
      return !after_round || after_round(best, best.coschedule.cost < cost_before, number);
    });
  });
  offer_best();
  return best;
}

}  // namespace cosched::packs::shared
