// What nodes have for jobs that share them, and what a job has of them (RULES.md 7.1).
#pragma once

#include <cstdint>
#include <vector>

#include "cosched/slurm/model/scenario.hpp"

namespace cosched::slurm {

/// What is free on each node.
struct Free {
  std::vector<int> cores;
  NodeBits some;                       // nodes with a core
  std::vector<std::int64_t> memory;    // where memory is handed out
  std::vector<std::vector<int>> gpus;  // by type
  std::vector<int> jobs;               // that run on it

  Free() = default;
  /// Of an empty machine.
  explicit Free(const Machine& machine);

  void take(const Shares& shares) { change(shares, 1); }
  void give(const Shares& shares) { change(shares, -1); }
  /// Of a job that is suspended: all but its cores.
  void keep(const Shares& shares) { change_rest(shares, 1); }
  void let_go(const Shares& shares) { change_rest(shares, -1); }
  /// The one way to change them: `some` follows.
  void set_cores(int node, int count);
  /// Of that type; of all where it is -1.
  int gpus_of(int node, int type) const;

 private:
  void change(const Shares& shares, int sign);
  void change_rest(const Shares& shares, int sign);
};

// What a node has for a job: select/cons_tres on one node (RULES.md 7.2 to 7.6).

struct Fit {
  int cores;  // 0: the node is none for the job
  int gpus;   // free ones of its type
};

/// Of `free`, for a job that asks so.  O(types of GPUs).
Fit fit(const Machine& machine, const Job& job, int node, const Free& free);

/// MB that the job has of a node where it has so many cores.
std::int64_t memory_of(const Machine& machine, const Ask& ask, int node, int cores);

}  // namespace cosched::slurm
