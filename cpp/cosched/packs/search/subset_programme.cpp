#include "cosched/packs/search/subset_programme.hpp"

#include <algorithm>
#include <bit>

#include "cosched/core/interrupt.hpp"
#include "cosched/packs/heuristic/candidate_costs.hpp"
#include "cosched/packs/model/task_set.hpp"

namespace cosched::packs::search {
namespace {

int lowest(TaskSet set) { return std::countr_zero(set); }

// costs()[S]: the cost of S as one pack; infinite where S has more than k tasks or does not fit.
class PackCosts {
 public:
  explicit PackCosts(const Instance& instance)
      : instance_(instance),
        costs_(std::size_t{1} << instance.tasks(), kInfinity),
        curves_(instance.max_tasks() + 1, std::vector<double>(instance.procs() + 1)) {
    add_supersets(0, 0, 0);
  }

  const std::vector<double>& costs() const { return costs_; }

 private:
  // Computes the costs of all sets that consist of `set` and tasks from `next` on.  `set` has
  // `count` tasks, and curves_[count][q] is its cost on q processors.
  void add_supersets(TaskSet set, int count, int next) {
    if (count == instance_.max_tasks()) return;
    if (next + 8 == instance_.tasks()) check_interrupt();
    for (int i = next; i < instance_.tasks(); ++i) {
      const TaskSet larger = set | TaskSet{1} << i;
      merge_curve(count, i);
      costs_[larger] = curves_[count + 1][instance_.procs()];
      add_supersets(larger, count + 1, i + 1);
    }
  }

  // curves_[count + 1] = curve of the first `count` tasks and task i: starting from one processor
  // each, the side with the longer time gets the next one.
  void merge_curve(int count, int i) {
    const double* t = instance_.times().row(i);
    const std::vector<double>& other_curve = curves_[count];
    std::vector<double>& curve = curves_[count + 1];
    if (count == 0) {
      std::copy(t, t + instance_.procs(), curve.begin() + 1);
      return;
    }
    for (int q = count + 1, task_procs = 1; q <= instance_.procs(); ++q) {
      const double a = other_curve[q - task_procs], b = t[task_procs - 1];
      curve[q] = std::max(a, b);
      task_procs += b > a;
    }
  }

  const Instance& instance_;
  std::vector<double> costs_;
  std::vector<std::vector<double>> curves_;
};

// best(S) for sets S by decreasing lowest task.  A pack is carried to the sets that contain it
//   - only where it costs less than the best partition of its tasks into more packs;
//   - only to sets without a task that the pack could hold at no cost: for other sets the larger
//     pack is at least as good.
// Few of the 2^n packs pass, and few sets get them.
class SubsetProgramme {
 public:
  explicit SubsetProgramme(const Instance& instance)
      : n_(instance.tasks()),
        max_tasks_(instance.max_tasks()),
        costs_(PackCosts(instance).costs()),
        best_cost_(costs_.size(), kInfinity),
        best_pack_(costs_.size(), 0) {
    best_cost_[0] = 0;
    for (int first = n_ - 1; first >= 0; --first) add_packs_of(first);
  }

  Packs packs() const {
    Packs packs;
    for (TaskSet uncovered = (TaskSet{1} << n_) - 1; uncovered != 0;
         uncovered ^= best_pack_[uncovered]) {
      packs.emplace_back();
      for (TaskSet pack_rest = best_pack_[uncovered]; pack_rest != 0; pack_rest &= pack_rest - 1)
        packs.back().push_back(lowest(pack_rest));
    }
    return packs;
  }

 private:
  // Carries all packs with lowest task `first`, subsets before their supersets.
  void add_packs_of(int first) {
    const TaskSet lowest_task = TaskSet{1} << first,
                  later_tasks = ((TaskSet{1} << n_) - 1) & ~((lowest_task << 1) - 1);
    for (TaskSet extra = 0;; extra = (extra - later_tasks) & later_tasks) {
      const TaskSet pack = lowest_task | extra;
      if (costs_[pack] < best_cost_[pack]) carry_pack(pack, later_tasks & ~extra);
      if (extra == later_tasks) return;
      if (extra % 4096 == 0) check_interrupt();
    }
  }

  void carry_pack(TaskSet pack, TaskSet other_tasks) {
    const double cost = costs_[pack];
    if (std::popcount(pack) < max_tasks_)
      for (TaskSet remaining = other_tasks; remaining != 0; remaining &= remaining - 1) {
        const TaskSet task_bit = remaining & (~remaining + 1);
        if (costs_[pack | task_bit] <= cost) other_tasks ^= task_bit;
      }
    for (TaskSet set = other_tasks;; set = (set - 1) & other_tasks) {
      const double sum = cost + best_cost_[set];
      if (sum < best_cost_[pack | set]) {
        best_cost_[pack | set] = sum;
        best_pack_[pack | set] = pack;
      }
      if (set == 0) break;
    }
    check_interrupt();
  }

  int n_, max_tasks_;
  std::vector<double> costs_, best_cost_;
  std::vector<TaskSet> best_pack_;  // of the set's lowest task, in its best partition
};

}  // namespace

Coschedule subset_programme(const Instance& instance) {
  require_unshared(instance, "packs::search::subset_programme");
  if (instance.tasks() > kMaxSubsetTasks)
    throw InvalidInstance("tasks = " + std::to_string(instance.tasks()) + ": expected at most " +
                          std::to_string(kMaxSubsetTasks) + " for the programme over subsets");
  return heuristic::with_optimal_procs(instance.times(), SubsetProgramme(instance).packs());
}

}  // namespace cosched::packs::search
