#include "cosched/packs/search/subset_programme.hpp"

#include <algorithm>
#include <cstdint>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/packs/heuristic/one_pack.hpp"

namespace cosched::packs::search {
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
  return heuristic::with_optimal_procs(instance.times(), Programme(instance).packs());
}

}  // namespace cosched::packs::search
