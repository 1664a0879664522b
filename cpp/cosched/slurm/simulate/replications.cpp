#include "cosched/slurm/simulate/replications.hpp"

#include "cosched/core/threads.hpp"

namespace cosched::slurm {
namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

Outcome simulate_replication(const Scenario& scenario, int initial_job_count,
                             const Replication& replication) {
  const bool has_all_jobs = initial_job_count == static_cast<int>(scenario.jobs().size());
  if (replication.arrivals.empty() && has_all_jobs)
    return simulate(scenario, replication.clocks, {});
  std::vector<std::pair<int, double>> arrivals;
  Clocks clocks = replication.clocks;
  clocks.run_lengths.resize(static_cast<std::size_t>(initial_job_count), kNotANumber);
  for (const Arrival& arrival : replication.arrivals) {
    arrivals.emplace_back(arrival.template_job, arrival.submit);
    clocks.run_lengths.push_back(arrival.run_length);
  }
  return simulate(scenario.with_arrivals(initial_job_count, arrivals), clocks, {});
}

// Fills the row of a replication.
void store_outcome(const Outcome& outcome, int row, int initial_job_count,
                   ReplicationTable& table) {
  for (int column = 0; column < initial_job_count; ++column) {
    const auto job = static_cast<std::size_t>(column);
    table.start_times(row, column) = outcome.start[job];
    if (outcome.is_killed[job]) table.kill_times(row, column) = outcome.end[job];
  }
  for (const Pause& pause : outcome.pauses)
    if (pause.job < initial_job_count && std::isfinite(pause.end))
      table.paused_seconds(row, pause.job) += pause.end - pause.begin;
  table.blocked_by_limit[row] = outcome.blocked_by_limit;
}

}  // namespace

ReplicationTable simulate_all(const Scenario& scenario, int initial_job_count,
                              const std::vector<Replication>& replications, int threads,
                              const std::function<void(int)>& report_progress) {
  const auto row_count = static_cast<std::ptrdiff_t>(replications.size());
  ReplicationTable table{.start_times = Table(row_count, initial_job_count, kNotANumber),
                         .kill_times = Table(row_count, initial_job_count, kNotANumber),
                         .paused_seconds = Table(row_count, initial_job_count, 0),
                         .blocked_by_limit = {},
                         .first_outcome = {}};
  table.blocked_by_limit.resize(replications.size());
  const auto simulate_row = [&](int row) {
    Outcome outcome = simulate_replication(scenario, initial_job_count, replications[row]);
    store_outcome(outcome, row, initial_job_count, table);
    if (row == 0) table.first_outcome = std::move(outcome);
  };
  in_threads(static_cast<int>(row_count), threads, simulate_row, report_progress);
  return table;
}

}  // namespace cosched::slurm
