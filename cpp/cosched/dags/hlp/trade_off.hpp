// The inner problem of the structured HLP method: for weights pi on the loads of the Q types
// and on the longest path, minimise over fractional allocations x
//   sum_q pi_q (1/m_q) sum_j p_jq x_jq + pi_path L(x),   L(x) = longest path.
// This is the linear time-cost trade-off of project scheduling; its dual is a flow of
// amount pi_path through the event network in which task j's flow f_j earns
//   min over q of p_jq (pi_q / m_q + f_j),
// a concave piecewise linear function: parallel arcs, one a type, the slower ones with a
// capacity (Q = 2: (p_fast pi_fast/m_fast - p_slow pi_slow/m_slow) / (p_slow - p_fast)).
#pragma once

#include <memory>
#include <vector>

#include "cosched/dags/hlp/event_network.hpp"
#include "cosched/dags/model/instance.hpp"
#include "cosched/opt/network_simplex.hpp"

namespace cosched::dags::hlp {

/// A fractional allocation and its Q + 1 measures.
struct Relaxed {
  Table x;                       // (n, Q), rows sum to 1
  std::vector<double> measures;  // loads sum_j p_jq x_jq / m_q of each type, longest path
};

/// Duration sum_q p_jq x_jq of each task (0 times infinity is 0).
std::vector<double> fractional_durations(const Instance& instance, const Table& x);

/// Loads sum_j p_jq x_jq / m_q.
std::vector<double> fractional_loads(const Instance& instance, const Table& x);

class TradeOff {
 public:
  explicit TradeOff(const Instance& instance);

  /// Weights >= 0 (Q loads, then the path); they need not sum to 1.
  struct Optimum {
    double bound;  // value of the dual flow, at most the weighted sum of `point.measures`
    Relaxed point;
  };
  Optimum minimise(const std::vector<double>& weights);

  const EventNetwork& network() const { return network_; }

  /// Flow of the last minimise: through each task, and on each link of the network.
  std::vector<double> task_flow() const;
  std::vector<double> link_flow() const;

 private:
  // One distinct finite time of a task: a line cost + time * f, an arc of the flow.
  struct Level {
    double time = 0;
    double cost = 0;    // least p_jq pi_q / m_q over the types of that time
    int type = -1;      // that type
    double upto = 0;    // flow of the task at which the next level takes over
    bool used = false;  // on the lower envelope
  };

  void set_envelopes(const std::vector<double>& weights);
  void set_envelope(int task);
  void build_flow();
  void set_capacities();
  const std::vector<double>& start_flow(double demand);
  void solve_flow(double demand);
  std::vector<double> windows() const;
  double envelope_sum(const std::vector<double>& flow) const;
  Relaxed cheapest_within(const std::vector<double>& window) const;
  void set_shares(int task, double window, double* share) const;

  const Instance& instance_;
  EventNetwork network_;
  PathLength path_;
  std::vector<int> level_begin_;  // levels of task j: decreasing times
  std::vector<Level> levels_;
  std::vector<double> capacity_, start_;
  double demand_ = 0;                       // of the last flow
  std::unique_ptr<opt::LongestFlow> flow_;  // levels first, then links
};

}  // namespace cosched::dags::hlp
