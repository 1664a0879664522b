#include "cosched/packs/subset_programme.hpp"

#include <algorithm>
#include <cstdint>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::packs {
namespace {

using Set = std::uint32_t;

int lowest(Set set) { return __builtin_ctz(set); }

// costs[S] = cost of S as one pack, infinite where S has more than k tasks.
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

// The members of `set` after its lowest, at most `size` of them, added to `pack` one at a time.
struct Best {
  double cost = kInfinity;
  Set pack = 0;
};

Best best_pack(Set set, int max_tasks, const std::vector<double>& costs,
               const std::vector<double>& best) {
  const Set first = set & (~set + 1);
  const Set others = set ^ first;
  Best result;
  for (Set extra = others;; extra = (extra - 1) & others) {
    if (__builtin_popcount(extra) < max_tasks) {
      const double cost = costs[first | extra] + best[others ^ extra];
      if (cost < result.cost) result = {cost, first | extra};
    }
    if (extra == 0) return result;
  }
}

}  // namespace

Coschedule subset_programme(const Instance& instance) {
  const int n = instance.tasks();
  const std::vector<double> costs = PackCosts(instance).all();
  std::vector<double> best(costs.size(), 0);
  for (Set set = 1; set < costs.size(); ++set) {
    best[set] = best_pack(set, instance.max_tasks(), costs, best).cost;
    if (set % 64 == 0) check_interrupt();
  }
  Packs packs;
  for (Set left = (Set{1} << n) - 1; left != 0;) {
    const Set pack = best_pack(left, instance.max_tasks(), costs, best).pack;
    packs.emplace_back();
    for (Set rest = pack; rest != 0; rest &= rest - 1) packs.back().push_back(lowest(rest));
    left ^= pack;
  }
  return with_optimal_procs(instance.times(), packs);
}

}  // namespace cosched::packs
