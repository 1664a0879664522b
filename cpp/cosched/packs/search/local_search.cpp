#include "cosched/packs/search/local_search.hpp"

#include "cosched/core/annealing.hpp"
#include "cosched/core/order.hpp"
#include "cosched/core/rng.hpp"
#include "cosched/packs/heuristic/one_pack.hpp"
#include "cosched/packs/heuristic/pack_by_pack.hpp"
#include "cosched/packs/search/partition.hpp"

namespace cosched::packs::search {
namespace {

// Temperatures relative to the start's mean pack cost, found on Workloads II and III.
constexpr double kFirstTemperature = 0.015;
constexpr double kLastTemperature = 0.0001;
constexpr int kMovesAPoll = 1024;       // moves between changes of temperature
constexpr std::int64_t kMoveWork = 20;  // operations of a move beside those of the partition
constexpr std::int64_t kCheckInterval = 1'000'000;  // operations between looks at the clock
constexpr int kFewTasks = 12;  // up to here the subset programme takes milliseconds

// How often each kind of move is tried, of kKinds times.
constexpr int kKinds = 256;
constexpr int kNewPack = 4;          // a task to a pack of its own
constexpr int kOtherPack = 60;       // a task to the pack of any other
constexpr int kAnyExchange = 64;     // any two tasks
constexpr int kAlikeExchange = 128;  // a task and one that is alike
static_assert(kNewPack + kOtherPack + kAnyExchange + kAlikeExchange == kKinds);

// Two tasks are alike when so few others, or fewer, lie between them in the order of their times on
// p / kComparedPart processors.
constexpr int kWindow = 30;
constexpr int kComparedPart = 4;

// Moves that change nothing are taken one time in so many: they cost a rebuild each.
constexpr int kNeutralEvery = 4;

// -ln(u) for u in the middle of each of kAllowances equal parts of (0, 1): how much worse a move
// may be, in temperatures, so that it is accepted with the probability of Metropolis.
constexpr int kAllowances = 4096;
using Allowances = std::array<double, kAllowances>;
const Allowances& allowances() {
  static const Allowances table = [] {
    Allowances values{};
    for (std::size_t k = 0; k < values.size(); ++k)
      values[k] = -std::log((static_cast<double>(k) + 0.5) / static_cast<double>(values.size()));
    return values;
  }();
  return table;
}

class Annealing {
 public:
  Annealing(const Instance& instance, const Packs& start, std::uint64_t seed)
      : instance_(instance),
        n_(instance.tasks()),
        partition_(instance.times(), start),
        rng_(seed),
        best_(start) {
    double sum = 0;
    for (std::size_t pack = 0; pack < start.size(); ++pack)
      sum += partition_.cost(static_cast<int>(pack));
    cost_ = best_cost_ = sum;
    scale_ = sum / static_cast<double>(start.size());
    order_by_time();
  }

  // May be left by an exception of check_interrupt().
  void run(std::int64_t work, double enough) {
    const auto spent = [&] { return moves_ * kMoveWork + partition_.operations(); };
    const double coldest = kLastTemperature / kFirstTemperature;
    anneal(coldest, static_cast<double>(work), spent, [&](double warmth) {
      if (!(best_cost_ > enough)) return false;
      temperature_ = scale_ * kFirstTemperature * warmth;
      for (int k = 0; k < kMovesAPoll; ++k) {
        step();
        if (partition_.operations() - checked_ > kCheckInterval) check();
      }
      return true;
    });
  }

  Packs best() {
    keep_best();
    return best_;
  }

 private:
  void check() {
    checked_ = partition_.operations();
    check_interrupt();
  }

  void order_by_time() {
    const Times& times = instance_.times();
    const int few = (instance_.procs() + kComparedPart - 1) / kComparedPart;
    by_time_ = sorted_numbers(n_, [&](int i, int j) { return times(i, few) > times(j, few); });
    rank_.resize(n_);
    for (int r = 0; r < n_; ++r) rank_[by_time_[r]] = r;
  }

  // 32 random bits -> a number in [0, n).
  static int scaled(std::uint32_t bits, int n) {
    return static_cast<int>((bits * static_cast<std::uint64_t>(n)) >> 32);
  }

  // One random move, taken when it is not too much worse.
  void step() {
    ++moves_;
    const std::uint64_t tasks = rng_.bits(), choice = rng_.bits();
    const auto low = static_cast<std::uint32_t>(tasks);
    const auto high = static_cast<std::uint32_t>(tasks >> 32);
    const int i = scaled(low, n_);
    const double allowed = temperature_ * allowances()[choice % kAllowances];
    const auto kind = static_cast<int>(choice / kAllowances % kKinds);
    if (kind < kNewPack) {
      try_move(i, partition_.empty_place(), allowed);
    } else if (kind < kNewPack + kOtherPack) {
      try_move(i, partition_.pack_of(scaled(high, n_)), allowed);
    } else if (kind < kNewPack + kOtherPack + kAnyExchange) {
      try_exchange(i, scaled(high, n_), allowed);
    } else {
      const int r = rank_[i] - kWindow + scaled(high, 2 * kWindow + 1);
      if (r >= 0 && r < n_) try_exchange(i, by_time_[r], allowed);
    }
  }

  void try_move(int i, int pack, double allowed) {
    const int from = partition_.pack_of(i), size = partition_.size(pack);
    if (pack == from || size >= instance_.max_tasks()) return;
    if (size == 0 && partition_.size(from) == 1) return;
    const double saved = partition_.cost(from) - partition_.without(i) + partition_.cost(pack);
    if (partition_.least_with(i, size) > saved + allowed) return;
    const double change = partition_.with(pack, i) - saved;
    if (!acceptable(change, allowed)) return;
    keep_best_before(change);
    partition_.move(i, pack);
  }

  void try_exchange(int i, int j, double allowed) {
    const int pack_i = partition_.pack_of(i), pack_j = partition_.pack_of(j);
    if (pack_i == pack_j) return;
    // Most exchanges are of tasks too different: seen from one time each.
    const double saved = partition_.cost(pack_i) + partition_.cost(pack_j);
    const double least = partition_.least_with(j, partition_.size(pack_i) - 1) +
                         partition_.least_with(i, partition_.size(pack_j) - 1);
    if (least > saved + allowed) return;
    const double change = partition_.replaced(i, j) + partition_.replaced(j, i) - saved;
    if (!acceptable(change, allowed)) return;
    keep_best_before(change);
    partition_.exchange(i, j);
  }

  bool acceptable(double change, double allowed) {
    return change == 0 ? rng_.bits() % kNeutralEvery == 0 : change <= allowed;
  }

  void keep_best_before(double change) {
    if (change > 0) keep_best();
    cost_ += change;
  }

  void keep_best() {
    if (!(cost_ < best_cost_)) return;
    best_cost_ = cost_;
    best_ = partition_.packs();
  }

  const Instance& instance_;
  int n_;
  Partition partition_;
  Rng rng_;
  std::vector<int> by_time_, rank_;
  Packs best_;
  double cost_ = 0, best_cost_ = 0, scale_ = 0, temperature_ = 0;
  std::int64_t moves_ = 0, checked_ = 0;
};

void require_work(std::int64_t work) {
  if (work < 0)
    throw InvalidInstance("work = " + std::to_string(work) + ": expected a number >= 0");
}

// A cost that none is below.
double enough(const Instance& instance) {
  return std::max(area_bound(instance), longest_bound(instance)) * (1 + kMonotoneTolerance);
}

// Operations a task, of all tasks.
std::int64_t of_all(const Instance& instance, std::int64_t work) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  return work > most / instance.tasks() ? most : work * instance.tasks();
}

// The optimum, in milliseconds; `start` where it costs no more, or time ends.
SearchResult best_of_few(const Instance& instance, SearchResult start) {
  start.complete = finishes_within(std::nullopt, [&] {
    Coschedule best = subset_programme(instance);
    if (best.cost < start.coschedule.cost) start.coschedule = std::move(best);
    start.proved = true;
  });
  return start;
}

}  // namespace

std::int64_t default_work(int tasks) {
  return std::min(kLocalSearchWork, kLocalSearchTotalWork / std::max(1, tasks));
}

SearchResult first_schedule(const Instance& instance) {
  SearchResult start = heuristic::best_pack_by_pack(instance);
  if (!start.complete) return start;
  start.complete = finishes_within(std::nullopt, [&] {
    Coschedule other = heuristic::longest_first(instance);
    if (other.cost < start.coschedule.cost) start.coschedule = std::move(other);
  });
  return start;
}

SearchResult local_search(const Instance& instance, std::uint64_t seed,
                          std::optional<std::int64_t> given_work,
                          std::optional<double> time_limit) {
  require_unshared(instance, "packs::search::local_search");
  const std::int64_t work = given_work.value_or(default_work(instance.tasks()));
  require_work(work);
  const ScopedTimeLimit limit(time_limit);
  if (work == 0) return heuristic::best_pack_by_pack(instance);
  SearchResult start = first_schedule(instance);
  if (!start.complete) return start;
  if (instance.tasks() <= kFewTasks) return best_of_few(instance, std::move(start));
  return local_search_from(instance, members(start.coschedule.pack_of), seed, work, std::nullopt);
}

SearchResult local_search_from(const Instance& instance, const Packs& start, std::uint64_t seed,
                               std::int64_t work, std::optional<double> time_limit,
                               const AfterRound& after_round) {
  require_unshared(instance, "packs::search::local_search_from");
  require_work(work);
  SearchResult best;
  const auto offer = [&](const Packs& packs) {
    Coschedule found =
        without_deadline([&] { return heuristic::with_optimal_procs(instance.times(), packs); });
    if (best.coschedule.pack_of.empty() || found.cost < best.coschedule.cost)
      best.coschedule = std::move(found);
    best.proved = instance.max_tasks() == 1 || best.coschedule.cost <= enough(instance);
  };
  offer(start);
  best.complete = finishes_within(time_limit, [&] {
    GrowingRounds(default_work(instance.tasks())).run(work, [&](std::int64_t part, int number) {
      if (best.proved) return false;
      const double cost_before = best.coschedule.cost;
      Annealing annealing(instance, members(best.coschedule.pack_of), seed + number);
      const bool ended = finishes_within(
          std::nullopt, [&] { annealing.run(of_all(instance, part), enough(instance)); });
      offer(annealing.best());
      if (!ended) check_interrupt();
      if (best.proved || !after_round) return !best.proved;
      return after_round(best, best.coschedule.cost < cost_before, number);
    });
  });
  return best;
}

namespace {

using Set = std::uint32_t;

int lowest(Set set) { return __builtin_ctz(set); }

// costs[S] = cost of S as one pack, infinite where S has more than k tasks or does not fit.
class PackCosts {
 public:
  explicit PackCosts(const Instance& instance)
      : instance_(instance),
        costs_(std::size_t{1} << instance.tasks(), kInfinity),
        curves_(instance.max_tasks() + 1, std::vector<double>(instance.procs() + 1)) {
    grow(0, 0, 0);
  }

  const std::vector<double>& all() const { return costs_; }

 private:
  // Adds to `set` (`count` tasks; curves_[count][q] = its cost on q processors) each task from
  // `next` on.
  void grow(Set set, int count, int next) {
    if (count == instance_.max_tasks()) return;
    if (next + 8 == instance_.tasks()) check_interrupt();
    for (int i = next; i < instance_.tasks(); ++i) {
      const Set larger = set | Set{1} << i;
      merge(count, i);
      costs_[larger] = curves_[count + 1][instance_.procs()];
      grow(larger, count + 1, i + 1);
    }
  }

  // curves_[count + 1] = curve of the first `count` tasks and task i: starting from one processor
  // each, the side with the longer time gets the next one.
  void merge(int count, int i) {
    const double* t = instance_.times().row(i);
    const std::vector<double>& others = curves_[count];
    std::vector<double>& curve = curves_[count + 1];
    if (count == 0) {
      std::copy(t, t + instance_.procs(), curve.begin() + 1);
      return;
    }
    for (int q = count + 1, own = 1; q <= instance_.procs(); ++q) {
      const double a = others[q - own], b = t[own - 1];
      curve[q] = std::max(a, b);
      own += b > a;
    }
  }

  const Instance& instance_;
  std::vector<double> costs_;
  std::vector<std::vector<double>> curves_;
};

// best(S) for sets S by decreasing lowest task.  A pack is carried to the sets that hold it:
//   - only when it costs less than the best of its own tasks without it, else a split is as good;
//   - only to sets without a task that the pack could take in at no cost: such sets lose nothing by
//     waiting for the larger pack.
// Few of the 2^n packs pass, and then to few sets.
class Programme {
 public:
  explicit Programme(const Instance& instance)
      : n_(instance.tasks()),
        max_tasks_(instance.max_tasks()),
        costs_(PackCosts(instance).all()),
        best_(costs_.size(), kInfinity),
        pack_(costs_.size(), 0) {
    best_[0] = 0;
    for (int first = n_ - 1; first >= 0; --first) add_packs_of(first);
  }

  Packs packs() const {
    Packs packs;
    for (Set left = (Set{1} << n_) - 1; left != 0; left ^= pack_[left]) {
      packs.emplace_back();
      for (Set rest = pack_[left]; rest != 0; rest &= rest - 1)
        packs.back().push_back(lowest(rest));
    }
    return packs;
  }

 private:
  // Packs with lowest task `first`, subsets before the sets that hold them.
  void add_packs_of(int first) {
    const Set own = Set{1} << first, later = ((Set{1} << n_) - 1) & ~((own << 1) - 1);
    for (Set extra = 0;; extra = (extra - later) & later) {
      const Set pack = own | extra;
      if (costs_[pack] < best_[pack]) carry(pack, later & ~extra);
      if (extra == later) return;
      if (extra % 4096 == 0) check_interrupt();
    }
  }

  void carry(Set pack, Set others) {
    const double cost = costs_[pack];
    if (__builtin_popcount(pack) < max_tasks_)
      for (Set rest = others; rest != 0; rest &= rest - 1) {
        const Set one = rest & (~rest + 1);
        if (costs_[pack | one] <= cost) others ^= one;
      }
    for (Set set = others;; set = (set - 1) & others) {
      const double sum = cost + best_[set];
      if (sum < best_[pack | set]) {
        best_[pack | set] = sum;
        pack_[pack | set] = pack;
      }
      if (set == 0) break;
    }
    check_interrupt();
  }

  int n_, max_tasks_;
  std::vector<double> costs_, best_;
  std::vector<Set> pack_;  // of the set's lowest task, in its best partition
};

}  // namespace

Coschedule subset_programme(const Instance& instance) {
  require_unshared(instance, "packs::search::subset_programme");
  if (instance.tasks() > kMostSubsetTasks)
    throw InvalidInstance("tasks = " + std::to_string(instance.tasks()) + ": expected at most " +
                          std::to_string(kMostSubsetTasks) + " for the programme over subsets");
  return heuristic::with_optimal_procs(instance.times(), Programme(instance).packs());
}

}  // namespace cosched::packs::search
