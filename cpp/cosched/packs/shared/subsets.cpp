#include "cosched/packs/shared/subsets.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "cosched/core/assert.hpp"
#include "cosched/packs/model/task_set.hpp"
#include "cosched/packs/shared/pack_table.hpp"

namespace cosched::packs::shared {
namespace {

class Subsets {
 public:
  Subsets(const Instance& instance, const SubsetParams& params)
      : params_(params),
        n_(instance.tasks()),
        max_tasks_(instance.max_tasks()),
        pricer_(instance),
        cost_(std::size_t{1} << n_, kInfinity),
        lower_(cost_.size(), kInfinity),
        best_cost_(cost_.size(), kInfinity),
        best_lower_(cost_.size(), kInfinity),
        best_pack_(cost_.size(), 0) {
    for (TaskSet set = 1; set < cost_.size(); ++set)
      if (std::popcount(set) <= max_tasks_) ++sets_;
    cost_[0] = lower_[0] = best_cost_[0] = best_lower_[0] = 0;
    for (TaskSet set = 1; set < cost_.size(); ++set) add_set(set);
  }

  double bound() const { return best_lower_.back(); }
  Packs packs() const {
    Packs result;
    for (TaskSet uncovered = static_cast<TaskSet>(cost_.size()) - 1; uncovered != 0;
         uncovered ^= best_pack_[uncovered])
      result.push_back(members_of(best_pack_[uncovered]));
    return result;
  }

 private:
  static std::vector<int> members_of(TaskSet set) {
    std::vector<int> tasks;
    for (int i = 0; set != 0; ++i, set >>= 1)
      if (set & 1) tasks.push_back(i);
    return tasks;
  }

  void add_set(TaskSet set) {
    const TaskSet lowest_task = set & (~set + 1), rest = set ^ lowest_task;
    for (TaskSet extra = (rest - 1) & rest; rest != 0; extra = (extra - 1) & rest) {
      const TaskSet pack = lowest_task | extra;
      if (lower_[pack] < kInfinity) {
        const double sum = cost_[pack] + best_cost_[set ^ pack];
        if (sum < best_cost_[set]) {
          best_cost_[set] = sum;
          best_pack_[set] = pack;
        }
        best_lower_[set] = std::min(best_lower_[set], lower_[pack] + best_lower_[set ^ pack]);
      }
      if (extra == 0) break;
    }
    const int size = std::popcount(set);
    if (size <= max_tasks_) price_set(set);
    if (set % 256 == 0) check_interrupt();
  }

  // Prices a set as one pack.  A set that is no better than its best partition is left out: its
  // lower_ stays infinite.
  void price_set(TaskSet set) {
    const std::vector<int> tasks = members_of(set);
    double lower = pricer_.lower_bound(tasks);
    for (TaskSet remaining = set; remaining != 0; remaining &= remaining - 1) {
      const TaskSet fewer = set ^ (remaining & (~remaining + 1));
      if (known_lower_.size() > fewer && fewer != 0) lower = std::max(lower, known_lower_[fewer]);
    }
    known_lower_.resize(set + std::size_t{1}, 0);
    known_lower_[set] = lower;
    if (!(lower < best_cost_[set])) return;
    const std::int64_t share = params_.max_nodes / sets_;
    const PackPrice exact_price =
        pricer_.exact_price(tasks, best_cost_[set],
                            std::clamp(share, params_.min_price_nodes, params_.max_price_nodes));
    known_lower_[set] = std::max(lower, exact_price.lower_bound);
    if (exact_price.cost < best_cost_[set]) {
      cost_[set] = best_cost_[set] = exact_price.cost;
      best_pack_[set] = set;
    }
    // A set that is proved to cost no less than its best partition cannot lower the bound either.
    if (known_lower_[set] < best_cost_[set] || exact_price.cost < kInfinity) {
      lower_[set] = std::min(known_lower_[set], cost_[set]);
      best_lower_[set] = std::min(best_lower_[set], lower_[set]);
    }
  }

  SubsetParams params_;
  int n_, max_tasks_;
  PackPricer pricer_;
  std::int64_t sets_ = 0;
  std::vector<double> cost_, lower_;  // of the set as a pack
  std::vector<double> best_cost_,
      best_lower_;                   // of its best partition: the cost, and a lower bound
  std::vector<double> known_lower_;  // lower bounds of all sets as packs
  std::vector<TaskSet> best_pack_;   // of the set's lowest task, in its best partition
};

}  // namespace

ExactResult subsets(const Instance& instance, ExactResult fallback, const SubsetParams& params) {
  COSCHED_ASSERT(instance.tasks() <= kMaxSubsetTasks);
  fallback.is_complete = finishes_within(std::nullopt, [&] {
    const Subsets programme(instance, params);
    PackTable table(instance);
    Coschedule best = without_deadline([&] {
      return coschedule_at_prices(instance, table, programme.packs(), 4 * params.max_price_nodes);
    });
    if (fallback.coschedule.pack_of.empty() || best.cost < fallback.coschedule.cost)
      fallback.coschedule = std::move(best);
    const double cost = fallback.coschedule.cost;
    fallback.bound = std::max(fallback.bound, std::min(programme.bound(), cost));
    fallback.is_proved = fallback.bound >= cost * (1 - kExactTolerance);
  });
  return fallback;
}

}  // namespace cosched::packs::shared
