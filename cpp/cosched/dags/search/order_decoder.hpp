// From an order and an allocation to a schedule, for searches that do this a million times.
#pragma once

#include <functional>
#include <optional>
#include <queue>
#include <tuple>

#include "cosched/core/rng.hpp"
#include "cosched/dags/list/list_rules.hpp"

namespace cosched::dags::search {

/// Units of a type are alike, so a schedule is feasible where at no time more tasks than units run.
/// Only plan() decides which unit a task gets.
class OrderDecoder {
 public:
  explicit OrderDecoder(const Instance& instance);

  /// Serial schedule generation: takes the tasks in this order, each before its successors, and
  /// starts each as early as it fits between those placed so far.  With `justify` the schedule is
  /// then pushed to the right, by decreasing ends, and back to the left, by increasing starts,
  /// which never lengthens it.  Returns the makespan.
  double decode_serial(const std::vector<int>& order, const Allocation& allocation, bool justify);

  /// Graham's list scheduling in this order: no unit idles while a task of its type is ready.
  /// Returns the makespan.
  double decode_list(const std::vector<int>& order, const Allocation& allocation);

  /// Starts and ends in the last schedule.
  const std::vector<double>& start() const { return start_; }
  const std::vector<double>& end() const { return end_; }

  /// The tasks by increasing start, each before its successors.
  std::vector<int> order_by_start() const;

  /// The last schedule with a unit for each task; none where a task of length 0 starts while all
  /// units are busy.
  std::optional<Plan> plan(const Allocation& allocation) const;

 private:
  // Number of free units from `time` until the time of the next step.
  struct ProfileStep {
    double time;
    int free_units;
  };

  double place_all(const std::vector<int>& order, const Allocation& allocation, bool backward);
  double place(std::vector<ProfileStep>& profile, double ready, double duration) const;

  const Instance& instance_;
  std::vector<int> topological_position_;
  std::vector<std::vector<ProfileStep>> profile_;  // of each type
  std::vector<double> start_, end_;
};

}  // namespace cosched::dags::search
