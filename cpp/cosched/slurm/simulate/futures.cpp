#include "cosched/slurm/simulate/futures.hpp"

#include "cosched/core/threads.hpp"

namespace cosched::slurm {
namespace {

Outcome outcome_of(const Scenario& scenario, int there, const Future& future) {
  if (future.coming.empty() && there == static_cast<int>(scenario.jobs().size()))
    return simulate(scenario, future.clocks, {});
  std::vector<std::pair<int, double>> later;
  Clocks clocks = future.clocks;
  clocks.lengths.resize(static_cast<std::size_t>(there), std::numeric_limits<double>::quiet_NaN());
  for (const Coming& one : future.coming) {
    later.emplace_back(one.like, one.submit);
    clocks.lengths.push_back(one.length);
  }
  return simulate(scenario.with(there, later), clocks, {});
}

}  // namespace

Runs simulate_all(const Scenario& scenario, int there, const std::vector<Future>& futures,
                  int threads, const std::function<void(int)>& done) {
  const auto rows = static_cast<std::ptrdiff_t>(futures.size());
  const double none = std::numeric_limits<double>::quiet_NaN();
  Runs runs{Table(rows, there, none), Table(rows, there, none), Table(rows, there, 0), {}, {}};
  runs.barred.resize(futures.size());
  const auto simulated = [&](int number) {
    Outcome outcome = outcome_of(scenario, there, futures[number]);
    for (int j = 0; j < there; ++j) {
      const auto job = static_cast<std::size_t>(j);
      runs.start(number, j) = outcome.start[job];
      if (outcome.killed[job]) runs.killed(number, j) = outcome.end[job];
    }
    for (const Pause& pause : outcome.pauses)
      if (pause.job < there && std::isfinite(pause.until))
        runs.paused(number, pause.job) += pause.until - pause.from;
    runs.barred[number] = outcome.barred;
    if (number == 0) runs.first = std::move(outcome);
  };
  in_threads(static_cast<int>(rows), threads, simulated, done);
  return runs;
}

}  // namespace cosched::slurm
