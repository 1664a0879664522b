// The types on which each task can still run in a schedule of at most T: the part that both kinds
// of windows (time_windows.hpp, transfer_windows.hpp) have in common.
#pragma once

#include "cosched/dags/model/instance.hpp"

namespace cosched::dags::proof {

/// A task on a type.
struct TaskOnType {
  int task, type;
};

class OpenTypes {
 public:
  /// Every type that can run a task is open.  `makespan`: T, seconds.
  OpenTypes(const Instance& instance, double makespan);

  const Instance& instance() const { return *instance_; }
  double makespan() const { return makespan_; }
  bool is_open(int task, int type) const { return is_open_[pair_index(task, type)]; }
  /// The only open type of a task, -1 where there are more.
  int only_type(int task) const { return only_type_[task]; }
  /// Number of tasks with more than one open type.
  int undecided_tasks() const { return undecided_tasks_; }

  /// (n, Q): 1 where a type is the only one of a task, 0 everywhere else.
  Table decided_shares() const;

 protected:
  /// Changes T to a shorter makespan; types that are closed stay closed.
  void set_makespan(double makespan) { makespan_ = makespan; }
  std::size_t pair_index(int task, int type) const {
    return static_cast<std::size_t>(task) * instance_->types() + type;
  }
  /// A flag for each type of a task: whether it is open.
  const char* open_flags(int task) const { return is_open_.data() + pair_index(task, 0); }

  /// Closes a type of a task; returns false where it was closed before.
  bool mark_closed(int task, int type);

  /// Opens a type of a task that mark_closed() has closed.
  void mark_open(int task, int type);

 private:
  void update_only_type(int task);

  const Instance* instance_;
  double makespan_;
  std::vector<char> is_open_;
  std::vector<int> only_type_;
  int undecided_tasks_ = 0;
};

}  // namespace cosched::dags::proof
