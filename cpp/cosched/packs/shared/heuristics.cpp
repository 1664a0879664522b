#include "cosched/packs/shared/heuristics.hpp"

#include "cosched/core/annealing.hpp"
#include "cosched/core/rng.hpp"
#include "cosched/packs/heuristic/baselines.hpp"
#include "cosched/packs/search/local_search.hpp"

namespace cosched::packs::shared {
namespace {

constexpr double kFirstTemperature = 0.03, kLastTemperature = 0.0002;  // of the mean pack's cost
constexpr std::int64_t kEvaluationWork = 60;                           // operations, about
constexpr std::int64_t kMoveWork = 40;
constexpr std::int64_t kSearchNodes = 300;  // of a price during the search
constexpr std::size_t kMostRemembered = 2'000'000;
constexpr int kNewPackEvery = 32;

// A pack, by number, with one task more.
std::vector<int> with(std::vector<int> pack, int i) {
  pack.insert(std::lower_bound(pack.begin(), pack.end(), i), i);
  return pack;
}

double sum_of_prices(PackTable& table, const Packs& packs) {
  double sum = 0;
  for (const std::vector<int>& pack : packs) sum += table.exact(pack, kSearchNodes).cost;
  return sum;
}

// Packs that slow each other's tasks more than company saves are parted, first fit.
Packs parted(PackTable& table, const Packs& packs) {
  Packs result;
  for (const std::vector<int>& pack : packs) {
    Packs parts;
    for (const int i : pack) {
      const double alone = table.quick({i}).cost;
      const auto joins = [&](std::vector<int>& part) {
        std::vector<int> larger = with(part, i);
        if (table.quick(larger).cost > table.quick(part).cost + alone) return false;
        part = std::move(larger);
        return true;
      };
      if (std::none_of(parts.begin(), parts.end(), joins)) parts.push_back({i});
    }
    const bool saves =
        parts.size() > 1 && sum_of_prices(table, parts) < sum_of_prices(table, {pack});
    if (!saves) parts = {pack};
    for (std::vector<int>& part : parts) result.push_back(std::move(part));
  }
  return result;
}

// The cheapest of `draws` partitions.
template <class Draw>
Coschedule best_repaired(const Instance& instance, int draws, const Draw& draw) {
  PackTable table(instance);
  Packs best;
  double least = kInfinity;
  for (int k = 0; k < draws; ++k) {
    Packs packs = repaired(instance, table, draw(k));
    if (instance.sharing()->slows()) packs = parted(table, packs);
    const double cost = sum_of_prices(table, packs);
    if (cost < least) {
      least = cost;
      best = std::move(packs);
    }
    check_interrupt();
  }
  return without_deadline([&] { return at_prices(instance, table, best, kSearchNodes); });
}

class Annealing {
 public:
  Annealing(const Instance& instance, PackTable& table, const Packs& start, std::uint64_t seed)
      : instance_(instance), table_(table), rng_(seed), pack_of_(instance.tasks()), best_(start) {
    for (int i = 0; i < instance.tasks(); ++i) alone_.push_back(table.exact({i}).cost);
    restart();
    best_cost_ = sum_;
    scale_ = sum_ / static_cast<double>(packs_.size());
  }

  // May be left by an exception of check_interrupt().
  void run(std::int64_t work, double heat) {
    restart();
    const double first = kFirstTemperature * heat;
    const std::int64_t begin = table_.pricer().evaluations();
    std::int64_t moves = 0;
    const auto spent = [&] {
      return (table_.pricer().evaluations() - begin) * kEvaluationWork + moves * kMoveWork;
    };
    anneal(kLastTemperature / first, static_cast<double>(work), spent, [&](double warmth) {
      temperature_ = scale_ * first * warmth;
      for (int k = 0; k < 32; ++k) step();
      moves += 32;
      if (table_.size() > kMostRemembered) table_.forget();
      return true;
    });
  }

  void offer(const Packs& packs) {
    const Packs before = std::exchange(best_, packs);
    restart();
    if (sum_ < best_cost_ * (1 - kExactTolerance))
      best_cost_ = sum_;
    else
      best_ = before;
  }

  const Packs& best() const { return best_; }

 private:
  // What its tasks cost one after the other, where a pack is no better or does not fit.
  double price(const std::vector<int>& pack) {
    if (pack.empty()) return 0;
    double apart = 0;
    for (const int i : pack) apart += alone_[i];
    return std::min(apart, table_.exact(pack, kSearchNodes).cost);
  }

  void restart() {
    packs_ = best_;
    cost_.clear();
    sum_ = 0;
    for (std::size_t p = 0; p < packs_.size(); ++p) {
      std::sort(packs_[p].begin(), packs_[p].end());
      for (const int i : packs_[p]) pack_of_[i] = static_cast<int>(p);
      cost_.push_back(price(packs_[p]));
      sum_ += cost_.back();
    }
  }

  static std::vector<int> without(std::vector<int> pack, int i) {
    pack.erase(std::lower_bound(pack.begin(), pack.end(), i));
    return pack;
  }

  void step() {
    const int n = instance_.tasks();
    const int i = static_cast<int>(rng_.below(n)), from = pack_of_[i];
    const std::uint64_t kind = rng_.below(kNewPackEvery);
    if (kind == 0) {
      if (packs_[from].size() > 1) change(from, without(packs_[from], i), -1, {i});
      return;
    }
    const int j = static_cast<int>(rng_.below(n)), to = pack_of_[j];
    if (from == to) return;
    if (kind % 2 == 1) {
      if (static_cast<int>(packs_[to].size()) < instance_.max_tasks())
        change(from, without(packs_[from], i), to, with(packs_[to], i));
    } else {
      change(from, with(without(packs_[from], i), j), to, with(without(packs_[to], j), i));
    }
  }

  // Packs a and b (-1: a new one) become these, if that is not too much worse.
  void change(int a, std::vector<int> for_a, int b, std::vector<int> for_b) {
    const double before = cost_[a] + (b < 0 ? 0 : cost_[b]);
    const double cost_a = price(for_a), cost_b = price(for_b);
    const double worse = cost_a + cost_b - before;
    if (worse > 0 && !(rng_.uniform() < std::exp(-worse / temperature_))) return;
    if (b < 0) {
      b = static_cast<int>(packs_.size());
      packs_.emplace_back();
      cost_.push_back(0);
    }
    set(a, std::move(for_a), cost_a);
    set(b, std::move(for_b), cost_b);
    if (packs_[a].empty()) drop(a);
    sum_ += worse;
    if (sum_ < best_cost_ * (1 - kExactTolerance)) {
      best_cost_ = sum_;
      best_ = packs_;
    }
  }

  void set(int p, std::vector<int> tasks, double cost) {
    for (const int i : tasks) pack_of_[i] = p;
    packs_[p] = std::move(tasks);
    cost_[p] = cost;
  }

  void drop(int p) {
    if (p + 1 < static_cast<int>(packs_.size())) {
      std::vector<int> last = std::move(packs_.back());
      set(p, std::move(last), cost_.back());
    }
    packs_.pop_back();
    cost_.pop_back();
  }

  const Instance& instance_;
  PackTable& table_;
  Rng rng_;
  std::vector<int> pack_of_;
  Packs best_, packs_;
  std::vector<double> alone_, cost_;
  double sum_ = 0, best_cost_ = 0, scale_ = 0, temperature_ = 0;
};

// The same search for tasks that slow nobody, from its begin: its rounds of before are a third of it.
SearchResult plain_search(const Instance& instance, std::uint64_t seed, std::int64_t work) {
  const Instance plain(instance.times(), instance.max_tasks(),
                       instance.sharing()->without_slowdowns());
  return plain.sharing() != nullptr ? local_search(plain, seed, work, std::nullopt)
                                    : search::local_search(plain, seed, work, std::nullopt);
}

std::int64_t total_of(const Instance& instance, std::int64_t work) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max() / 2;
  return work > most / instance.tasks() ? most : work * instance.tasks();
}

}  // namespace

Packs repaired(const Instance& instance, PackTable& table, const Packs& packs) {
  Packs result;
  for (const std::vector<int>& pack : packs) {
    const std::size_t first = result.size();
    for (const int i : pack) {
      std::size_t p = first;
      for (; p < result.size(); ++p) {
        std::vector<int> larger = with(result[p], i);
        if (static_cast<int>(larger.size()) > instance.max_tasks()) continue;
        if (table.quick(larger).cost == kInfinity) continue;
        result[p] = std::move(larger);
        break;
      }
      if (p == result.size()) result.push_back({i});
    }
  }
  return result;
}

Coschedule pack_by_pack(const Instance& instance, const std::vector<double>& epsilons,
                        heuristic::PackChoice choice) {
  const Instance plain = instance.alone();
  if (epsilons.empty()) heuristic::pack_by_pack(plain, epsilons, choice);  // refuses
  return best_repaired(instance, static_cast<int>(epsilons.size()), [&](int k) {
    return members(heuristic::pack_by_pack(plain, {epsilons[k]}, choice).pack_of);
  });
}

Coschedule random_pack(const Instance& instance, int draws, std::uint64_t seed) {
  const Instance plain = instance.alone();
  const std::vector<Packs> drawn = heuristic::random_packs(plain, draws, seed);
  return best_repaired(instance, draws, [&](int k) { return drawn[k]; });
}

Coschedule random_proc(const Instance& instance, int draws, std::uint64_t seed) {
  const Instance plain = instance.alone();
  const std::vector<Packs> drawn = heuristic::random_proc_packs(plain, draws, seed);
  return best_repaired(instance, draws, [&](int k) { return drawn[k]; });
}

SearchResult local_search(const Instance& instance, std::uint64_t seed,
                          std::optional<std::int64_t> given_work, std::optional<double> time_limit,
                          const search::AfterRound& after_round) {
  const std::int64_t default_work = search::default_work(instance.tasks());
  const std::int64_t work = given_work.value_or(default_work);
  if (work < 0)
    throw InvalidInstance("work = " + std::to_string(work) + ": expected a number >= 0");
  const ScopedTimeLimit limit(time_limit);
  SearchResult best;
  best.coschedule =
      without_deadline([&] { return pack_by_pack(instance, heuristic::nine_epsilons()); });
  if (work == 0) return best;
  PackTable table(instance);
  const auto offer = [&](auto&& made) {
    Coschedule found = without_deadline(made);
    if (found.cost < best.coschedule.cost) best.coschedule = std::move(found);
  };
  const auto offer_plain = [&](std::int64_t so_far) {
    const SearchResult plain = plain_search(instance, seed, so_far);
    offer([&] {
      return at_prices(instance, table,
                       repaired(instance, table, members(plain.coschedule.pack_of)), kSearchNodes);
    });
  };
  const bool slows = instance.sharing()->slows();
  if (slows) offer_plain(1);
  if (instance.tasks() <= kMostSubsetTasks) {
    ExactResult exact = subsets(instance, {best.coschedule, 0, false, true});
    best = {std::move(exact.coschedule), exact.complete, exact.proved};
    if (best.proved || !best.complete) return best;
  }
  Annealing annealing(instance, table, members(best.coschedule.pack_of), seed);
  const auto offer_best = [&] {
    offer([&] { return at_prices(instance, table, annealing.best()); });
  };
  std::int64_t so_far = 0;
  best.complete = finishes_within(std::nullopt, [&] {
    GrowingRounds(default_work).run(work, [&](std::int64_t part, int number) {
      const double cost_before = best.coschedule.cost;
      if (slows) offer_plain(so_far += part);
      annealing.offer(members(best.coschedule.pack_of));
      annealing.run(total_of(instance, part), number % 2 == 0 ? 1 : 0.3);
      offer_best();
      return !after_round || after_round(best, best.coschedule.cost < cost_before, number);
    });
  });
  offer_best();
  return best;
}

namespace {

using Set = std::uint32_t;
constexpr std::int64_t kMostNodes = 100'000'000;  // of all prices together, about
constexpr std::int64_t kFewestNodes = 500, kEnoughNodes = 1'000'000;

class Subsets {
 public:
  explicit Subsets(const Instance& instance)
      : n_(instance.tasks()),
        max_tasks_(instance.max_tasks()),
        pricer_(instance),
        cost_(std::size_t{1} << n_, kInfinity),
        lower_(cost_.size(), kInfinity),
        best_(cost_.size(), kInfinity),
        least_(cost_.size(), kInfinity),
        pack_(cost_.size(), 0) {
    for (Set set = 1; set < cost_.size(); ++set) sets_ += __builtin_popcount(set) <= max_tasks_;
    cost_[0] = lower_[0] = best_[0] = least_[0] = 0;
    for (Set set = 1; set < cost_.size(); ++set) add(set);
  }

  double bound() const { return least_.back(); }
  Packs packs() const {
    Packs result;
    for (Set left = static_cast<Set>(cost_.size()) - 1; left != 0; left ^= pack_[left])
      result.push_back(members_of(pack_[left]));
    return result;
  }

 private:
  static std::vector<int> members_of(Set set) {
    std::vector<int> tasks;
    for (int i = 0; set != 0; ++i, set >>= 1)
      if (set & 1) tasks.push_back(i);
    return tasks;
  }

  void add(Set set) {
    const Set own = set & (~set + 1), rest = set ^ own;
    for (Set more = (rest - 1) & rest; rest != 0; more = (more - 1) & rest) {
      const Set pack = own | more;
      if (lower_[pack] < kInfinity) {
        const double sum = cost_[pack] + best_[set ^ pack];
        if (sum < best_[set]) {
          best_[set] = sum;
          pack_[set] = pack;
        }
        least_[set] = std::min(least_[set], lower_[pack] + least_[set ^ pack]);
      }
      if (more == 0) break;
    }
    const int size = __builtin_popcount(set);
    if (size <= max_tasks_) price(set);
    if (set % 256 == 0) check_interrupt();
  }

  // As a pack itself.  One that is no better than its parts is left out: lower_ stays infinite.
  void price(Set set) {
    const std::vector<int> tasks = members_of(set);
    double lower = pricer_.lower(tasks);
    for (Set left = set; left != 0; left &= left - 1) {
      const Set fewer = set ^ (left & (~left + 1));
      if (known_.size() > fewer && fewer != 0) lower = std::max(lower, known_[fewer]);
    }
    known_.resize(set + std::size_t{1}, 0);
    known_[set] = lower;
    if (!(lower < best_[set])) return;
    const std::int64_t share = kMostNodes / sets_;
    const Price found =
        pricer_.exact(tasks, best_[set], std::clamp(share, kFewestNodes, kEnoughNodes));
    known_[set] = std::max(lower, found.lower);
    if (found.cost < best_[set]) {
      cost_[set] = best_[set] = found.cost;
      pack_[set] = set;
    }
    // A set that was proved to cost no less than its parts is no better in a bound either.
    if (known_[set] < best_[set] || found.cost < kInfinity) {
      lower_[set] = std::min(known_[set], cost_[set]);
      least_[set] = std::min(least_[set], lower_[set]);
    }
  }

  int n_, max_tasks_;
  PackPricer pricer_;
  std::int64_t sets_ = 0;
  std::vector<double> cost_, lower_;  // of the set as a pack
  std::vector<double> best_, least_;  // of its best partition: the cost, and a lower bound
  std::vector<double> known_;         // lower bounds of all sets as packs
  std::vector<Set> pack_;             // of the set's lowest task, in its best partition
};

}  // namespace

ExactResult subsets(const Instance& instance, ExactResult fallback) {
  fallback.complete = finishes_within(std::nullopt, [&] {
    const Subsets programme(instance);
    PackTable table(instance);
    Coschedule best = without_deadline(
        [&] { return at_prices(instance, table, programme.packs(), 4 * kEnoughNodes); });
    if (fallback.coschedule.pack_of.empty() || best.cost < fallback.coschedule.cost)
      fallback.coschedule = std::move(best);
    const double cost = fallback.coschedule.cost;
    fallback.bound = std::max(fallback.bound, std::min(programme.bound(), cost));
    fallback.proved = fallback.bound >= cost * (1 - kExactTolerance);
  });
  return fallback;
}

}  // namespace cosched::packs::shared
