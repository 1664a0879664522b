#include "cosched/dags/list/dmda.hpp"

#include <functional>
#include <queue>
#include <set>
#include <tuple>

#include "cosched/core/interrupt.hpp"
#include "cosched/dags/list/data_arrival.hpp"

namespace cosched::dags::list {
namespace {

// The queue of a unit.
struct Worker {
  double queue_end = 0;       // expected end of its queue
  double queued_seconds = 0;  // of waiting tasks, with transfers that cannot be hidden
  bool is_running = false;
  std::set<std::tuple<double, int, int>> queue;  // (-priority, arrival, task); unused by dmda
};

// Units of a type in one memory: the one whose queue ends first is the best of them.
struct AlikeUnits {
  int type = 0;
  std::set<std::pair<double, int>> units;  // (end of the queue, unit)
};

class Dmda {
 public:
  // `priority`: null for dmda, whose queues are in order of arrival.
  Dmda(const Instance& instance, const std::vector<double>* priority, const DmdaWeights& weights)
      : instance_(instance),
        priority_(priority),
        weights_(weights),
        is_transfer_free_(instance.transfers().is_free()),
        plan_(instance.tasks()),
        missing_predecessors_(instance.tasks()),
        queued_time_(instance.tasks(), 0),
        workers_(instance.types()) {
    std::map<std::pair<int, std::int64_t>, int> number;
    for (int type = 0; type < instance.types(); ++type)
      for (int unit = 0; unit < useful_units(instance, type); ++unit) {
        const std::int64_t memory =
            is_transfer_free_ ? 0 : instance.transfers().memory({type, unit});
        const auto [entry, is_new] =
            number.emplace(std::pair(type, memory), static_cast<int>(alike_units_.size()));
        if (is_new) alike_units_.push_back({type, {}});
        alike_units_[entry->second].units.emplace(0, unit);
        group_of_unit_.resize(instance.types());
        group_of_unit_[type].push_back(entry->second);
        workers_[type].emplace_back();
      }
  }

  Plan run() {
    for (int task = 0; task < instance_.tasks(); ++task) {
      missing_predecessors_[task] = instance_.graph().predecessors(task).size();
      if (missing_predecessors_[task] == 0) assign_task(task, 0);
    }
    for (int steps = 0; !ends_.empty(); ++steps) {
      if (steps % 1024 == 0) check_interrupt();
      const double now = ends_.top().first;
      std::vector<int> ready;
      while (!ends_.empty() && ends_.top().first == now) {
        const int task = ends_.top().second;
        ends_.pop();
        if (priority_) start_next_task({plan_.kind[task], plan_.unit[task]}, now);
        for (const int next : instance_.graph().successors(task)) {
          --missing_predecessors_[next];
          if (missing_predecessors_[next] == 0) ready.push_back(next);
        }
      }
      std::sort(ready.begin(), ready.end());
      for (const int task : ready) assign_task(task, now);
    }
    return std::move(plan_);
  }

 private:
  void assign_task(int task, double now) {
    struct Expected {
      int group;
      double start, end, transfer_time;
    };
    std::vector<Expected> expectations;
    double least = kInfinity;
    for (int g = 0; g < static_cast<int>(alike_units_.size()); ++g) {
      const AlikeUnits& units = alike_units_[g];
      if (!instance_.can_run(task, units.type)) continue;
      const auto [until, unit] = *units.units.begin();
      const Place place{units.type, unit};
      const double start = std::max({now, until, data_arrival_at(instance_, plan_, task, place)});
      const double end = start + instance_.time(task, units.type);
      expectations.push_back({g, start, end, transfer_seconds(task, place)});
      least = std::min(least, end);
    }
    const auto rank = [&](const Expected& expected) {
      const AlikeUnits& alike = alike_units_[expected.group];
      return std::tuple(
          weights_.alpha * (expected.end - least) + weights_.beta * expected.transfer_time,
          -alike.type, *alike.units.begin());
    };
    const Expected best =
        *std::min_element(expectations.begin(), expectations.end(),
                          [&](const Expected& a, const Expected& b) { return rank(a) < rank(b); });
    AlikeUnits& units = alike_units_[best.group];
    const Place place{units.type, units.units.begin()->second};
    Worker& worker = workers_[place.type][place.unit];
    if (!priority_) {
      set_until(place, best.end);
      start_task(task, place, best.start);
      return;
    }
    queued_time_[task] = best.end - std::max(now, worker.queue_end);
    worker.queue.emplace(-(*priority_)[task], arrivals_++, task);
    worker.queued_seconds += queued_time_[task];
    set_until(place, best.end);
    if (!worker.is_running) start_next_task(place, now);
  }

  // Seconds of all transfers of a task to a unit together, as StarPU counts them.
  double transfer_seconds(int task, Place place) const {
    if (is_transfer_free_) return 0;
    const int* edge = instance_.transfers().in_edges(task);
    double sum = 0;
    for (const int before : instance_.graph().predecessors(task))
      sum += instance_.transfers().cost(*edge++, {plan_.kind[before], plan_.unit[before]}, place);
    return sum;
  }

  void set_until(Place place, double until) {
    AlikeUnits& alike = alike_units_[group_of_unit_[place.type][place.unit]];
    double& stored = workers_[place.type][place.unit].queue_end;
    alike.units.erase({stored, place.unit});
    stored = until;
    alike.units.emplace(stored, place.unit);
  }

  // Starts the first task of the queue of a unit that has become idle, and corrects the expected
  // end of the queue.
  void start_next_task(Place place, double now) {
    Worker& worker = workers_[place.type][place.unit];
    worker.is_running = !worker.queue.empty();
    if (!worker.is_running) return;
    const int task = std::get<2>(*worker.queue.begin());
    worker.queue.erase(worker.queue.begin());
    worker.queued_seconds = worker.queue.empty() ? 0 : worker.queued_seconds - queued_time_[task];
    start_task(task, place, std::max(now, data_arrival_at(instance_, plan_, task, place)));
    set_until(place, plan_.end[task] + worker.queued_seconds);
  }

  void start_task(int task, Place place, double start) {
    const double end = start + instance_.time(task, place.type);
    plan_.set(task, place.type, place.unit, start, end);
    ends_.emplace(end, task);
  }

  const Instance& instance_;
  const std::vector<double>* priority_;
  DmdaWeights weights_;
  bool is_transfer_free_;
  Plan plan_;
  std::vector<int> missing_predecessors_;  // predecessors that have not ended
  std::vector<double> queued_time_;        // seconds that each task has added to its queue
  std::vector<std::vector<Worker>> workers_;
  std::vector<AlikeUnits> alike_units_;
  std::vector<std::vector<int>> group_of_unit_;  // of each type and unit: index into alike_units_
  int arrivals_ = 0;
  using TaskEnd = std::pair<double, int>;
  std::priority_queue<TaskEnd, std::vector<TaskEnd>, std::greater<>> ends_;
};

void require_weights(const DmdaWeights& weights) {
  const auto is_valid = [](double weight) { return weight >= 0 && weight < kInfinity; };
  if (!is_valid(weights.alpha) || !is_valid(weights.beta))
    throw InvalidInstance("alpha = " + to_text(weights.alpha) +
                          ", beta = " + to_text(weights.beta) + ": expected finite numbers >= 0");
}

}  // namespace

Plan dmda(const Instance& instance, const DmdaWeights& weights) {
  require_weights(weights);
  return Dmda(instance, nullptr, weights).run();
}

Plan dmdas(const Instance& instance, const std::vector<double>& priority,
           const DmdaWeights& weights) {
  require_weights(weights);
  if (static_cast<int>(priority.size()) != instance.tasks())
    throw InvalidInstance("priority has " + std::to_string(priority.size()) +
                          " entries: expected one for each of the " +
                          std::to_string(instance.tasks()) + " tasks");
  for (std::size_t task = 0; task < priority.size(); ++task)
    if (!(priority[task] - priority[task] == 0))
      throw InvalidInstance("priority[" + std::to_string(task) + "] = " + to_text(priority[task]) +
                            ": expected a finite number");
  return Dmda(instance, &priority, weights).run();
}

}  // namespace cosched::dags::list
