#include "cosched/bags/search/annealing.hpp"

#include "cosched/core/assert.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/core/rng.hpp"

namespace cosched::bags::search {
namespace {

// Tasks one by one, each on a machine.
class TaskAssignment {
 public:
  TaskAssignment(const Instance& instance, const std::vector<TaskRun>& runs)
      : instance_(&instance) {
    const std::vector<int> first = list_machines(instance, machine_types_, numbers_in_type_);
    loads_.assign(machine_types_.size(), 0);
    tasks_on_machine_.resize(machine_types_.size());
    for (const auto& [i, j, k, n] : runs)
      for (std::int64_t copy = 0; copy < n; ++copy) {
        task_types_.push_back(i);
        machine_of_task_.push_back(-1);
        place_on_machine_.push_back(-1);
        put_task(static_cast<int>(task_types_.size()) - 1, first[j] + k);
      }
  }

  int tasks() const { return static_cast<int>(task_types_.size()); }
  int machines() const { return static_cast<int>(machine_types_.size()); }
  int machine_of(int task) const { return machine_of_task_[task]; }
  bool is_same_type(int a, int b) const { return task_types_[a] == task_types_[b]; }
  bool can_run(int task, int machine) const {
    return instance_->is_allowed(task_types_[task], machine_types_[machine]);
  }
  int longest_machine() const {
    return static_cast<int>(std::max_element(loads_.begin(), loads_.end()) - loads_.begin());
  }
  const std::vector<int>& tasks_on(int machine) const { return tasks_on_machine_[machine]; }

  double profit_rate() const {
    return instance_->profit_rate(
        joules_, std::max(loads_[longest_machine()], instance_->least_period(joules_)));
  }

  void move_task(int task, int machine) {
    take_task(task);
    put_task(task, machine);
  }

  std::vector<TaskRun> runs() const {
    std::vector<TaskRun> runs;
    for (int m = 0; m < machines(); ++m) {
      std::vector<std::int64_t> count(instance_->types(), 0);
      for (const int task : tasks_on_machine_[m]) ++count[task_types_[task]];
      const std::size_t begin = runs.size();
      for (int i = 0; i < instance_->types(); ++i)
        if (count[i] > 0) runs.push_back({i, machine_types_[m], numbers_in_type_[m], count[i]});
      std::stable_sort(runs.begin() + static_cast<std::ptrdiff_t>(begin), runs.end(),
                       [&](const TaskRun& a, const TaskRun& b) {
                         return instance_->etc(a.task_type, a.machine_type) >
                                instance_->etc(b.task_type, b.machine_type);
                       });
    }
    return runs;
  }

 private:
  void put_task(int task, int machine) {
    machine_of_task_[task] = machine;
    place_on_machine_[task] = static_cast<int>(tasks_on_machine_[machine].size());
    tasks_on_machine_[machine].push_back(task);
    add_to_sums(task, +1);
  }

  void take_task(int task) {
    add_to_sums(task, -1);
    std::vector<int>& tasks = tasks_on_machine_[machine_of_task_[task]];
    place_on_machine_[tasks.back()] = place_on_machine_[task];
    tasks[place_on_machine_[task]] = tasks.back();
    tasks.pop_back();
    // Sums that go up and down drift; those of an empty machine begin anew.
    if (tasks.empty()) loads_[machine_of_task_[task]] = 0;
  }

  void add_to_sums(int task, int sign) {
    const int i = task_types_[task], j = machine_types_[machine_of_task_[task]];
    loads_[machine_of_task_[task]] += sign * instance_->etc(i, j);
    joules_ += sign * instance_->joules(i, j);
  }

  const Instance* instance_;
  std::vector<int> machine_types_;    // of each machine
  std::vector<int> numbers_in_type_;  // of each machine: which of its type
  std::vector<double> loads_;         // of each machine
  std::vector<std::vector<int>> tasks_on_machine_;
  std::vector<int> task_types_;        // of each task
  std::vector<int> machine_of_task_;   // of each task
  std::vector<int> place_on_machine_;  // of each task: its index in tasks_on_machine_
  double joules_ = 0;
};

// One move: `task` goes to `machine`, and `returned_task` (-1: none) from there to where `task` was.
struct TaskMove {
  int task = -1, machine = -1, returned_task = -1;
};

TaskMove draw_move(const TaskAssignment& state, const TaskAnnealingParams& params, Rng& rng) {
  TaskMove move;
  const std::vector<int>& critical = state.tasks_on(state.longest_machine());
  const bool from_longest = rng.uniform() < params.longest_machine_share && !critical.empty();
  move.task = from_longest ? critical[rng.below(critical.size())]
                           : static_cast<int>(rng.below(state.tasks()));
  if (rng.uniform() < params.exchange_share) {
    move.returned_task = static_cast<int>(rng.below(state.tasks()));
    move.machine = state.machine_of(move.returned_task);
    if (state.is_same_type(move.task, move.returned_task)) return {};
    if (!state.can_run(move.returned_task, state.machine_of(move.task))) return {};
  } else {
    move.machine = static_cast<int>(rng.below(state.machines()));
  }
  if (move.machine == state.machine_of(move.task)) return {};
  return state.can_run(move.task, move.machine) ? move : TaskMove{};
}

void apply_move(TaskAssignment& state, const TaskMove& move) {
  const int from = state.machine_of(move.task);
  state.move_task(move.task, move.machine);
  if (move.returned_task >= 0) state.move_task(move.returned_task, from);
}

TaskMove reverse_move(const TaskAssignment& state, const TaskMove& move) {
  return {move.task, state.machine_of(move.task), move.returned_task};
}

}  // namespace

AnnealingResult anneal_plan(const Instance& instance, const BagPlan& start, std::int64_t moves,
                            std::uint64_t seed, const TaskAnnealingParams& params) {
  COSCHED_ASSERT(moves >= 1);
  const double idle_cost = instance.energy_cost() * instance.idle_power();
  TaskAssignment state(instance, start.runs);
  Rng rng(seed);
  Poll poll;
  std::vector<TaskRun> best_runs;
  double current_rate = start.profit_rate, best_rate = current_rate;
  double temperature = params.first_temperature *
                       std::abs(current_rate + idle_cost);  // idling costs every plan the same
  const double cooling = std::pow(params.last_temperature / params.first_temperature,
                                  1.0 / static_cast<double>(moves));
  const bool complete = finishes_within(std::nullopt, [&] {
    for (std::int64_t step = 0; step < moves; ++step, temperature *= cooling) {
      poll.count(params.move_steps);
      const TaskMove move = draw_move(state, params, rng);
      if (move.task < 0) continue;
      const TaskMove undo_move = reverse_move(state, move);
      apply_move(state, move);
      const double new_rate = state.profit_rate();
      if (new_rate < current_rate &&
          rng.uniform() >= std::exp((new_rate - current_rate) / temperature)) {
        apply_move(state, undo_move);
        continue;
      }
      current_rate = new_rate;
      if (leq(current_rate, best_rate, kLoadTolerance)) continue;
      best_rate = current_rate;
      best_runs = state.runs();
    }
  });
  if (best_runs.empty()) return {start, complete};
  BagPlan best =
      without_deadline([&] { return make_plan_of_runs(instance, std::move(best_runs)); });
  return {best.profit_rate > start.profit_rate ? best : start, complete};
}

}  // namespace cosched::bags::search
