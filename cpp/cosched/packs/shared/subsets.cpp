#include "cosched/packs/shared/subsets.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "cosched/core/interrupt.hpp"
#include "cosched/packs/shared/pack_table.hpp"

namespace cosched::packs::shared {
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
    Coschedule best =
        unhurried([&] { return at_prices(instance, table, programme.packs(), 4 * kEnoughNodes); });
    if (fallback.coschedule.pack_of.empty() || best.cost < fallback.coschedule.cost)
      fallback.coschedule = std::move(best);
    const double cost = fallback.coschedule.cost;
    fallback.bound = std::max(fallback.bound, std::min(programme.bound(), cost));
    fallback.proved = fallback.bound >= cost * (1 - kExactTolerance);
  });
  return fallback;
}

}  // namespace cosched::packs::shared
