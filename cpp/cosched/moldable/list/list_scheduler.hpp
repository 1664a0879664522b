// List scheduling of rigid items, whose counts are decided.
#pragma once

#include <vector>

namespace cosched::moldable::list {

/// How a list of rigid items becomes a schedule.
enum class ListRule {
  list,    // Graham 1966: when processors become idle, the first waiting item that fits starts
  append,  // no overtaking: in list order each item on the processors that are idle first
};

/// Keeps its memory between calls, for searches that schedule many lists.
class ListScheduler {
 public:
  explicit ListScheduler(int machines) : machines_(machines) {}

  /// Writes the starts of the items into `start`; item k takes procs[k] processors (1..machines)
  /// for length[k] seconds.  `free_times`: when each processor becomes free; empty: all at 0. O(n
  /// log n).
  void schedule(ListRule rule, const std::vector<int>& procs, const std::vector<double>& length,
                std::vector<double>& start, const std::vector<double>& free_times = {});

 private:
  // Processors that are idle from `time` on.
  struct IdleProcessors {
    double time;
    int procs;
    // The earliest time is on top of a heap.
    bool operator<(const IdleProcessors& other) const { return time > other.time; }
  };

  void schedule_by_list(const std::vector<int>& procs, const std::vector<double>& length,
                        std::vector<double>& start);
  void schedule_by_append(const std::vector<int>& procs, const std::vector<double>& length,
                          std::vector<double>& start);
  void push_idle(double time, int procs);
  IdleProcessors pop_idle();

  void build_tree(const std::vector<int>& procs);
  int least_procs_below(int node) const;
  // The first waiting item with procs <= idle, -1 if there is none.
  int find_first_fit(int idle) const;
  void remove(int item);

  int machines_;
  int leaves_ = 0;  // of the tree: a power of two
  // A binary tree over the list: each node has the least procs of the waiting items below it.
  std::vector<int> least_procs_;
  std::vector<IdleProcessors> idle_heap_;
};

}  // namespace cosched::moldable::list
