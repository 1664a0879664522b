// From an order and an allocation to a schedule: what a search calls a million times.
#pragma once

#include <optional>
#include <vector>

#include "cosched/core/rng.hpp"
#include "cosched/core/task_graph.hpp"
#include "cosched/dags/model/instance.hpp"

namespace cosched::dags::search {

/// Units of a type are alike, so a schedule is feasible where no moment has more tasks than units:
/// which unit a task gets is settled at the end (plan()).
class Decoder {
 public:
  explicit Decoder(const Instance& instance);

  /// Tasks in this order, each before its successors, each as early as it fits between those placed
  /// so far: the makespan.  With `justify` the schedule is then pushed to the right, by decreasing
  /// ends, and back to the left, by increasing starts, which never lengthens it.
  double serial(const std::vector<int>& order, const Allocation& allocation, bool justify);

  /// Graham's list scheduling in this order: no unit idles while a task of its type is ready.
  double list(const std::vector<int>& order, const Allocation& allocation);

  /// Of the last schedule.
  const std::vector<double>& start() const { return start_; }
  const std::vector<double>& end() const { return end_; }
  /// Tasks by start; before its successors in any case.
  std::vector<int> order_by_start() const;
  /// With units; nothing where a task without length lies in the middle of all others.
  std::optional<Plan> plan(const Allocation& allocation) const;

 private:
  struct Step {  // from `time` to that of the next step
    double time;
    int free;
  };
  double place_all(const std::vector<int>& order, const Allocation& allocation, bool backward);
  double place(std::vector<Step>& profile, double ready, double duration) const;

  const Instance& instance_;
  std::vector<int> place_in_topology_;
  std::vector<std::vector<Step>> profile_;  // of each type
  std::vector<double> start_, end_;
};

/// Tasks that decide the makespan: from a last task back to one that ends where it starts, a
/// predecessor or another task of its type.
std::vector<int> deciding_chain(const Instance& instance, const Allocation& allocation,
                                const std::vector<double>& start, const std::vector<double>& end);

// Moves of searches over orders.

/// A task goes to another place between its last predecessor and its first successor: one of the
/// `chain` mostly forward, any other anywhere.  `position` is room for n numbers.  O(n).
void move_in_order(const TaskGraph& graph, const std::vector<int>& chain, std::vector<int>& order,
                   std::vector<int>& position, Rng& rng);

}  // namespace cosched::dags::search
