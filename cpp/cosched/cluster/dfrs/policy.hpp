// What a scheduling policy implements, and how the simulator calls it.
#pragma once

#include <vector>

#include "cosched/cluster/dfrs/dfrs_machine.hpp"

namespace cosched::cluster::dfrs {

enum class PolicyEventKind : char { completion, submission, period };

struct PolicyEvent {
  PolicyEventKind kind;
  double time;            // s
  std::vector<int> jobs;  // ranks: those that completed, or the one submitted; else empty
};

/// The simulator tells a policy of each event, in the order completions (all of one
/// instant together), submissions (one at a time, by rank), period.  After on_event(),
/// allocate() sets the yields, then the changes take effect: what is undone within one
/// event never happened, but a job paused at a submission and resumed by the period event
/// of the same instant was paused.
class Policy {
 public:
  virtual ~Policy() = default;

  /// Starts, pauses and moves jobs.  Returns whether the policy acts on this kind of
  /// event at all: if not, allocate() is not called and yields stay as they are.
  virtual bool on_event(const PolicyEvent& event, DfrsMachine& machine) = 0;

  /// Sets the yield of every running job, given the mapping.
  virtual void allocate(DfrsMachine& machine) = 0;

  /// Whether the policy wants period events.
  virtual bool is_periodic() const = 0;

  /// Whether the policy is known to keep the rules.  Others are checked after every event: memory,
  /// CPU, task counts.
  virtual bool is_trusted() const { return false; }
};

}  // namespace cosched::cluster::dfrs
