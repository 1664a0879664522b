// MCB8 vector packing for fixed CPU requirements (Casanova, Stillwell, Vivien 2011, section 4.3).
//
// Two lists: items whose CPU requirement exceeds their memory, by decreasing CPU; the
// others, by decreasing memory; ties by item number.  Nodes are filled one by one: while
// CPU load <= memory load the first fitting task of the CPU list is taken, else that of
// the memory list; if that list has none, the other's; if neither, the next node.
//
// Fast because (a) tasks of an item are identical, and so are neighbours in a list with equal
// requirements: those that are equal whatever the target are found once, as *runs*; those that
// are equal for one target make a *group*, with a count of tasks; (b) a list finds its first
// fitting group in a tree over the second requirement; (c) once the pattern of a node is known it
// is repeated on as many equal nodes as every group in it allows.  The placements are those of the
// plain algorithm, bit for bit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cosched/cluster/dfrs/first_fit_list.hpp"
#include "cosched/cluster/dfrs/node_list.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::cluster::dfrs {

/// A load may exceed 1 by this: ten needs of 0.1 fill a node.
inline constexpr double kPackTolerance = kSumTolerance;

class Mcb8 {
 public:
  /// Items 0..n-1 with their task counts (>= 1) and memory needs of a task.  Items of one kind
  /// (0..kind_count-1) have the same CPU requirement whatever the target.
  Mcb8(std::vector<int> tasks, std::vector<double> memory, std::vector<int> kind_of,
       std::size_t kind_count, int nodes);

  /// Each item is a kind of its own.
  Mcb8(const std::vector<int>& tasks, std::vector<double> memory, int nodes);

  /// The tasks of `item` stay on these nodes (one entry for each task, increasing).  At most once
  /// for an item.
  void pin(int item, NodeList nodes);

  /// The item is packed no more.
  void drop(int item);

  bool is_dropped(int item) const { return is_dropped_[item] != 0; }

  /// True if the memory of the items cannot be packed whatever their CPU requirements:
  /// at most k tasks that need more than 1/(k+1) fit on a node, and so on.  (For each k =
  /// 1..8: the sum of floor((k+1) m) over a node's tasks is at most k.)  O(1).
  bool has_too_much_memory() const;

  /// Packs for cpu[kind] = CPU requirement of a task.  `kinds_by_cpu`: all kinds by decreasing
  /// cpu, ties by number.  Returns whether every task found a node.
  /// O(runs + pinned tasks + d k log g), g = groups, d = distinct node patterns (at most
  /// about 2 g), k = tasks on a node.
  bool pack(const std::vector<double>& cpu, const std::vector<int>& kinds_by_cpu);

  /// Saves the packing of the last pack(), which found a node for every task.
  void save_packing() { saved_packing_.swap(packing_); }

  /// Node lists by item of the packing saved last; increasing; empty for dropped items.
  std::vector<NodeList> placement() const;

 private:
  static constexpr int kThresholds = 8;  // of has_too_much_memory()

  // Neighbours in a list with the same requirements: of one kind, with the same memory need.
  struct ItemRun {
    double memory;
    int kind;
    std::size_t begin;  // items: ordered_items_[begin .. end)
    std::size_t end;
    std::int64_t tasks = 0;  // of the items that are to be packed
  };
  // Runs of one list with the same requirements for the current target.
  struct ItemGroup {
    double cpu;
    double memory;
    std::int64_t unplaced_tasks;
    int position;  // in its list
    bool is_in_cpu_list;
  };
  // So many tasks of the group are on a node.
  struct GroupPick {
    int group;
    std::int64_t count;
  };
  // The nodes first_node .. first_node + node_count - 1 are filled alike: each with the picks from
  // first_pick up to the first pick of the next filling.
  struct NodeFilling {
    int first_node;
    int node_count;
    std::size_t first_pick;
  };
  struct Packing {
    std::vector<NodeFilling> fillings;
    std::vector<GroupPick> picks;
    std::vector<int> runs_by_group;
    std::vector<int> group_begin;  // index into runs_by_group

    void swap(Packing& other);
    void clear();
  };
  struct NodeLoad {
    double cpu = 0;
    double memory = 0;
  };
  // An item whose tasks stay on their nodes.
  struct PinnedItem {
    int item;
    NodeList nodes;
  };
  // Items by group, and where those of each group begin.
  struct ItemsByGroup {
    std::vector<int> items;
    std::vector<int> begin;
  };

  // Appends the runs of these items and notes them by item in `run_of`.
  void append_runs(const std::vector<int>& items, std::vector<int>& run_of);
  // The lists do not contain the item any more: it is pinned or dropped.
  void exclude(int item);
  void count_thresholds(double memory, std::int64_t tasks);

  // Loads the nodes with the pinned tasks; false where they exceed the CPU of a node.
  bool place_pinned_items(const std::vector<double>& cpu);
  // Sums up what is to be placed; false where the machine as a whole is too small for it.
  bool fits_in_total(const std::vector<double>& cpu);
  void build_groups(const std::vector<double>& cpu, const std::vector<int>& kinds_by_cpu);
  void append_to_list(int run, double cpu, bool is_in_cpu_list);

  // Fills `node` to the end; false if nothing fitted.
  bool fill_node(int node);
  // Takes the next task of the algorithm for a node with this load; returns its group, or -1.
  int take_next_task(const NodeLoad& load);
  // Repeats the last filling on the equal nodes after `node` while every group has a full set of
  // tasks left.  Returns its number of nodes.
  int repeat_filling(int node);
  // How many nodes from `node` on have the same pinned load.
  int count_equal_nodes(int node) const;

  // The items that a packing places, in the order in which they take their group's tasks.
  ItemsByGroup items_by_group(const Packing& packing) const;

  int nodes_;
  std::vector<int> tasks_;               // by item
  std::vector<double> memory_;           // by item
  std::vector<int> kind_of_;             // by item
  std::vector<int> ordered_items_;       // all items by kind, then all by decreasing memory
  std::vector<ItemRun> runs_;            // those by kind, then those by decreasing memory
  std::vector<std::size_t> kind_begin_;  // by kind: its first run; and the end of all kinds
  std::vector<int> cpu_run_;             // by item: its run among those by kind
  std::vector<int> memory_run_;          // by item: its run among those by decreasing memory
  std::vector<PinnedItem> pinned_items_;
  std::vector<char> is_dropped_;   // by item
  std::vector<char> is_excluded_;  // by item: dropped or pinned
  // [k-1] = sum over tasks of floor((k+1) m).
  std::array<std::int64_t, kThresholds> threshold_counts_{};
  std::vector<NodeLoad> pinned_load_;  // by node; no rows where nothing is pinned
  FirstFitList cpu_list_;
  FirstFitList memory_list_;
  std::vector<ItemGroup> groups_;
  std::int64_t unplaced_tasks_ = 0;
  NodeLoad unplaced_load_;  // requirements of the unplaced tasks
  Packing packing_;         // of the last pack()
  Packing saved_packing_;
};

}  // namespace cosched::cluster::dfrs
