// Instance of the dags family: a task graph on Q types of identical units.
//
// Notation of Amaris, Lucarelli, Mommessin, Trystram 2017 = code: p_{j,q} = time(j, q),
// m_q = units(q), type 0 = CPU, type 1 = GPU, infinity = task j cannot run on type q.
#pragma once

#include "cosched/core/schedule.hpp"
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
  int fastest(int task) const;

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

/// Length of the longest path that starts with each task, `duration[j]` seconds a task
/// (the Rank of Section 4.1 there).  O(n + e).
std::vector<double> ranks(const TaskGraph& graph, const std::vector<double>& duration);

/// Earliest end of each task on unlimited units.  O(n + e).
std::vector<double> earliest_ends(const TaskGraph& graph, const std::vector<double>& duration);

// Times that are whole multiples of one: then so is the optimum.

/// The greatest number that all finite times are whole multiples of, and so is the optimum; 0 where
/// there is none of a useful size.
double time_grain(const Instance& instance);

/// The least multiple of `grain` above a makespan that is refuted; the makespan itself for grain 0.
double least_above(double refuted, double grain);

// A schedule of the dags family: one unit a task.

/// Task j runs on unit[j] (numbered from 0 within its type) of type kind[j], from
/// start[j] to end[j].
struct Plan {
  std::vector<int> kind, unit;
  std::vector<double> start, end;

  explicit Plan(int tasks = 0) : kind(tasks, -1), unit(tasks, -1), start(tasks, 0), end(tasks, 0) {}

  int tasks() const { return static_cast<int>(kind.size()); }

  void set(int task, int type, int unit_of_type, double from, double to) {
    kind[task] = type;
    unit[task] = unit_of_type;
    start[task] = from;
    end[task] = to;
  }

  double makespan() const;
  Schedule schedule() const;  // one row a task, in task order
};

}  // namespace cosched::dags
