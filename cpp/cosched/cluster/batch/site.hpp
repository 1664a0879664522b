// Nodes with cores, memory and GPUs, and what jobs need of them.
#pragma once

#include <cstdint>

#include "cosched/cluster/model/instance.hpp"

namespace cosched::cluster::batch {

/// What is free on a node, or held or needed there.  Memory in KB.
struct Amounts {
  std::int64_t memory = 0;
  int cores = 0, gpus = 0;

  bool holds(const Amounts& need) const {
    return cores >= need.cores && memory >= need.memory && gpus >= need.gpus;
  }
  bool operator==(const Amounts& other) const {
    return memory == other.memory && cores == other.cores && gpus == other.gpus;
  }
  Amounts& operator+=(const Amounts& other) {
    memory += other.memory;
    cores += other.cores;
    gpus += other.gpus;
    return *this;
  }
  Amounts& operator-=(const Amounts& other) {
    memory -= other.memory;
    cores -= other.cores;
    gpus -= other.gpus;
    return *this;
  }
};

/// Of the smaller of each.
Amounts least(const Amounts& a, const Amounts& b);

/// A node of the machine.  Of which cell (layout.hpp) and with GPUs of which type, as numbers
/// below 64; its cores are numbered from `first_core` on.
struct Node {
  Amounts all;
  int cell, gpu_type, first_core;
};

/// What a job needs, on nodes of `cells`, with GPUs of `gpu_types` (bits).
/// parts > 0: on so many nodes `each`, on `larger` of them a core more.
/// parts = 0: nothing is known of its nodes; `each` is the whole job's, from wherever it is free.
struct Need {
  int parts, larger;
  Amounts each;
  std::uint64_t cells, gpu_types;
  int shape = 0;  // equal needs have the same, numbered from 0
};

struct Piece {
  int node;
  Amounts held;
};
/// A piece a node; of a job in parts increasing in nothing, the larger parts first.
using Placement = std::vector<Piece>;
using Free = std::vector<Amounts>;  // by node

/// Nodes in the order in which they are filled, and the need of each job.
class Site {
 public:
  /// What jobs ask for, by job: nodes (0 = not known), KB and GPUs of the whole job, and the other
  /// columns of Need.  A job of several nodes whose equal parts no empty nodes hold ran on unequal
  /// ones: nothing is known of them.  Throws InvalidInstance where lengths differ.
  struct Asked {
    std::vector<int> tasks, parts, gpus;
    std::vector<double> memory;
    std::vector<std::uint64_t> cells, gpu_types;
    std::vector<std::vector<int>> held = {};  // cores that jobs have at the begin, as in Layout
  };
  Site(std::vector<Node> nodes, const Asked& asked);

  const std::vector<Node>& nodes() const { return nodes_; }
  const Need& need(int job) const { return needs_[job]; }
  /// Whether a part of the need may be on that node.
  bool open_to(const Need& need, int node) const {
    return (need.cells >> nodes_[node].cell & 1) &&
           (need.each.gpus == 0 || (need.gpu_types >> nodes_[node].gpu_type & 1));
  }
  /// Of a job that holds cores when the simulation begins: where, with its part of memory and GPUs
  /// on each node.
  const Placement& held(int job) const { return held_[job]; }
  const std::vector<std::vector<int>>& held_cores() const { return held_cores_; }
  int jobs() const { return static_cast<int>(needs_.size()); }
  int shapes() const { return shapes_; }
  /// What is free on the empty machine.
  Free all() const;
  /// Jobs that the empty machine does not hold.
  const std::vector<int>& unfit() const { return unfit_; }

  /// Where the need finds its amounts, on nodes of `open` cells, in order, those in `last` last;
  /// of a job in parts the larger ones on the first nodes that hold them, the others on the first
  /// other ones that hold them.  Whether it does.  `found` may be null.  O(nodes).
  bool place(const Need& need, const Free& free, std::uint64_t open, std::uint64_t last,
             Placement* found) const;
  bool holds(const Need& need, const Free& free) const {
    return place(need, free, need.cells, 0, nullptr);
  }

 private:
  bool place_parts(const Need& need, const Free& free, std::uint64_t open, std::uint64_t last,
                   Placement* found) const;
  bool place_anywhere(const Need& need, const Free& free, std::uint64_t open, std::uint64_t last,
                      Placement* found) const;
  void number_shapes();
  void hold(const Asked& asked);

  std::vector<Node> nodes_;
  std::vector<Need> needs_;
  std::vector<int> unfit_;
  std::vector<Placement> held_;               // by job
  std::vector<std::vector<int>> held_cores_;  // by job, or of nobody
  int shapes_ = 0;
};

/// How much of a need the nodes hold, kept as they change.
class Tally {
 public:
  /// O(nodes).
  Tally(const Site& site, const Need& need, const Free& free);

  bool holds() const;
  /// The node has other amounts free than before.  O(1).
  void change(int node, const Amounts& before, const Amounts& after) {
    add(node, before, -1);
    add(node, after, +1);
  }

 private:
  void add(int number, const Amounts& free, int sign);

  const Site& site_;
  const Need& need_;
  int larger_ = 0, fitting_ = 0;  // nodes that hold a larger part, that hold one at all
  Amounts total_;                 // of a need in no parts
};

/// Throws InvalidInstance where the site is another instance's, InfeasibleError that names the
/// first job which does not fit on the empty machine.
void require_site_fits(const Instance& instance, const Site& site);

}  // namespace cosched::cluster::batch
