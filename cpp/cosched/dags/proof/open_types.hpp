// Which pairs (task, type) are still open at a guess T of the makespan: what both kinds of windows
// (time_windows.hpp, transfer_windows.hpp) have in common.
#pragma once

#include <cstddef>
#include <vector>

#include "cosched/core/times.hpp"
#include "cosched/dags/model/instance.hpp"

namespace cosched::dags::proof {

/// A task on a type.
struct Pair {
  int task, type;
};

class OpenTypes {
 public:
  /// All pairs of finite time.
  OpenTypes(const Instance& instance, double makespan);
  /// What is open at a longer one.
  OpenTypes(const OpenTypes& longer, double makespan);

  const Instance& instance() const { return *instance_; }
  double makespan() const { return makespan_; }
  bool open(int task, int type) const { return open_[pair(task, type)]; }
  /// The only open type of a task, -1 where there are more.
  int only_type(int task) const { return only_type_[task]; }
  /// Tasks with more than one open type.
  int undecided() const { return undecided_; }

  /// (n, Q): 1 where a type is the only one of a task, 0 everywhere else.
  Table decided() const;

 protected:
  std::size_t pair(int task, int type) const {
    return static_cast<std::size_t>(task) * instance_->types() + type;
  }
  /// Whether each type of a task is open.
  const char* open_row(int task) const { return open_.data() + pair(task, 0); }
  /// False: it was closed before.
  bool close_type(int task, int type);
  /// Takes that back.
  void open_type(int task, int type);

 private:
  void refresh(int task);

  const Instance* instance_;
  double makespan_;
  std::vector<char> open_;
  std::vector<int> only_type_;
  int undecided_ = 0;
};

}  // namespace cosched::dags::proof
