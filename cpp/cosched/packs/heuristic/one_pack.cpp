#include "cosched/packs/heuristic/one_pack.hpp"

namespace cosched::packs::heuristic {
namespace {

using std::to_string;

// Poll steps (a nanosecond each) of one processor given to the longest task.
constexpr std::int64_t kPollStepsPerSift = 8;

void require_pack(const Times& times, const std::vector<int>& tasks, int procs) {
  if (procs < 1 || procs > times.procs())
    throw InvalidInstance("procs = " + to_string(procs) + ": expected 1.." +
                          to_string(times.procs()));
  if (tasks.empty()) throw InvalidInstance("tasks is empty: expected at least one task");
  std::vector<char> is_listed(times.tasks(), 0);
  for (std::size_t k = 0; k < tasks.size(); ++k) {
    const std::string entry = "tasks[" + to_string(k) + "] = " + to_string(tasks[k]);
    if (tasks[k] < 0 || tasks[k] >= times.tasks())
      throw InvalidInstance(entry + ": expected 0.." + to_string(times.tasks() - 1));
    if (is_listed[tasks[k]]) throw InvalidInstance(entry + ": given twice");
    is_listed[tasks[k]] = 1;
  }
  long long need = 0;
  for (const int i : tasks) need += times.fewest(i);
  if (need > procs)
    throw InfeasibleError("a pack of " + to_string(tasks.size()) + " tasks, which need at least " +
                          to_string(need) + " processors, does not fit on " + to_string(procs));
}

}  // namespace

std::vector<int> one_pack(const Times& times, const std::vector<int>& tasks, int procs) {
  require_pack(times, tasks, procs);
  OnePackSolver solver(times);
  solver.solve(tasks.data(), static_cast<int>(tasks.size()), procs);
  std::vector<int> sigma = solver.procs();
  for (std::size_t k = 0; k < tasks.size(); ++k) sigma[k] = times.used(tasks[k], sigma[k]);
  return sigma;
}

double OnePackSolver::solve(const int* tasks, int count, int procs) {
  heap_.resize(count);
  procs_.assign(count, 1);
  for (int k = 0; k < count; ++k) heap_[k] = {times_->row(tasks[k])[0], tasks[k], k};
  for (int k = count / 2 - 1; k >= 0; --k) sift_down(k, heap_[k]);
  for (int remaining_procs = procs - count; remaining_procs > 0; --remaining_procs) {
    // The longest task gets a processor and sinks from the top: one replacement, not pop and push.
    HeapTask node = heap_[0];
    node.time = times_->row(node.task)[procs_[node.place]++];
    sift_down(0, node);
    poll_.count(kPollStepsPerSift);
  }
  return heap_[0].time;
}

// Sinks `node` from `hole` to its place.
void OnePackSolver::sift_down(int hole, HeapTask node) {
  const int size = static_cast<int>(heap_.size());
  for (int child = 2 * hole + 1; child < size; child = 2 * hole + 1) {
    if (child + 1 < size && precedes(heap_[child + 1], heap_[child])) ++child;
    if (!precedes(heap_[child], node)) break;
    heap_[hole] = heap_[child];
    hole = child;
  }
  heap_[hole] = node;
}

std::vector<int> one_pack_dynamic_programme(const Times& times, const std::vector<int>& tasks,
                                            int procs) {
  require_pack(times, tasks, procs);
  const int count = static_cast<int>(tasks.size());
  // c[q] after task i: least longest time of tasks 0..i on at most q processors.
  std::vector<double> c(procs + 1, 0), next(procs + 1);
  std::vector<int> choice(static_cast<std::size_t>(count) * (procs + 1), 0);
  for (int i = 0; i < count; ++i) {
    for (int q = 0; q <= procs; ++q) {
      next[q] = kInfinity;
      for (int task_procs = 1; task_procs <= q; ++task_procs) {
        const double longest =
            std::max(c[q - task_procs], times.measured_time(tasks[i], task_procs));
        if (longest < next[q]) {
          next[q] = longest;
          choice[static_cast<std::size_t>(i) * (procs + 1) + q] = task_procs;
        }
      }
      if (q % 256 == 0) check_interrupt();
    }
    c.swap(next);
  }
  std::vector<int> sigma(count);
  for (int i = count - 1, q = procs; i >= 0; --i) {
    sigma[i] = choice[static_cast<std::size_t>(i) * (procs + 1) + q];
    q -= sigma[i];
  }
  return sigma;
}

}  // namespace cosched::packs::heuristic
