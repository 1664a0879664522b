#include "cosched/dags/search/order_search.hpp"

#include "cosched/core/interrupt.hpp"
#include "cosched/dags/model/paths.hpp"

namespace cosched::dags::search {

OrderSearch::OrderSearch(const Instance& instance, const Plan& plan, std::vector<int> movable,
                         std::uint64_t seed)
    : instance_(instance),
      decoder_(instance),
      rng_(seed),
      movable_tasks_(std::move(movable)),
      current_{order_of(instance, plan), plan.kind},
      best_(current_),
      current_makespan_(plan.makespan()),
      best_makespan_(current_makespan_),
      deciding_chain_(deciding_chain(instance, plan.kind, plan.start, plan.end)),
      position_(instance.tasks()) {
  for (int task = 0; task < instance.tasks() && !has_type_choices_; ++task) {
    int types = 0;
    for (int type = 0; type < instance.types(); ++type) types += instance.can_run(task, type);
    has_type_choices_ = types > 1;
  }
}

void OrderSearch::run(std::int64_t evaluations,
                      const std::function<bool(const Plan&)>& on_better_plan) {
  const std::int64_t patience = 30 + 3LL * std::min(instance_.tasks(), 300);
  std::int64_t moves_in_vain = 0;
  while (schedules_built_ < evaluations) {
    check_interrupt();
    if (moves_in_vain > patience) {
      restart();
      moves_in_vain = 0;
    }
    TypedOrder next = current_;
    if (!change_candidate(next)) {
      ++schedules_built_;
      continue;
    }
    const double makespan = decode(next, rng_.uniform() < params_.list_moves);
    moves_in_vain = makespan < current_makespan_ ? 0 : moves_in_vain + 1;
    if (makespan <= current_makespan_ && !accept(next, makespan, on_better_plan)) return;
  }
}

void OrderSearch::search_cooling(std::int64_t evaluations, std::int64_t max_schedules, double heat,
                                 const std::function<bool(const Plan&)>& on_better_plan) {
  current_ = best_;
  current_makespan_ = decode(current_, false);
  const std::int64_t built_before = schedules_built_;
  while (schedules_built_ < built_before + std::min(evaluations, max_schedules)) {
    check_interrupt();
    TypedOrder next = current_;
    if (!change_candidate(next)) {
      ++schedules_built_;
      continue;
    }
    const double makespan = decode(next, rng_.uniform() < params_.list_moves);
    const double remaining_share =
        1 - static_cast<double>(schedules_built_ - built_before) / static_cast<double>(evaluations);
    const double longest =
        current_makespan_ * (1 + heat * std::max(0.0, remaining_share) * rng_.uniform());
    if (makespan <= longest && !accept(next, makespan, on_better_plan)) return;
  }
}

std::vector<int> OrderSearch::order_of(const Instance& instance, const Plan& plan) {
  std::vector<int> place(instance.tasks()), order(instance.graph().order());
  for (int k = 0; k < instance.tasks(); ++k) place[order[k]] = k;
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return std::pair(plan.start[a], place[a]) < std::pair(plan.start[b], place[b]);
  });
  return order;
}

double OrderSearch::decode(const TypedOrder& candidate, bool uses_list) {
  if (uses_list || instance_.tasks() > params_.max_serial_tasks) {
    ++schedules_built_;
    return decoder_.decode_list(candidate.order, candidate.allocation);
  }
  schedules_built_ += 3;
  return decoder_.decode_serial(candidate.order, candidate.allocation, true);
}

// Changes the order or some types; returns false where nothing has changed.
bool OrderSearch::change_candidate(TypedOrder& candidate) {
  if (has_type_choices_ && rng_.uniform() < params_.type_moves) return change_types(candidate);
  do move_task_in_order(instance_.graph(), deciding_chain_, candidate.order, position_, rng_);
  while (rng_.uniform() < 0.5);
  return true;
}

// Gives one task, or more with decreasing probability, another type that can run it.
bool OrderSearch::change_types(TypedOrder& candidate) {
  bool any_changed = false;
  do {
    const bool takes_deciding_task =
        movable_tasks_.empty() || rng_.uniform() < params_.deciding_task_share;
    const std::vector<int>& candidate_tasks =
        takes_deciding_task ? deciding_chain_ : movable_tasks_;
    const int task = candidate_tasks[rng_.below(candidate_tasks.size())];
    std::vector<int> other_types;
    for (int type = 0; type < instance_.types(); ++type)
      if (type != candidate.allocation[task] && instance_.can_run(task, type))
        other_types.push_back(type);
    if (other_types.empty()) continue;
    candidate.allocation[task] = other_types[rng_.below(other_types.size())];
    any_changed = true;
  } while (rng_.uniform() < params_.another_type_share);
  return any_changed;
}

// Restarts from the best after a few moves, or, half of the time, from ranks with noise.
void OrderSearch::restart() {
  const bool from_best = rng_.uniform() < 0.5;
  current_ = from_best ? best_ : make_shuffled();
  if (from_best)
    for (int k = 0; k < 4; ++k) change_candidate(current_);
  current_makespan_ = decode(current_, false);
  current_.order = decoder_.order_by_start();
  deciding_chain_ =
      deciding_chain(instance_, current_.allocation, decoder_.start(), decoder_.end());
}

TypedOrder OrderSearch::make_shuffled() {
  TypedOrder candidate = best_;
  if (has_type_choices_) {
    const int changes = 1 + instance_.tasks() / 20;
    for (int k = 0; k < changes; ++k) {
      const int task = static_cast<int>(rng_.below(instance_.tasks()));
      const int type = static_cast<int>(rng_.below(instance_.types()));
      if (instance_.can_run(task, type)) candidate.allocation[task] = type;
    }
  }
  candidate.order = order_by_noisy_rank(candidate.allocation, rng_.uniform());
  return candidate;
}

// The tasks by decreasing ranks under the allocation, with times that vary by up to the share
// `noise`.
std::vector<int> OrderSearch::order_by_noisy_rank(const Allocation& allocation, double noise) {
  std::vector<double> duration(instance_.tasks());
  for (int task = 0; task < instance_.tasks(); ++task)
    duration[task] =
        instance_.time(task, allocation[task]) * (1 + noise * (2 * rng_.uniform() - 1));
  const std::vector<double> rank = compute_ranks(instance_.graph(), duration);
  std::vector<int> order = instance_.graph().order();
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return rank[a] > rank[b]; });
  return order;
}

// Makes the decoded candidate the current one, in the order of its starts; returns false where the
// search is to end.
bool OrderSearch::accept(const TypedOrder& candidate, double makespan,
                         const std::function<bool(const Plan&)>& on_better_plan) {
  current_ = {decoder_.order_by_start(), candidate.allocation};
  current_makespan_ = makespan;
  deciding_chain_ =
      deciding_chain(instance_, current_.allocation, decoder_.start(), decoder_.end());
  if (makespan >= best_makespan_) return true;
  const std::optional<Plan> plan = decoder_.plan(current_.allocation);
  if (!plan) return true;
  best_ = current_;
  best_makespan_ = makespan;
  return on_better_plan(*plan);
}

}  // namespace cosched::dags::search
