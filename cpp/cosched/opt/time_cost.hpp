// The linear time-cost trade-off of project scheduling: options of a task differ in duration and
// cost, and may be mixed.  For costs c and a price of the longest path L, minimise over fractional
// choices x
//   sum_jk c_jk x_jk + price L(x),   L(x) = longest path under the durations sum_k t_jk x_jk.
// Its dual is a flow of amount `price` through the event network in which task j's flow f_j earns
//   min over k of c_jk + t_jk f_j,
// a concave piecewise linear function: parallel arcs, one a duration, the slower ones with a
// capacity.
#pragma once

#include <functional>
#include <memory>

#include "cosched/core/times.hpp"
#include "cosched/opt/event_network.hpp"
#include "cosched/opt/max_length_flow.hpp"
#include "cosched/opt/path_length.hpp"

namespace cosched::opt {

/// Keeps its flow from one call to the next.
class TimeCost {
 public:
  /// times(j, k): seconds of option k of task j, infinite where there is none; one finite a task.
  /// The table and the graph must outlive it.
  TimeCost(const TaskGraph& graph, const Table& times);

  struct TimeCostOptimum {
    double bound;  // value of the dual flow, at most the cost of x
    Table x;       // rows sum to 1
  };

  /// Costs >= 0, read where times are finite.  Of options of one duration the cheapest counts, of
  /// equals the first.
  TimeCostOptimum minimise(const Table& cost, double price);

  const EventNetwork& network() const { return network_; }
  /// L(x) for durations of the tasks.
  double path(const std::vector<double>& duration) const { return path_(duration); }

  /// Flow of the last minimise: through each task, and on each link of the network.
  std::vector<double> task_flow() const;

  std::vector<double> link_flow() const;

 private:
  // One distinct finite time of a task: a line cost + time * f, an arc of the flow.
  struct TimeLevel {
    double time = 0;
    double cost = 0;              // least of the options of that time
    int option = -1;              // that option
    double upper_flow = 0;        // flow of the task at which the next level takes over
    bool is_on_envelope = false;  // on the lower envelope
  };

  void set_envelopes(const Table& cost);
  void set_envelope(int task);
  void build_flow();
  void set_capacities();
  const std::vector<double>& scale_last_flow(double price);
  void solve_flow(double price);
  std::vector<double> event_windows() const;
  double envelope_sum(const std::vector<double>& flow) const;
  Table cheapest_within(const std::vector<double>& window) const;
  void set_shares(int task, double window, double* share) const;

  const Table& times_;
  EventNetwork network_;
  PathLength path_;
  std::vector<int> level_begin_;  // levels of task j: decreasing times
  std::vector<TimeLevel> levels_;
  Matrix<int> level_of_;  // of each option, -1 where its time is infinite
  std::vector<double> capacity_, start_flow_;
  double price_ = 0;                     // of the last flow
  std::unique_ptr<MaxLengthFlow> flow_;  // levels first, then links
};

}  // namespace cosched::opt
