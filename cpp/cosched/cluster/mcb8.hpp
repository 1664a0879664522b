// MCB8 vector packing for fixed CPU requirements (paper 3, section 4.3).
//
// Two lists: items whose CPU requirement exceeds their memory, by decreasing CPU; the
// others, by decreasing memory; ties by item number.  Nodes are filled one by one: while
// CPU load <= memory load the first fitting task of the CPU list is taken, else that of
// the memory list; if that list has none, the other's; if neither, the next node.
//
// Fast because (a) tasks of an item are identical, and so are neighbours in a list with
// equal requirements: a *group* is kept with a count; (b) a list finds its first fitting
// group in a tree over the second requirement; (c) once a node's pattern is known it is
// repeated on as many equal nodes as every group in it allows.  The placements are those
// of the plain algorithm, bit for bit.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "cosched/cluster/by_decreasing.hpp"
#include "cosched/cluster/first_fit_list.hpp"
#include "cosched/cluster/node_list.hpp"

namespace cosched::cluster {

/// A load may exceed 1 by this: sums of 0.1.
inline constexpr double kPackTolerance = 1e-12;

class Mcb8 {
 public:
  /// Items 0..n-1 with their task counts (>= 1) and memory needs of a task.
  Mcb8(std::vector<int> tasks, std::vector<double> memory, int nodes);

  /// The tasks of `item` stay on these nodes (one entry a task, increasing).
  void pin(int item, NodeList nodes);
  /// The item is packed no more.
  void drop(int item);
  bool dropped(int item) const { return dropped_[item]; }

  /// True if the memory of the items cannot be packed whatever their CPU requirements:
  /// at most k tasks that need more than 1/(k+1) fit on a node, and so on.  (For each k =
  /// 1..8: sum of floor((k+1) m) over a node's tasks is at most k.)  O(1).
  bool surely_too_much() const;

  /// Packs for cpu[item] = CPU requirement of a task.  `by_cpu`: all items by decreasing
  /// cpu, ties by number.  Returns whether every task found a node.
  /// O(n + pinned tasks + d k log g), g = groups, d = distinct node patterns (at most
  /// about 2 g), k = tasks on a node.
  bool pack(const std::vector<double>& cpu, const std::vector<int>& by_cpu);

  /// Keeps the packing that the last pack() found.
  void keep() { kept_.swap(found_); }
  /// Node lists by item of the packing kept last; increasing; empty if dropped.
  std::vector<NodeList> placement() const;

 private:
  struct Group {
    double cpu, memory;
    std::int64_t left;  // tasks not yet placed
    int position;       // in its list
    bool in_cpu_list;
  };
  struct Pick {
    int group;
    std::int64_t count;
  };
  // The picks from `pick` to the next run's, on each of the nodes first .. first + repeat - 1.
  struct Run {
    int first, repeat;
    std::size_t pick;
  };
  struct Packing {
    std::vector<Run> runs;
    std::vector<Pick> picks;
    std::vector<int> members;      // items, by group
    std::vector<int> group_begin;  // index into members
    void swap(Packing& other);
    void clear();
  };
  struct Load {
    double cpu = 0, memory = 0;
  };

  bool place_pinned(const std::vector<double>& cpu);
  void add_to_list(int item, double cpu, bool cpu_list);
  bool to_pack(std::size_t item) const { return !settled_[item]; }
  // Sums up what is to be placed; whether the machine as a whole is large enough for it.
  bool fits_in_all(const std::vector<double>& cpu);
  void build_groups(const std::vector<double>& cpu, const std::vector<int>& by_cpu);
  bool fill_node(int node);
  int take(const Load& load);
  int repeat_run(int node);
  int equal_nodes(int node) const;

  int nodes_;
  std::vector<int> tasks_;
  std::vector<double> memory_;
  std::vector<int> by_memory_;
  std::vector<NodeList> pinned_;  // by item; empty = free
  std::vector<char> dropped_;
  std::vector<char> settled_;  // dropped or pinned
  bool any_pinned_ = false;
  std::array<std::int64_t, 8> parts_{};  // [k-1] = sum over tasks of floor((k+1) m)
  std::vector<Load> start_;              // by node, where any_pinned_
  FirstFitList cpu_list_, memory_list_;
  std::vector<Group> groups_;
  std::int64_t unplaced_ = 0;
  Load left_;  // requirements of unplaced tasks
  Packing found_, kept_;
};

}  // namespace cosched::cluster
