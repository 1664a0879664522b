// The priority of a pending job (RULES.md 1.3 to 1.7, 13.5).
#pragma once

#include <vector>

#include "cosched/slurm/accounts/decay.hpp"
#include "cosched/slurm/model/scenario.hpp"

namespace cosched::slurm {

class Priorities {
 public:
  /// Requires that `scenario` outlives it.  O(jobs), where what they ask for has a weight.
  explicit Priorities(const Scenario& scenario);

  /// Of a job whose age is so many seconds; `before`: how many were submitted before it;
  /// `fair_share`: the factor of its association; `tested`: nodes have been looked for, so that all
  /// their CPUs are known to be its own.
  double of(int job, double age, int before, double fair_share = 0, bool tested = false) const;

 private:
  const Scenario& scenario_;
  std::vector<double> tres_;  // by job, of what it asks for; empty: that has no weight
};

/// Whether priorities change while jobs wait.
bool priorities_age(const Settings::Priority& settings);

// What users and accounts have used, and what they have of it in a priority (RULES.md 13.1 to
// 13.3).

class Usage {
 public:
  /// `decay_start`: when the thread of priority/multifactor began, or made the pass of which the
  /// factors are given.  Requires that `scenario` outlives it.
  Usage(const Scenario& scenario, double decay_start);

  /// All passes of the thread up to `time`, before anything else happens at that time; whether
  /// there were any.
  bool advance(double time);
  /// Whether there is such a thread: with a slurmdbd.
  static bool runs(const Scenario& scenario);
  /// When the next pass is; infinite: there is no such thread.
  double next_pass() const;
  /// A job starts, at so much a second, and is over.
  void start(int job, double price, Second now);
  void end(int job, Second now);

  /// Of the job's association, as of the last pass.
  double factor(int job) const;
  const std::vector<double>& factors() const { return factor_; }
  /// Passes so far, and the second of the last.
  std::int64_t passes() const { return decay_.passes(); }
  Second last_pass() const { return decay_.last(); }
  /// In CPU seconds, by association.
  const std::vector<double>& used() const { return used_; }

 private:
  struct Running {
    int job;
    double price;
    Second start;
  };
  void pass(Second now, double left);
  void charge(const Running& one, Second now);

  const Scenario& scenario_;
  Decay decay_;
  std::vector<double> used_, factor_;
  std::vector<Running> running_;
};

}  // namespace cosched::slurm
