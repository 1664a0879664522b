#include "cosched/slurm/simulate/futures.hpp"

#include "cosched/core/threads.hpp"

namespace cosched::slurm {
namespace {

Outcome outcome_of(const Scenario& scenario, int there, const Replication& future) {
  if (future.arrivals.empty() && there == static_cast<int>(scenario.jobs().size()))
    return simulate(scenario, future.clocks, {});
  std::vector<std::pair<int, double>> later;
  Clocks clocks = future.clocks;
  clocks.run_lengths.resize(static_cast<std::size_t>(there),
                            std::numeric_limits<double>::quiet_NaN());
  for (const Arrival& one : future.arrivals) {
    later.emplace_back(one.template_job, one.submit);
    clocks.run_lengths.push_back(one.run_length);
  }
  return simulate(scenario.with_arrivals(there, later), clocks, {});
}

}  // namespace

ReplicationTable simulate_all(const Scenario& scenario, int there,
                              const std::vector<Replication>& futures, int threads,
                              const std::function<void(int)>& done) {
  const auto rows = static_cast<std::ptrdiff_t>(futures.size());
  const double none = std::numeric_limits<double>::quiet_NaN();
  ReplicationTable runs{
      Table(rows, there, none), Table(rows, there, none), Table(rows, there, 0), {}, {}};
  runs.blocked_by_limit.resize(futures.size());
  const auto simulated = [&](int number) {
    Outcome outcome = outcome_of(scenario, there, futures[number]);
    for (int j = 0; j < there; ++j) {
      const auto job = static_cast<std::size_t>(j);
      runs.start_times(number, j) = outcome.start[job];
      if (outcome.is_killed[job]) runs.kill_times(number, j) = outcome.end[job];
    }
    for (const Pause& pause : outcome.pauses)
      if (pause.job < there && std::isfinite(pause.end))
        runs.paused_seconds(number, pause.job) += pause.end - pause.begin;
    runs.blocked_by_limit[number] = outcome.blocked_by_limit;
    if (number == 0) runs.first_outcome = std::move(outcome);
  };
  in_threads(static_cast<int>(rows), threads, simulated, done);
  return runs;
}

}  // namespace cosched::slurm
