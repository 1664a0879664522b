// List scheduling of rigid items: the allotment is decided.
#pragma once

#include <vector>

#include "cosched/moldable/model/placement.hpp"

namespace cosched::moldable::list {

/// How a list of rigid items becomes starts.
enum class Rule {
  list,    // Graham: whenever processors are idle, the first waiting item that fits starts
  append,  // no overtaking: in list order, each item on the processors that are idle first
};

/// Keeps its memory between calls: for searches that schedule many lists.
class ListScheduler {
 public:
  explicit ListScheduler(int machines) : machines_(machines) {}

  /// Writes the starts of the items, of `procs[k]` processors (1..machines) and `length[k]`
  /// seconds, into `start`.  O(n log n).
  void run(Rule rule, const std::vector<int>& procs, const std::vector<double>& length,
           std::vector<double>& start);

 private:
  // Processors that are idle from `time` on.
  struct Idle {
    double time;
    int procs;
    // The earliest is on top of a heap.
    bool operator<(const Idle& other) const { return time > other.time; }
  };

  void run_list(const std::vector<int>& procs, const std::vector<double>& length,
                std::vector<double>& start);
  void run_append(const std::vector<int>& procs, const std::vector<double>& length,
                  std::vector<double>& start);
  void push(double time, int procs);
  Idle pop();

  void build(const std::vector<int>& procs);
  int least_below(int node) const;
  int first_fit(int idle) const;  // first waiting item with procs <= idle, -1 if none
  void remove(int item);

  int machines_;
  int leaves_ = 0;
  std::vector<int> least_;   // a tree over the list: the least procs of the waiting items
  std::vector<Idle> later_;  // a heap
};

/// Schedules the jobs in `order` (each once) with a given allotment, each on those of its
/// processors that it uses.  Requires procs[i] >= fewest(i).  Where jobs share something, without
/// bans (decoder.hpp) on counts on which each fits, whatever the rule.
Placement list_schedule(const Instance& instance, const Allotment& procs,
                        const std::vector<int>& order, Rule rule = Rule::list);

}  // namespace cosched::moldable::list
