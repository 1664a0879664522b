// Instance of the dags family: a task graph on Q types of identical units.
//
// Notation of Amaris, Lucarelli, Mommessin, Trystram 2017 = code: p_{j,q} = time(j, q),
// m_q = units(q), type 0 = CPU, type 1 = GPU, infinity = task j cannot run on type q.
#pragma once

#include <vector>

#include "cosched/core/times.hpp"
#include "cosched/dags/model/transfers.hpp"

namespace cosched::dags {

/// Immutable.  Invariant: n >= 1 tasks, Q >= 1 types, times >= 0 or infinite, every
/// task finite on at least one type, every m_q >= 1, sum of all finite times finite.
class Instance {
 public:
  /// times(j, q) seconds; transfers of this graph on these units.  Throws InvalidInstance that
  /// names row, column and value.
  Instance(Table times, TaskGraph graph, std::vector<int> units, Transfers transfers = {});

  int tasks() const { return static_cast<int>(times_.rows()); }
  int types() const { return static_cast<int>(times_.cols()); }
  int units(int type) const { return units_[type]; }
  const std::vector<int>& units() const { return units_; }

  double time(int task, int type) const { return row(task)[type]; }
  /// row(j)[q] = p_{j,q}.
  const double* row(int task) const { return times_.data() + task * times_.cols(); }
  bool can_run(int task, int type) const;
  /// Type with the least time of the task, lowest number on equality.
  int fastest_type(int task) const;

  const Table& times() const { return times_; }
  const TaskGraph& graph() const { return graph_; }
  const Transfers& transfers() const { return transfers_; }

 private:
  Table times_;
  TaskGraph graph_;
  std::vector<int> units_;
  Transfers transfers_;
};

/// allocation[j] = resource type of task j.
using Allocation = std::vector<int>;

/// Throws InvalidInstance unless `allocation` gives each task a type it can run on.
void require_allocation(const Instance& instance, const Allocation& allocation);

}  // namespace cosched::dags
