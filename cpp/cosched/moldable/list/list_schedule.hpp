// List scheduling of rigid items: the allotment is decided.
#pragma once

#include "cosched/core/order.hpp"
#include "cosched/moldable/model/placement.hpp"

namespace cosched::moldable::list {

// Jobs in the order of a key.

/// Jobs 0..jobs-1 by increasing key(i); ties to the lowest.  O(jobs log jobs).
template <class Key>
std::vector<int> order_jobs_by(int jobs, const Key& key) {
  std::vector<double> keys(jobs);
  for (int i = 0; i < jobs; ++i) keys[i] = key(i);
  return sorted_numbers(jobs, [&](int a, int b) { return keys[a] < keys[b]; });
}

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
  /// seconds, into `start`.  `free_in`: when each processor becomes free; empty: now.  O(n log n).
  void schedule(Rule rule, const std::vector<int>& procs, const std::vector<double>& length,
                std::vector<double>& start, const std::vector<double>& free_times = {});

 private:
  // Processors that are idle from `time` on.
  struct IdleProcessors {
    double time;
    int procs;
    // The earliest is on top of a heap.
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
  int find_first_fit(int idle) const;  // first waiting item with procs <= idle, -1 if none
  void remove(int item);

  int machines_;
  int leaves_ = 0;
  std::vector<int> least_procs_;  // a tree over the list: the least procs of the waiting items
  std::vector<IdleProcessors> idle_heap_;  // a heap
};

/// Schedules the jobs in `order` (each once) with a given allotment, each on those of its
/// processors that it uses.  Requires procs[i] >= fewest(i).  Where jobs share something, without
/// bans (decoder.hpp) on counts on which each fits, whatever the rule.
Placement list_schedule(const Instance& instance, const Allotment& procs,
                        const std::vector<int>& order, Rule rule = Rule::list);

// The paper's "standard" algorithms (section 4.1).  All off-line: no release dates, no edges.

/// Every job alone on the m processors, of which it uses the best count on which it fits, by
/// decreasing w_i / t_i there.  Optimal for minsum when the speed-up is linear.  O(n log n).
Placement gang(const Instance& instance);

/// Every job on one processor (on the fewest where it cannot run, or does not fit, on one), longest
/// first (LPTF), to the processors that are idle first.  O(n log n).
Placement sequential(const Instance& instance);

// A greedy schedule for minsum that weighs each job's own completion against the delay of all later
// ones.  The package's own; demt-best starts from it.

/// Jobs by decreasing w_i / min_q q t_i(q): Smith's order of areas.
std::vector<int> order_by_density(const Instance& instance);

/// Jobs by increasing min_q q t_i(q).
std::vector<int> order_by_least_work(const Instance& instance);

/// In the given order, each job is appended on the q processors that are idle first, from a(q),
/// with q such that
///   w_i (a(q) + t_i(q)) + factor R q t_i(q) / m
/// is least, R = the weight of the jobs after it: its own weighted completion, and what its area
/// costs all others if they are delayed by area / m.  Large factors save area, small ones time.
/// All q up to 20 are tried, then steps of 5%.  No release dates; factor >= 0.
/// O(n (log m + log n)) and the idle times looked through.
Placement marginal_cost_schedule(const Instance& instance, const std::vector<int>& order,
                                 double factor);

}  // namespace cosched::moldable::list
