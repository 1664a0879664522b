// MCB8 vector packing for fixed CPU requirements (Casanova, Stillwell, Vivien 2011, section 4.3).
//
// Two lists: items whose CPU requirement exceeds their memory, by decreasing CPU; the
// others, by decreasing memory; ties by item number.  Nodes are filled one by one: while
// CPU load <= memory load the first fitting task of the CPU list is taken, else that of
// the memory list; if that list has none, the other's; if neither, the next node.
//
// Fast because (a) tasks of an item are identical, and so are neighbours in a list with equal
// requirements: those that are equal whatever the target are found once, as *runs*, those that
// are for one target make a *group*, kept with a count; (b) a list finds its first fitting group
// in a tree over the second requirement; (c) once a node's pattern is known it is repeated on as
// many equal nodes as every group in it allows.  The placements are those of the plain algorithm,
// bit for bit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cosched/cluster/dfrs/by_decreasing.hpp"
#include "cosched/cluster/dfrs/node_list.hpp"

namespace cosched::cluster::dfrs {

/// A load may exceed 1 by this: sums of 0.1.
inline constexpr double kPackTolerance = 1e-12;

class Mcb8 {
 public:
  /// Items 0..n-1 with their task counts (>= 1) and memory needs of a task.  Items of one kind
  /// (0..kinds-1) have the same CPU requirement whatever the target.
  Mcb8(std::vector<int> tasks, std::vector<double> memory, std::vector<int> kind_of,
       std::size_t kinds, int nodes);
  /// Each item is a kind of its own.
  Mcb8(const std::vector<int>& tasks, std::vector<double> memory, int nodes);

  /// The tasks of `item` stay on these nodes (one entry a task, increasing).  Once an item.
  void pin(int item, NodeList nodes);
  /// The item is packed no more.
  void drop(int item);
  bool dropped(int item) const { return dropped_[item]; }

  /// True if the memory of the items cannot be packed whatever their CPU requirements:
  /// at most k tasks that need more than 1/(k+1) fit on a node, and so on.  (For each k =
  /// 1..8: sum of floor((k+1) m) over a node's tasks is at most k.)  O(1).
  bool surely_too_much() const;

  /// Packs for cpu[kind] = CPU requirement of a task.  `by_cpu`: all kinds by decreasing
  /// cpu, ties by number.  Returns whether every task found a node.
  /// O(runs + pinned tasks + d k log g), g = groups, d = distinct node patterns (at most
  /// about 2 g), k = tasks on a node.
  bool pack(const std::vector<double>& cpu, const std::vector<int>& by_cpu);

  /// Keeps the packing that the last pack() found.
  void keep() { kept_.swap(found_); }
  /// Node lists by item of the packing kept last; increasing; empty if dropped.
  std::vector<NodeList> placement() const;

 private:
  // Neighbours in a list of the same requirements: of one kind, with the same memory need.
  struct Run {
    double memory;
    int kind;
    std::size_t begin, end;  // items: order_[begin .. end)
    std::int64_t tasks = 0;  // of the items to pack
  };
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
  // The picks from `pick` to the next filling's, on each of the nodes first .. first + repeat - 1.
  struct Filling {
    int first, repeat;
    std::size_t pick;
  };
  struct Packing {
    std::vector<Filling> fillings;
    std::vector<Pick> picks;
    std::vector<int> members;      // runs, by group
    std::vector<int> group_begin;  // index into members
    void swap(Packing& other);
    void clear();
  };
  struct Load {
    double cpu = 0, memory = 0;
  };

  // The tasks that stay on their nodes.
  struct Pinned {
    int item;
    NodeList nodes;
  };

  void add_runs(const std::vector<int>& items, std::vector<int>& run_of);
  // The item is packed no more by lists.
  void settle(int item);
  bool place_pinned(const std::vector<double>& cpu);
  void add_to_list(int run, double cpu, bool cpu_list);
  // Sums up what is to be placed; whether the machine as a whole is large enough for it.
  bool fits_in_all(const std::vector<double>& cpu);
  void build_groups(const std::vector<double>& cpu, const std::vector<int>& by_cpu);
  bool fill_node(int node);
  int take(const Load& load);
  int repeat_filling(int node);
  int equal_nodes(int node) const;
  std::vector<int> items_by_group(const Packing& packing, std::vector<int>& begin) const;

  int nodes_;
  std::vector<int> tasks_;
  std::vector<double> memory_;
  std::vector<int> kind_of_;               // by item
  std::vector<int> order_;                 // all items by kind, then all by decreasing memory
  std::vector<Run> runs_;                  // likewise
  std::vector<std::size_t> kind_begin_;    // by kind: its first run; and an end
  std::vector<int> cpu_run_, memory_run_;  // by item
  std::vector<Pinned> pinned_;
  std::vector<char> dropped_;
  std::vector<char> settled_;            // dropped or pinned
  std::array<std::int64_t, 8> parts_{};  // [k-1] = sum over tasks of floor((k+1) m)
  std::vector<Load> start_;              // by node, where any are pinned
  FirstFitList cpu_list_, memory_list_;
  std::vector<Group> groups_;
  std::int64_t unplaced_ = 0;
  Load left_;  // requirements of unplaced tasks
  Packing found_, kept_;
};

}  // namespace cosched::cluster::dfrs
