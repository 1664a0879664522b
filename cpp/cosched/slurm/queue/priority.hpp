// The priority of a pending job (RULES.md 1.3 to 1.7, 13.5).
#pragma once

#include "cosched/core/numeric.hpp"
#include "cosched/slurm/accounts/decay.hpp"
#include "cosched/slurm/accounts/fair_tree.hpp"
#include "cosched/slurm/limits/limit_rules.hpp"

namespace cosched::slurm {

/// Whether priorities change while jobs wait.
inline bool priorities_age(const Settings::Priority& settings) {
  return settings.multifactor && settings.ages_count && settings.weight_age > 0;
}

class Priorities {
 public:
  /// Requires that `scenario` outlives it.  O(jobs), where what they ask for has a weight.
  explicit Priorities(const Scenario& scenario) : scenario_(scenario) {
    if (scenario.machine().priority_tres.empty()) return;
    std::vector<Amounts> of_part;
    for (const Partition& part : scenario.machine().partitions)
      of_part.push_back(amounts_of(scenario, part.nodes));
    for (std::size_t job = 0; job < scenario.jobs().size(); ++job) {
      const QueueEntry entry{static_cast<int>(job), scenario.jobs()[job].partition};
      tres_by_job_.push_back(tres_factor(scenario, entry, of_part[entry.partition]));
    }
  }

  /// Of a job whose age is so many seconds; `before`: how many were submitted before it;
  /// `fair_share`: the factor of its association; `tested`: nodes have been looked for, so that all
  /// their CPUs are known to be its own.
  double priority_of(int job, double age, int before, double fair_share = 0,
                     bool tested = false) const {
    const Settings::Priority& settings = scenario_.settings().priority;
    const Job& one = scenario_.job(job);
    const double tres = tres_by_job_.empty() ? 0 : tres_by_job_[job];
    if (one.priority >= 0) return one.priority;
    if (!settings.multifactor) return kTopPriority - before;
    double sum = settings.weight_size * size_factor(settings, scenario_.machine(), one, tested) +
                 settings.weight_partition * scenario_.partition(job).job_factor +
                 settings.weight_fair_share * fair_share + settings.weight_qos * one.qos_factor +
                 tres - one.nice;
    if (priorities_age(settings))
      sum += settings.weight_age * std::min(1.0, std::max(0.0, age) / settings.max_age);
    return std::floor(std::max(1.0, sum));
  }

 private:
  static constexpr double kTopPriority = 0xffff0000u;

  static double size_factor(const Settings::Priority& settings, const Machine& machine,
                            const Job& job, bool tested) {
    const double nodes = machine.nodes, cpus = machine.cpus;
    const double all = tested && machine.node_cores.empty() ? job.nodes * cpus / nodes : 0;
    double size = (job.nodes / nodes + std::max<double>(job.cpus, all) / cpus) / 2;
    if (settings.relative_to_time) {
      // Slurm keeps limits in whole minutes.
      const Second minutes = std::max<Second>(1, job.limit / 60);
      size = std::max(job.nodes * cpus / nodes, static_cast<double>(job.cpus)) /
             static_cast<double>(minutes) / cpus;
    }
    return settings.favor_small ? 1 - size : size;
  }

  // PriorityWeightTRES: what it asks for, over all of its partition.
  static double tres_factor(const Scenario& scenario, QueueEntry entry, const Amounts& all) {
    const Amounts& weights = scenario.machine().priority_tres;
    const Amounts wanted = request_of(scenario, entry, scenario.job(entry).nodes).tres;
    double sum = 0;
    for (std::size_t k = 0; k < std::min(weights.size(), all.size()); ++k)
      if (all[k] > 0) sum += weights[k] * wanted[k] / all[k];
    return sum;
  }

  const Scenario& scenario_;
  std::vector<double> tres_by_job_;  // by job, of what it asks for; empty: that has no weight
};

// What users and accounts have used, and what they have of it in a priority (RULES.md 13.1 to
// 13.3).

class Usage {
 public:
  /// `decay_start`: when the thread of priority/multifactor began, or made the pass of which the
  /// factors are given.  Requires that `scenario` outlives it.
  Usage(const Scenario& scenario, double decay_start)
      : scenario_(scenario),
        decay_(scenario.settings().priority, decay_start, has_initial_factors(scenario)),
        used_seconds_(scenario.accounts().size()) {
    for (std::size_t k = 0; k < used_seconds_.size(); ++k)
      used_seconds_[k] = scenario.accounts()[k].initial_usage;
    factors_ = fair_tree(scenario.accounts(), used_seconds_);
    for (std::size_t k = 0; k < factors_.size(); ++k)
      if (const double known = scenario.accounts()[k].initial_factor; known >= 0)
        factors_[k] = known;
  }

  /// All passes of the thread up to `time`, before anything else happens at that time; whether
  /// there were any.
  bool advance(double time) {
    return is_accounted(scenario_) &&
           decay_.advance(time, [&](Second now, double left) { run_pass(now, left); });
  }

  /// Whether there is such a thread: with a slurmdbd.
  static bool is_accounted(const Scenario& scenario) {
    return !scenario.accounts().empty() || priorities_age(scenario.settings().priority);
  }

  /// When the next pass is; infinite: there is no such thread.
  double next_pass_time() const {
    return is_accounted(scenario_) ? decay_.next_pass_time() : kInfinity;
  }

  /// A job starts, at so much a second, and is over.
  void start(int job, double price, Second now) {
    if (!used_seconds_.empty()) running_.push_back({job, price, now});
  }

  void end(int job, Second now) {
    const auto found = std::find_if(running_.begin(), running_.end(),
                                    [&](const RunningJob& one) { return one.job == job; });
    if (found == running_.end()) return;
    charge(*found, now);
    running_.erase(found);
  }

  /// Of the job's association, as of the last pass.
  double factor_of(int job) const {
    const int association = scenario_.job(job).association;
    return association < 0 ? 0 : factors_[association];
  }

  const std::vector<double>& factors() const { return factors_; }
  /// Passes so far, and the second of the last.
  std::int64_t pass_count() const { return decay_.pass_count(); }
  Second last_pass_time() const { return decay_.last_pass_time(); }
  /// In CPU seconds, by association.
  const std::vector<double>& used_seconds() const { return used_seconds_; }

 private:
  struct RunningJob {
    int job;
    double price;
    Second start;
  };
  // The first pass was when the thread began, and what came of it.
  static bool has_initial_factors(const Scenario& scenario) {
    const std::vector<Association>& all = scenario.accounts();
    return std::any_of(all.begin(), all.end(),
                       [](const Association& one) { return one.initial_factor >= 0; });
  }

  void run_pass(Second now, double left) {
    for (double& used : used_seconds_) used *= left;
    for (const RunningJob& one : running_) charge(one, now);
    if (used_seconds_.empty()) return;
    factors_ = fair_tree(scenario_.accounts(), used_seconds_);
  }

  // Its association and those above it.
  void charge(const RunningJob& one, Second now) {
    const Second ran = now - std::max(decay_.last_pass_time(), one.start);
    if (ran <= 0) return;
    const double amount = static_cast<double>(ran) * decay_.remaining_fraction(ran) * one.price;
    for (int k = scenario_.job(one.job).association; k >= 0; k = scenario_.accounts()[k].parent)
      used_seconds_[k] += amount;
  }

  const Scenario& scenario_;
  Decay decay_;
  std::vector<double> used_seconds_, factors_;
  std::vector<RunningJob> running_;
};

}  // namespace cosched::slurm
