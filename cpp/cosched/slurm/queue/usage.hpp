// What users and accounts have used, and the fair-share factors that follow (RULES.md 13.1 to
// 13.3): the thread `_decay_thread` of priority_multifactor.c.
#pragma once

#include "cosched/core/numeric.hpp"
#include "cosched/slurm/accounts/decay.hpp"
#include "cosched/slurm/model/scenario.hpp"

namespace cosched::slurm {

class Usage {
 public:
  /// `decay_start`: when the decay thread began, or made the pass whose factors the scenario has.
  /// Requires that `scenario` outlives it.
  Usage(const Scenario& scenario, double decay_start);

  /// Makes all passes of the decay thread up to `time`, before anything else happens at that time;
  /// returns whether there were any.
  bool advance(double time);
  /// True where there is a decay thread: with a slurmdbd.
  static bool is_accounted(const Scenario& scenario);
  /// When the next pass of the decay thread is; infinite: there is no such thread.
  double next_pass_time() const;

  /// A job starts, at so much usage per second.
  void start(int job, double usage_per_second, Second now);
  void end(int job, Second now);

  /// The fair-share factor of the job's association, as of the last pass.
  double factor_of(int job) const;
  /// Fair-share factors by association.
  const std::vector<double>& factors() const { return factors_; }
  /// Passes of the decay thread so far, and the second of the last one.
  std::int64_t pass_count() const { return decay_.pass_count(); }
  Second last_pass_time() const { return decay_.last_pass_time(); }
  /// CPU seconds by association.
  const std::vector<double>& used_seconds() const { return used_seconds_; }

 private:
  struct ChargedJob {
    int job;
    double usage_per_second;
    Second start;
  };

  void run_pass(Second now, double remaining_fraction);
  void charge(const ChargedJob& charged, Second now);

  const Scenario& scenario_;
  Decay decay_;
  std::vector<double> used_seconds_;      // by association
  std::vector<double> factors_;           // by association
  std::vector<ChargedJob> charged_jobs_;  // that run
};

}  // namespace cosched::slurm
