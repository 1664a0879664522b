// Neighbours of a plan: the tasks of some machines, placed anew by a dive.
#pragma once

#include <optional>

#include "cosched/bags/model/bag_plan.hpp"
#include "cosched/core/rng.hpp"

namespace cosched::bags::search {

struct RecreationParams {
  /// Rounds of column generation for the tasks that are taken off their machines.
  int pricing_rounds = 30;
  /// Machine types, at most, whose machines are drawn first.
  int drawn_machine_types = 3;
};

/// Neighbours of a plan: the tasks of some machines, placed anew by a dive.
class PlanRecreation {
 public:
  /// Requires a plan of few machines, which are listed one by one.
  PlanRecreation(const Instance& instance, const BagPlan& plan, std::vector<double> value,
                 const RecreationParams& params = {});

  /// Takes the tasks off machines whose load is above `limit` and off others that are drawn,
  /// `max_machines` in all, and puts them back within the limit: at less energy, or at any where a
  /// load was above it.  Returns the runs of the whole plan; empty where the relaxation or the dive
  /// finds none, or the loads of more machines are above the limit.
  std::optional<std::vector<TaskRun>> try_recreation(double limit, int max_machines,
                                                     Rng& rng) const;

 private:
  std::vector<int> draw_machines(double limit, int max_machines, Rng& rng) const;

  RecreationParams params_;
  const Instance* instance_;
  std::vector<double> task_values_;                    // of a task of each type, joules
  std::vector<int> machine_types_, numbers_in_type_;   // of a machine
  std::vector<double> loads_;                          // of a machine
  std::vector<std::vector<TaskRun>> runs_on_machine_;  // of a machine
};

}  // namespace cosched::bags::search
