#include <pybind11/functional.h>

#include "bind_slurm_trace.hpp"
#include "cosched/core/errors.hpp"
#include "cosched/slurm/state/limit_blocks.hpp"
#include "slurm_scenario.hpp"

namespace cosched::slurm::bindings {

namespace {

std::vector<SampleRecord> retrace_runs(const Scenario& scenario, const ClocksRecord& clocks,
                                       const std::vector<RecordedRun>& runs,
                                       const std::vector<double>& times) {
  if (runs.size() != scenario.jobs().size())
    throw InvalidInstance("slurm: runs: expected one of each job");
  for (const RecordedRun& run : runs)
    if (run.end <= run.start) throw InvalidInstance("slurm: a run that ends before its start");
  std::vector<SampleRecord> samples;
  for (const Sample& sample : retrace(scenario, to_clocks(clocks), runs, times))
    samples.push_back({sample.time, array_of(sample.factors), array_of(sample.priorities)});
  return samples;
}

std::map<int, LimitBlock> limit_block_by_job(const Scenario& scenario) {
  std::map<int, LimitBlock> block_by_job;
  const auto blocks = limit_blocks(scenario);
  for (std::size_t job = 0; job < blocks.size(); ++job)
    if (blocks[job]) block_by_job.emplace(static_cast<int>(job), *blocks[job]);
  return block_by_job;
}

// `trace`: None where the simulation is not traced.
OutcomeRecord run_once(const Scenario& scenario, const ClocksRecord& record, bool with_reasons,
                       bool with_plans, const py::typing::Optional<TraceRecorder>& trace,
                       bool remembers) {
  const Clocks clocks = to_clocks(record);
  TraceRecorder* const recorder = trace.is_none() ? nullptr : trace.cast<TraceRecorder*>();
  return to_record(released([&] {
    return simulate(scenario, clocks, {with_reasons, with_plans}, recorder, {remembers});
  }));
}

std::vector<Arrival> to_arrivals(const ArrivalColumns& columns, std::size_t job_count) {
  const std::size_t row_count = columns.template_job.size();
  if (columns.submit.size() != row_count || columns.run_length.size() != row_count)
    throw InvalidInstance("slurm: arrivals: expected columns of one length");
  std::vector<Arrival> arrivals;
  for (std::size_t row = 0; row < row_count; ++row) {
    const int job = columns.template_job[row];
    if (job < 0 || static_cast<std::size_t>(job) >= job_count)
      throw InvalidInstance("slurm: arrivals: template_job[" + std::to_string(row) +
                            "] = " + std::to_string(job) + ": expected a row of the jobs");
    arrivals.push_back({job, columns.submit[row], columns.run_length[row]});
  }
  return arrivals;
}

// `run_lengths` has a row for each replication and a column for each initial job, or no row.
std::vector<Replication> to_replications(const std::vector<ClocksRecord>& clocks,
                                         const Table& run_lengths,
                                         const std::vector<ArrivalColumns>& arrivals,
                                         int initial_job_count, std::size_t job_count) {
  const bool has_run_lengths = run_lengths.rows() > 0;
  if (has_run_lengths && (run_lengths.cols() != initial_job_count ||
                          static_cast<std::size_t>(run_lengths.rows()) != clocks.size()))
    throw InvalidInstance(
        "slurm: run_lengths: expected a row for each replication, a column for each initial job");
  std::vector<Replication> replications;
  for (std::size_t k = 0; k < clocks.size(); ++k) {
    Replication& replication = replications.emplace_back(Replication{to_clocks(clocks[k]), {}});
    if (has_run_lengths) {
      const auto row = run_lengths.row(static_cast<std::ptrdiff_t>(k));
      replication.clocks.run_lengths.assign(row.begin(), row.end());
    }
    if (!arrivals.empty()) replication.arrivals = to_arrivals(arrivals.at(k), job_count);
  }
  return replications;
}

ReplicationsRecord run_replications(const Scenario& scenario, int initial_job_count,
                                    const std::vector<ClocksRecord>& clocks,
                                    const Table& run_lengths,
                                    const std::vector<ArrivalColumns>& arrivals, int threads,
                                    const std::optional<std::function<void(int)>>& report,
                                    bool with_first_outcome) {
  const std::size_t job_count = scenario.jobs().size();
  if (initial_job_count < 0 || static_cast<std::size_t>(initial_job_count) > job_count)
    throw InvalidInstance("slurm: initial_job_count = " + std::to_string(initial_job_count) +
                          ": expected 0.." + std::to_string(job_count));
  if (threads < 1)
    throw InvalidInstance("slurm: threads = " + std::to_string(threads) + ": expected at least 1");
  const std::vector<Replication> replications =
      to_replications(clocks, run_lengths, arrivals, initial_job_count, job_count);
  const std::function<void(int)> report_progress = report.value_or(nullptr);
  ReplicationTable table = released([&] {
    return simulate_all(scenario, initial_job_count, replications, threads, report_progress);
  });
  const std::vector<py::ssize_t> shape{table.start_times.rows(), table.start_times.cols()};
  ReplicationsRecord record;
  record.start_times = frozen(std::move(table.start_times), shape);
  record.kill_times = frozen(std::move(table.kill_times), shape);
  record.paused_seconds = frozen(std::move(table.paused_seconds), shape);
  for (const auto& jobs : table.blocked_by_limit)
    record.blocked_by_limit.push_back(limit_by_job(jobs));
  if (with_first_outcome && table.first_outcome)
    record.first_outcome = to_record(*table.first_outcome);
  return record;
}

}  // namespace

void bind_slurm(py::module_& module) {
  bind_slurm_trace(module);
  bind_slurm_records(module);
  py::class_<Scenario>(module, "Scenario")
      .def(py::init(&make_scenario), py::kw_only(), "machine"_a, "partitions"_a, "settings"_a,
           "columns"_a, "jobs"_a, "reservations"_a, "admin_events"_a, "associations"_a)
      .def("limit_blocks", &limit_block_by_job)
      .def("retrace", &retrace_runs, py::kw_only(), "clocks"_a, "runs"_a, "times"_a)
      .def("simulate_all", &run_replications, py::kw_only(), "initial_job_count"_a, "clocks"_a,
           "run_lengths"_a, "arrivals"_a, "threads"_a, "report_progress"_a, "with_first_outcome"_a)
      .def("simulate", &run_once, py::kw_only(), "clocks"_a, "with_reasons"_a, "with_plans"_a,
           "trace"_a, "remembers"_a);
  module.attr("PARAMETERS") = usual_parameters();
}

}  // namespace cosched::slurm::bindings
