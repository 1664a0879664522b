// Limits of associations and QOS: who may be looked at, and who may start (RULES.md 14).
#pragma once

#include <vector>

#include "cosched/slurm/accounts/decay.hpp"
#include "cosched/slurm/limits/limit_rules.hpp"

namespace cosched::slurm {

class Policy {
 public:
  /// `decay_start`: of the thread that accounts usage.  Requires that `scenario` outlives it.
  Policy(const Scenario& scenario, double decay_start);

  /// The limit in the way, or null.
  using Held = const Rule*;

  /// At submission, with so many tasks: then the job is refused.
  Held at_submission(int job, int tasks) const;
  /// Before nodes are looked for: numbers of jobs, time, and nodes that it could never have.
  Held before_nodes(Entry entry) const;
  /// On what was found (null: nothing), beside what runs.
  Held with_nodes(Entry entry, const Choice* choice) const;
  /// On so many nodes.
  Held with_nodes(Entry entry, int nodes) const;
  /// Of a running job, at a check: what its group may use is used up.
  Held used_up(int job) const;

  void submit(int job);
  void start(Entry entry, const Choice& choice, Second now);
  /// It has ended, and (`over`) is no submitted one any more.
  void end(int job, Second now, bool over);
  /// All passes of the thread that accounts usage, up to `time`.
  void advance(double time);

  /// What a rule counts now, and whose.
  double counted(const Rule& rule) const;
  std::vector<int> running_in(const Rule& rule) const;

 private:
  struct Count {
    int jobs = 0, submitted = 0, nodes = 0;
    std::vector<int> jobs_of_node;
    Amounts tres, run_seconds, seconds;  // what they have, may still use, and have used
    double wall = 0;                     // s
    bool decays = true;
  };
  struct Running {
    int job;
    const RuleSet* rules;
    Amounts tres;
    std::vector<int> nodes;
    Second start;
  };
  /// The same for all rules of a job: `alone`: whatever runs; `used_counts`: its usage has a price.
  struct Test {
    double minutes;
    bool used_counts, alone;
  };

  Held test(Entry entry, const Demand& demand, bool alone) const;
  bool over(const Rule& rule, const Demand& demand, const Test& all) const;
  int shared_nodes(const Count& count, const Demand& demand) const;
  double minutes_of(Entry entry) const;
  double usage_factor(int job) const;
  Second charged(const Running& one) const;
  void charge(const Running& one, Second now, bool over);
  const Count& count_of(const Rule& rule) const {
    return counts_[static_cast<std::size_t>(rule.counter)];
  }

  const Scenario& scenario_;
  const bool any_;  // there are accounts or QOS
  LimitRules rules_;
  bool minutes_ = false, nodes_ = false;  // some limit is of minutes, of nodes
  Decay decay_;
  std::vector<Count> counts_;
  std::vector<Running> running_;
  std::vector<char> submitted_;
};

}  // namespace cosched::slurm
