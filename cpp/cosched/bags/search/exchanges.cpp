#include "cosched/bags/search/exchanges.hpp"

#include <queue>

#include "cosched/core/interrupt.hpp"

namespace cosched::bags::search {

// What makes an exchange good: loads up to `limit`, and a low score.
struct ExchangeState::ExchangeGoal {
  double limit;
  const std::vector<double>& price;  // joules a second on each machine type
  double penalty;                    // joules a second above the limit on `from`
};

ExchangeState::ExchangeState(const Instance& instance, const std::vector<TaskRun>& runs,
                             const ExchangeParams& params)
    : params_(params), instance_(&instance) {
  const std::vector<int> first = list_machines(instance, machine_types_, numbers_in_type_);
  loads_.assign(machine_types_.size(), 0);
  tasks_on_machine_.resize(machine_types_.size());
  for (const TaskRun& run : runs) {
    add_tasks(first[run.machine_type] + run.machine, run.task_type, run.count);
    joules_ += static_cast<double>(run.count) * instance.joules(run.task_type, run.machine_type);
  }
  for (int m = 0; m < machines(); ++m)
    for (const TaskCount& task_count : tasks_on_machine_[m])
      loads_[m] += static_cast<double>(task_count.count) *
                   instance.etc(task_count.task_type, machine_types_[m]);
}

double ExchangeState::makespan() const { return *std::max_element(loads_.begin(), loads_.end()); }

std::vector<TaskRun> ExchangeState::runs() const {
  std::vector<TaskRun> runs;
  for (int m = 0; m < machines(); ++m) {
    const std::size_t begin = runs.size();
    for (const TaskCount& task_count : tasks_on_machine_[m])
      runs.push_back(
          {task_count.task_type, machine_types_[m], numbers_in_type_[m], task_count.count});
    std::sort(runs.begin() + static_cast<std::ptrdiff_t>(begin), runs.end(),
              [&](const TaskRun& a, const TaskRun& b) {
                const double x = instance_->etc(a.task_type, machine_types_[m]);
                const double y = instance_->etc(b.task_type, machine_types_[m]);
                return x != y ? x > y : a.task_type < b.task_type;
              });
  }
  return runs;
}

void ExchangeState::add_tasks(int machine, int task_type, std::int64_t count) {
  std::vector<TaskCount>& task_count = tasks_on_machine_[machine];
  const auto place =
      std::find_if(task_count.begin(), task_count.end(),
                   [&](const TaskCount& holding) { return holding.task_type == task_type; });
  if (place == task_count.end()) {
    task_count.push_back({task_type, count});
  } else {
    place->count += count;
    if (place->count == 0) task_count.erase(place);
  }
}

double ExchangeState::seconds_on(const Bundle& bundle, int j) const {
  double sum = 0;
  if (bundle.first >= 0) sum += instance_->etc(bundle.first, j);
  if (bundle.second >= 0) sum += instance_->etc(bundle.second, j);
  return sum;
}

double ExchangeState::joules_on(const Bundle& bundle, int j) const {
  double sum = 0;
  if (bundle.first >= 0) sum += instance_->joules(bundle.first, j);
  if (bundle.second >= 0) sum += instance_->joules(bundle.second, j);
  return sum;
}

// Nothing, each task type, and with `most` = 2 each pair of tasks.
std::vector<ExchangeState::Bundle> ExchangeState::list_bundles(int machine, int max_tasks) const {
  std::vector<Bundle> runs{{}};
  const std::vector<TaskCount>& task_count = tasks_on_machine_[machine];
  for (const TaskCount& a : task_count) runs.push_back({a.task_type, -1, 0, 0});
  if (max_tasks > 1)
    for (std::size_t a = 0; a < task_count.size(); ++a)
      for (std::size_t b = a; b < task_count.size(); ++b)
        if (a != b || task_count[a].count > 1)
          runs.push_back({task_count[a].task_type, task_count[b].task_type, 0, 0});
  for (Bundle& bundle : runs) {
    bundle.seconds = seconds_on(bundle, machine_types_[machine]);
    bundle.joules = joules_on(bundle, machine_types_[machine]);
  }
  return runs;
}

// Improves `best` with the exchanges of `given` against what machine `to` holds.
void ExchangeState::consider_exchanges(int from, int to, const std::vector<Bundle>& sent_bundles,
                                       int max_tasks, const ExchangeGoal& goal,
                                       Exchange& best) const {
  const int j = machine_types_[from], k = machine_types_[to];
  Poll poll;
  for (const Bundle& received : list_bundles(to, max_tasks)) {
    poll.count(8 * static_cast<std::int64_t>(sent_bundles.size()));
    const double in_seconds = seconds_on(received, j);
    if (!(in_seconds < kInfinity)) continue;
    const double in_joules = joules_on(received, j) - received.joules;
    for (const Bundle& sent : sent_bundles) {
      const double new_from = loads_[from] - sent.seconds + in_seconds;
      if (new_from >= loads_[from]) continue;
      const double new_to = loads_[to] - received.seconds + seconds_on(sent, k);
      if (!(new_to <= goal.limit)) continue;
      const double joules = in_joules + joules_on(sent, k) - sent.joules;
      const double overload = std::max(new_from - goal.limit, 0.0);
      const double score = joules + goal.price[j] * (new_from - loads_[from]) +
                           goal.price[k] * (new_to - loads_[to]) + goal.penalty * overload;
      // Ties (all exchanges within a machine type): move no more load than is needed.
      if (score < best.score || (score == best.score && new_from > best.new_from))
        best = {from, to, sent, received, score, new_from, new_to};
    }
  }
}

ExchangeState::Exchange ExchangeState::find_best_exchange(int from, int max_tasks,
                                                          const ExchangeGoal& goal,
                                                          std::int64_t& work) {
  const std::vector<Bundle> sent_bundles = list_bundles(from, max_tasks);
  Exchange best;
  const int partners = std::min(machines(), params_.max_partners);
  for (int n = 0; n < partners && work > 0; ++n) {
    const int to = (next_partner_ + n) % machines();
    if (to == from) continue;
    consider_exchanges(from, to, sent_bundles, max_tasks, goal, best);
    work -= static_cast<std::int64_t>(sent_bundles.size() * (tasks_on_machine_[to].size() + 1));
  }
  if (partners < machines()) next_partner_ = (next_partner_ + partners) % machines();
  check_interrupt();
  return best;
}

void ExchangeState::apply_exchange(const Exchange& exchange) {
  const auto move = [&](const Bundle& bundle, int source, int target) {
    for (const int i : {bundle.first, bundle.second}) {
      if (i < 0) continue;
      add_tasks(source, i, -1);
      add_tasks(target, i, 1);
      joules_ += instance_->joules(i, machine_types_[target]) -
                 instance_->joules(i, machine_types_[source]);
    }
  };
  move(exchange.sent, exchange.from, exchange.to);
  move(exchange.received, exchange.to, exchange.from);
  loads_[exchange.from] = exchange.new_from;
  loads_[exchange.to] = exchange.new_to;
}

bool ExchangeState::lower_loads_to(double limit, const std::vector<double>& price, double penalty,
                                   std::int64_t& work) {
  limit *= 1 + kLoadTolerance;
  const ExchangeGoal goal{limit, price, penalty};
  std::priority_queue<std::pair<double, int>> overload;
  for (int m = 0; m < machines(); ++m)
    if (loads_[m] > limit) overload.emplace(loads_[m], -m);
  while (!overload.empty()) {
    if (work <= 0) return false;
    const int m = -overload.top().second;
    overload.pop();
    Exchange best = find_best_exchange(m, 1, goal, work);
    if (best.from < 0 || best.new_from > limit) best = find_best_exchange(m, 2, goal, work);
    if (best.from < 0 || best.score >= penalty * (loads_[m] - limit)) return false;
    apply_exchange(best);
    if (loads_[m] > limit) overload.emplace(loads_[m], -m);
  }
  return true;
}

}  // namespace cosched::bags::search
