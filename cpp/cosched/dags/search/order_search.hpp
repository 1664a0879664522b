// A local search over orders and allocations, with restarts.
#pragma once

#include "cosched/core/interrupt.hpp"
#include "cosched/dags/search/decoder.hpp"

namespace cosched::dags::search {

/// What the search walks over: tasks in an order that respects precedence, and their types.
struct Candidate {
  std::vector<int> order;
  Allocation allocation;
};

class OrderSearch {
 public:
  /// Starts from a plan.  `movable`: tasks whose type is worth changing besides those on the
  /// deciding chain.
  OrderSearch(const Instance& instance, const Plan& plan, std::vector<int> movable,
              std::uint64_t seed)
      : instance_(instance),
        decoder_(instance),
        rng_(seed),
        movable_(std::move(movable)),
        current_{order_of(instance, plan), plan.kind},
        best_(current_),
        current_makespan_(plan.makespan()),
        best_makespan_(current_makespan_),
        chain_(deciding_chain(instance, plan.kind, plan.start, plan.end)),
        position_(instance.tasks()) {
    for (int task = 0; task < instance.tasks() && !choices_; ++task) {
      int types = 0;
      for (int type = 0; type < instance.types(); ++type) types += instance.can_run(task, type);
      choices_ = types > 1;
    }
  }

  /// Builds up to `evaluations` schedules, and calls `better(plan)` with each that is the best so
  /// far; it says whether to go on.  May be left by an exception of check_interrupt().
  void run(std::int64_t evaluations, const std::function<bool(const Plan&)>& better) {
    const std::int64_t patience = 30 + 3LL * std::min(instance_.tasks(), 300);
    std::int64_t idle = 0;
    while (built_ < evaluations) {
      check_interrupt();
      if (idle > patience) {
        restart();
        idle = 0;
      }
      Candidate next = current_;
      if (!change(next)) {
        ++built_;
        continue;
      }
      const double makespan = decode(next, rng_.uniform() < kListMoves);
      idle = makespan < current_makespan_ ? 0 : idle + 1;
      if (makespan <= current_makespan_ && !take_over(next, makespan, better)) return;
    }
  }

  /// One descent from the best without restarts, `evaluations` schedules more: at first up to
  /// `heat` (relative) longer ones are taken as well, at the end none.  After `most` it breaks off:
  /// as far as it gets it is the same.
  void cool(std::int64_t evaluations, std::int64_t most, double heat,
            const std::function<bool(const Plan&)>& better) {
    current_ = best_;
    current_makespan_ = decode(current_, false);
    const std::int64_t begin = built_;
    while (built_ < begin + std::min(evaluations, most)) {
      check_interrupt();
      Candidate next = current_;
      if (!change(next)) {
        ++built_;
        continue;
      }
      const double makespan = decode(next, rng_.uniform() < kListMoves);
      const double left =
          1 - static_cast<double>(built_ - begin) / static_cast<double>(evaluations);
      const double longest = current_makespan_ * (1 + heat * std::max(0.0, left) * rng_.uniform());
      if (makespan <= longest && !take_over(next, makespan, better)) return;
    }
  }

  std::int64_t built() const { return built_; }

 private:
  static constexpr double kListMoves = 0.3;  // share of moves that list scheduling decodes
  static constexpr double kTypeMoves = 0.8;  // share that changes types, where there are choices
  static constexpr int kSerialTasks = 5000;  // above, insertion costs too much: lists only

  static std::vector<int> order_of(const Instance& instance, const Plan& plan) {
    std::vector<int> place(instance.tasks()), order(instance.graph().order());
    for (int k = 0; k < instance.tasks(); ++k) place[order[k]] = k;
    std::sort(order.begin(), order.end(), [&](int a, int b) {
      return std::pair(plan.start[a], place[a]) < std::pair(plan.start[b], place[b]);
    });
    return order;
  }

  double decode(const Candidate& candidate, bool list) {
    if (list || instance_.tasks() > kSerialTasks) {
      ++built_;
      return decoder_.list(candidate.order, candidate.allocation);
    }
    built_ += 3;
    return decoder_.serial(candidate.order, candidate.allocation, true);
  }

  // False: nothing has changed.
  bool change(Candidate& candidate) {
    if (choices_ && rng_.uniform() < kTypeMoves) return change_types(candidate);
    do move_in_order(instance_.graph(), chain_, candidate.order, position_, rng_);
    while (rng_.uniform() < 0.5);
    return true;
  }

  // One task, or more with halving probability, goes to another type that can run it.
  bool change_types(Candidate& candidate) {
    bool changed = false;
    do {
      const std::vector<int>& pool = movable_.empty() || rng_.uniform() < 0.7 ? chain_ : movable_;
      const int task = pool[rng_.below(pool.size())];
      std::vector<int> others;
      for (int type = 0; type < instance_.types(); ++type)
        if (type != candidate.allocation[task] && instance_.can_run(task, type))
          others.push_back(type);
      if (others.empty()) continue;
      candidate.allocation[task] = others[rng_.below(others.size())];
      changed = true;
    } while (rng_.uniform() < 0.4);
    return changed;
  }

  // Half of the restarts from the best, with a few moves; the others from ranks with noise.
  void restart() {
    const bool from_best = rng_.uniform() < 0.5;
    current_ = from_best ? best_ : shuffled();
    if (from_best)
      for (int k = 0; k < 4; ++k) change(current_);
    current_makespan_ = decode(current_, false);
    current_.order = decoder_.order_by_start();
    chain_ = deciding_chain(instance_, current_.allocation, decoder_.start(), decoder_.end());
  }

  Candidate shuffled() {
    Candidate candidate = best_;
    if (choices_) {
      const int changes = 1 + instance_.tasks() / 20;
      for (int k = 0; k < changes; ++k) {
        const int task = static_cast<int>(rng_.below(instance_.tasks()));
        const int type = static_cast<int>(rng_.below(instance_.types()));
        if (instance_.can_run(task, type)) candidate.allocation[task] = type;
      }
    }
    candidate.order = by_rank(candidate.allocation, rng_.uniform());
    return candidate;
  }

  // Decreasing ranks under the allocation; times vary by up to the share `noise`.
  std::vector<int> by_rank(const Allocation& allocation, double noise) {
    std::vector<double> duration(instance_.tasks());
    for (int task = 0; task < instance_.tasks(); ++task)
      duration[task] =
          instance_.time(task, allocation[task]) * (1 + noise * (2 * rng_.uniform() - 1));
    const std::vector<double> rank = ranks(instance_.graph(), duration);
    std::vector<int> order = instance_.graph().order();
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return rank[a] > rank[b]; });
    return order;
  }

  // The decoded candidate becomes the current one, in the order of its starts.
  bool take_over(const Candidate& candidate, double makespan,
                 const std::function<bool(const Plan&)>& better) {
    current_ = {decoder_.order_by_start(), candidate.allocation};
    current_makespan_ = makespan;
    chain_ = deciding_chain(instance_, current_.allocation, decoder_.start(), decoder_.end());
    if (makespan >= best_makespan_) return true;
    const std::optional<Plan> plan = decoder_.plan(current_.allocation);
    if (!plan) return true;
    best_ = current_;
    best_makespan_ = makespan;
    return better(*plan);
  }

  const Instance& instance_;
  Decoder decoder_;
  Rng rng_;
  std::vector<int> movable_;
  bool choices_ = false;  // some task has more than one type
  Candidate current_, best_;
  double current_makespan_, best_makespan_;
  std::vector<int> chain_;
  std::vector<int> position_;
  std::int64_t built_ = 0;
};

}  // namespace cosched::dags::search
