// Limits of associations and QOS: which jobs may be tried, and which may start (RULES.md 14;
// acct_policy.c of Slurm).
#pragma once

#include "cosched/slurm/accounts/decay.hpp"
#include "cosched/slurm/limits/demand.hpp"
#include "cosched/slurm/limits/limit_rules.hpp"

namespace cosched::slurm {

class AccountingPolicy {
 public:
  /// The rule that a job violates, or null.
  using Violation = const LimitRule*;

  /// `decay_start`: of the thread that accounts usage.  Requires that `scenario` outlives it.
  AccountingPolicy(const Scenario& scenario, double decay_start);

  // --- tests ---

  /// At submission (acct_policy_validate), with so many tasks: a job that violates a limit is
  /// refused.
  Violation violation_at_submission(int job, int tasks) const;
  /// Before nodes are looked for (acct_policy_job_runnable_pre_select): counts of jobs, time, and
  /// nodes that the job could never have.
  Violation violation_before_nodes(QueueEntry entry) const;
  /// With the jobs that run (acct_policy_job_runnable_post_select), on the nodes that were chosen;
  /// null: on as many as the job asks for.
  Violation violation_with_nodes(QueueEntry entry, const NodeChoice* choice) const;
  Violation violation_with_nodes(QueueEntry entry, int node_count) const;
  /// At a check of limits: a running job whose group has used up its GrpWall or GrpTRESMins.
  Violation exceeded_group_limit(int job) const;

  // --- what happens to jobs ---

  void submit(int job);
  void start(QueueEntry entry, const NodeChoice& choice, Second now);
  /// The job has ended.  `is_over`: it does not count as submitted any more.
  void end(int job, Second now, bool is_over);
  /// Makes all passes of the thread that accounts usage, up to `time`.
  void advance(double time);

  // --- why a job is blocked ---

  /// What the rule counts, as of now, in the unit of its limit.
  double counted_usage(const LimitRule& rule) const;
  std::vector<int> running_jobs_of(const LimitRule& rule) const;

 private:
  using Kind = Limit::Kind;

  // What the jobs of an association, a QOS, or a user or account in a QOS use (`used_limits`).
  struct UsageCounter {
    int job_count = 0;
    int submitted_count = 0;
    int node_count = 0;
    std::vector<int> jobs_of_node;
    Amounts tres;              // of running jobs
    Amounts tres_run_seconds;  // that running jobs may still use
    Amounts tres_seconds;      // that jobs have used
    double wall_seconds = 0;   // that jobs have run
    bool decays = true;
  };
  struct CountedJob {
    int job;
    const RuleSet* rules;
    Amounts tres;
    std::vector<int> nodes;
    Second start;
  };
  // The terms that all rules of a job share.
  struct RuleContext {
    double minutes;             // of the job's limit
    bool has_usage_price;       // its UsageFactor is above 0
    bool ignores_running_jobs;  // the rules are tested as if no job ran
  };

  void set_initial_usage(int counter, const Limits& limits);
  std::vector<CountedJob>::iterator find_running(int job);
  std::vector<CountedJob>::const_iterator find_running(int job) const;
  void charge(const CountedJob& counted, Second now, bool has_ended);
  Second charged_until(const CountedJob& counted) const;

  bool is_violated_before_nodes(const LimitRule& rule, QueueEntry entry) const;
  Violation least_node_limit(const RuleSet& rules) const;
  Violation first_violation(QueueEntry entry, const Demand& demand,
                            bool ignores_running_jobs) const;
  bool is_violated(const LimitRule& rule, const Demand& demand, const RuleContext& context) const;
  bool is_group_minutes_violated(const LimitRule& rule, double wanted,
                                 const RuleContext& context) const;
  int shared_node_count(const UsageCounter& counter, const Demand& demand) const;
  double run_minutes(const LimitRule& rule, const RuleContext& context) const;
  double limit_minutes(QueueEntry entry) const;
  double usage_factor(int job) const;
  const UsageCounter& counter_of(const LimitRule& rule) const { return counters_[rule.counter]; }

  const Scenario& scenario_;
  const bool has_limits_;  // there are accounts or QOS
  LimitRules rules_;
  bool has_minute_limits_ = false;
  bool has_node_limits_ = false;
  Decay decay_;
  std::vector<UsageCounter> counters_;  // by counter of rules_
  std::vector<CountedJob> running_jobs_;
  std::vector<char> is_submitted_;  // by job
};

}  // namespace cosched::slurm
