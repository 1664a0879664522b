#include "cosched/dags/search/place_search.hpp"

#include "cosched/core/interrupt.hpp"
#include "cosched/dags/list/heft.hpp"
#include "cosched/dags/list/peft.hpp"
#include "cosched/dags/list/ranks.hpp"

namespace cosched::dags::search {

PlaceSearch::PlaceSearch(const Instance& instance, const Plan& plan, std::uint64_t seed)
    : instance_(instance),
      decoder_(instance),
      reinsertion_(instance, decoder_),
      rng_(seed),
      optimistic_costs_(list::optimistic_costs(instance)),
      mean_times_(list::mean_times(instance)),
      current_makespan_(plan.makespan()),
      best_makespan_(current_makespan_),
      position_(instance.tasks()) {
  double data = 0;
  for (int edge = 0; edge < instance.graph().edges(); ++edge)
    data += instance.transfers().mean_cost(edge);
  const double time = std::accumulate(mean_times_.begin(), mean_times_.end(), 0.0);
  if (data * instance.tasks() < 0.5 * time * instance.graph().edges())
    displacement_share_ = params_.displacement_share;
  current_ = candidate_of(plan);
  best_ = current_;
  const double decoded = decoder_.decode(current_.order, current_.units, false);
  if (instance.transfers().has_memory_limits()) {
    current_makespan_ = decoded;
    best_makespan_ = decoded;
  }
  deciding_chain_ = decoder_.deciding_chain(current_.units);
}

void PlaceSearch::run(std::int64_t evaluations,
                      const std::function<bool(const Plan&)>& on_better_plan) {
  PlacedOrder next;
  const std::int64_t patience = 50 + 5LL * std::min(instance_.tasks(), 300);
  if (should_reset_heat_) reset_heat();
  should_reset_heat_ = false;
  while (schedules_built_ < evaluations) {
    check_interrupt();
    if (moves_in_vain_ > patience) {
      restart();
      reset_heat();
    } else {
      const double limit = current_makespan_ * (1 + heat_ * rng_.uniform());
      const double makespan = move(next, limit);
      moves_in_vain_ = makespan < lowest_makespan_ ? 0 : moves_in_vain_ + 1;
      lowest_makespan_ = std::min(lowest_makespan_, makespan);
      heat_ *= params_.cooling;
      if (makespan > limit) continue;
      accept(next, makespan);
    }
    if (current_makespan_ >= best_makespan_) continue;
    best_ = current_;
    best_makespan_ = current_makespan_;
    if (!on_better_plan(decoder_.plan(current_.units))) return;
  }
}

void PlaceSearch::search_cooling(std::int64_t evaluations, std::int64_t max_schedules, double heat,
                                 const std::function<bool(const Plan&)>& on_better_plan) {
  should_reset_heat_ = true;
  accept(best_, decode(best_));
  PlacedOrder next;
  const std::int64_t built_before = schedules_built_;
  while (schedules_built_ < built_before + std::min(evaluations, max_schedules)) {
    check_interrupt();
    const double remaining_share =
        1 - static_cast<double>(schedules_built_ - built_before) / static_cast<double>(evaluations);
    const double limit =
        current_makespan_ * (1 + heat * std::max(0.0, remaining_share) * rng_.uniform());
    const double makespan = move(next, limit);
    if (makespan > limit) continue;
    accept(next, makespan);
    if (makespan >= best_makespan_) continue;
    best_ = current_;
    best_makespan_ = makespan;
    if (!on_better_plan(decoder_.plan(current_.units))) return;
  }
}

// Changes a copy of the current schedule, and decodes it if its paths are within the limit; returns
// its makespan, infinity if they are not.
double PlaceSearch::move(PlacedOrder& next, double limit) {
  next = current_;
  if (change_candidate(next, limit)) return decode(next);
  ++schedules_built_;
  return kInfinity;
}

double PlaceSearch::decode(const PlacedOrder& candidate) {
  const bool justify = rng_.uniform() < params_.justified_share;
  schedules_built_ += justify ? 3 : 1;
  return decoder_.decode(candidate.order, candidate.units, justify);
}

// Makes the decoded candidate the current one, in the order of its starts.
void PlaceSearch::accept(const PlacedOrder& candidate, double makespan) {
  current_ = {decoder_.order_by_start(), candidate.units};
  current_makespan_ = makespan;
  deciding_chain_ = decoder_.deciding_chain(current_.units);
}

// Restarts from the best or, more rarely, from all tasks on one unit, after a few moves; otherwise
// from a heuristic with noise.
void PlaceSearch::restart() {
  const double share = rng_.uniform();
  const bool rebuilds = share >= params_.best_restart_share + params_.one_unit_restart_share;
  PlacedOrder candidate = share < params_.best_restart_share ? best_
                          : rebuilds                         ? rebuild()
                                                             : place_on_one_unit();
  for (int k = 0; k < params_.restart_moves && !rebuilds; ++k)
    change_candidate(candidate, kInfinity);
  accept(candidate, decode(candidate));
}

void PlaceSearch::reset_heat() {
  moves_in_vain_ = 0;
  heat_ = params_.restart_heat;
  lowest_makespan_ = current_makespan_;
}

// HEFT or PEFT by ranks with noise in times and transfers.
PlaceSearch::PlacedOrder PlaceSearch::rebuild() {
  const TaskGraph& graph = instance_.graph();
  const double noise = rng_.uniform(), transfer_factor = 2 * rng_.uniform();
  const double lookahead = rng_.uniform() < 0.5 ? 0 : rng_.uniform();
  std::vector<double> rank(graph.tasks());
  for (auto task_position = graph.order().rbegin(); task_position != graph.order().rend();
       ++task_position) {
    double rest_of_path = 0;
    int edge = instance_.transfers().first_out_edge(*task_position);
    for (const int next : graph.successors(*task_position))
      rest_of_path = std::max(
          rest_of_path, transfer_factor * instance_.transfers().mean_cost(edge++) + rank[next]);
    rank[*task_position] =
        mean_times_[*task_position] * (1 + noise * (2 * rng_.uniform() - 1)) + rest_of_path;
  }
  PlacedOrder candidate{graph.order(), std::vector<int>(graph.tasks())};
  std::stable_sort(candidate.order.begin(), candidate.order.end(),
                   [&](int a, int b) { return rank[a] > rank[b]; });
  list::Insertion insertion(instance_);
  for (const int task : candidate.order) {
    list::TaskSlot best;
    double least = kInfinity;
    for (int type = 0; type < instance_.types(); ++type) {
      if (!instance_.can_run(task, type)) continue;
      const list::TaskSlot choice = insertion.best_slot_on(task, type);
      if (choice.end + lookahead * optimistic_costs_(task, type) >= least) continue;
      least = choice.end + lookahead * optimistic_costs_(task, type);
      best = choice;
    }
    insertion.place(task, best);
    candidate.units[task] = decoder_.numbers().number({best.type, best.unit});
  }
  return candidate;
}

// All tasks that can run there on one unit.
PlaceSearch::PlacedOrder PlaceSearch::place_on_one_unit() {
  const Plan plan =
      list::schedule_on_one_unit(instance_, static_cast<int>(rng_.below(instance_.types())));
  return candidate_of(plan);
}

PlaceSearch::PlacedOrder PlaceSearch::candidate_of(const Plan& plan) {
  PlacedOrder candidate{instance_.graph().order(), {}};
  for (int k = 0; k < instance_.tasks(); ++k) position_[candidate.order[k]] = k;
  std::sort(candidate.order.begin(), candidate.order.end(), [&](int a, int b) {
    return std::tuple(plan.start[a], plan.end[a], position_[a]) <
           std::tuple(plan.start[b], plan.end[b], position_[b]);
  });
  for (int task = 0; task < instance_.tasks(); ++task)
    candidate.units.push_back(decoder_.numbers().number({plan.kind[task], plan.unit[task]}));
  return candidate;
}

// Removes some tasks and inserts them again one by one, in their order or from the last to the
// first. Returns false where a path is longer than the limit.
bool PlaceSearch::change_candidate(PlacedOrder& candidate, double limit) {
  for (int k = 0; k < instance_.tasks(); ++k) position_[candidate.order[k]] = k;
  removed_tasks_.assign(1, {random_task(), -1});
  const int target_unit = static_cast<int>(rng_.below(decoder_.numbers().count()));
  const double kind = rng_.uniform();
  if (kind < params_.exchange_share &&
      !share_memory(candidate.units[removed_tasks_.front().task], target_unit))
    exchange_memories(candidate, target_unit);
  else if (kind <= 1 - displacement_share_ || !remove_displaced_tasks(candidate, target_unit))
    remove_related_tasks(candidate.order);
  // A task that displaces others is inserted before them.
  const auto first = removed_tasks_.begin() +
                     (removed_tasks_.front().unit >= 0 && kind > 1 - displacement_share_ ? 1 : 0);
  std::sort(first, removed_tasks_.end(), [&](const RemovedTask& a, const RemovedTask& b) {
    return position_[a.task] < position_[b.task];
  });
  if (rng_.uniform() < 0.5) std::reverse(first, removed_tasks_.end());
  for (const RemovedTask& removed : removed_tasks_) candidate.units[removed.task] = -1;
  for (const RemovedTask& removed : removed_tasks_)
    if (reinsertion_.insert(removed.task, removed.unit, params_.blink_share, rng_, candidate.order,
                            candidate.units) > limit)
      return false;
  return true;
}

// Adds to the removed tasks others that data joins to them or that are near in the order, to be
// inserted anywhere.
void PlaceSearch::remove_related_tasks(const std::vector<int>& order) {
  const int n = instance_.tasks();
  const int max_tasks = 1 + static_cast<int>(rng_.below(params_.max_removed_tasks));
  for (int tries = 0;
       static_cast<int>(removed_tasks_.size()) < max_tasks && tries < 2 * params_.max_removed_tasks;
       ++tries) {
    const int from = removed_tasks_[rng_.below(removed_tasks_.size())].task;
    const int place = position_[from] +
                      static_cast<int>(rng_.below(2 * params_.max_order_distance + 1)) -
                      params_.max_order_distance;
    const int next = rng_.uniform() < params_.data_neighbour_share ? random_neighbour(from)
                     : place >= 0 && place < n                     ? order[place]
                                                                   : -1;
    if (next >= 0) add_removed(next, -1);
  }
}

// Moves the removed task to the target unit, and removes the tasks that this unit runs after it,
// for as long as it takes there.  Returns false where it runs there already, or cannot.
bool PlaceSearch::remove_displaced_tasks(const PlacedOrder& candidate, int target_unit) {
  const int task = removed_tasks_.front().task, type = decoder_.numbers().place(target_unit).type;
  if (candidate.units[task] == target_unit || !instance_.can_run(task, type)) return false;
  removed_tasks_.front().unit = target_unit;
  double displaced_time = 0;
  for (int k = position_[task] + 1;
       k < instance_.tasks() && displaced_time < instance_.time(task, type) &&
       static_cast<int>(removed_tasks_.size()) <= params_.max_displaced_tasks;
       ++k) {
    const int next = candidate.order[k];
    if (candidate.units[next] != target_unit) continue;
    displaced_time += instance_.time(next, type);
    removed_tasks_.push_back({next, -1});
  }
  return true;
}

// Moves tasks of one memory that data joins to the memory of the target unit, and mostly others
// from there back.
void PlaceSearch::exchange_memories(const PlacedOrder& candidate, int target_unit) {
  const int source_unit = candidate.units[removed_tasks_.front().task], n = instance_.tasks();
  const int max_tasks = 1 + static_cast<int>(rng_.below(params_.max_removed_tasks));
  remove_joined_tasks(candidate, source_unit, target_unit, max_tasks);
  if (rng_.uniform() >= params_.return_share) return;
  const int from = static_cast<int>(rng_.below(n));
  for (int k = 0; k < n; ++k)
    if (const int task = candidate.order[(from + k) % n];
        share_memory(candidate.units[task], target_unit)) {
      removed_tasks_.push_back({task, source_unit});
      return remove_joined_tasks(candidate, target_unit, source_unit, max_tasks);
    }
}

// Moves the last removed task from the memory of `from` to that of `to`, and with it tasks of the
// same memory that data joins, at most `max_tasks` in all.
void PlaceSearch::remove_joined_tasks(const PlacedOrder& candidate, int from, int to,
                                      int max_tasks) {
  const std::size_t begin = removed_tasks_.size() - 1;
  removed_tasks_.back().unit = to;
  for (int tries = 1; tries < 2 * max_tasks; ++tries) {
    const RemovedTask& origin = removed_tasks_[begin + rng_.below(removed_tasks_.size() - begin)];
    const int next = random_neighbour(origin.task);
    if (next >= 0 && share_memory(candidate.units[next], from) &&
        static_cast<int>(removed_tasks_.size() - begin) < max_tasks)
      add_removed(next, to);
  }
}

void PlaceSearch::add_removed(int task, int unit) {
  if (std::none_of(removed_tasks_.begin(), removed_tasks_.end(),
                   [&](const RemovedTask& other) { return other.task == task; }))
    removed_tasks_.push_back({task, unit});
}

int PlaceSearch::random_task() {
  return rng_.uniform() < params_.deciding_task_share
             ? deciding_chain_[rng_.below(deciding_chain_.size())]
             : static_cast<int>(rng_.below(instance_.tasks()));
}

int PlaceSearch::random_neighbour(int task) {
  const TaskGraph::TaskRange before = instance_.graph().predecessors(task);
  const TaskGraph::TaskRange after = instance_.graph().successors(task);
  if (before.size() + after.size() == 0) return -1;
  const int k = static_cast<int>(rng_.below(before.size() + after.size()));
  return k < before.size() ? before.first[k] : after.first[k - before.size()];
}

}  // namespace cosched::dags::search
