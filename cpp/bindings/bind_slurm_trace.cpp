// The trace of the simulator of Slurm, as classes whose members have the names of the records.
#include "bind_slurm_trace.hpp"

namespace cosched::slurm::bindings {
namespace {

// Seconds; infinite where the time never comes.
double seconds_of(Second time) {
  return time >= kNever ? std::numeric_limits<double>::infinity() : static_cast<double>(time);
}

void bind_enums(py::module_& module) {
  def_names<Verdict>(module, "Verdict",
                     {{"started", Verdict::started},
                      {"reserved", Verdict::reserved},
                      {"started_elsewhere", Verdict::started_elsewhere},
                      {"preempting", Verdict::preempting},
                      {"limit", Verdict::limit},
                      {"array_rejected", Verdict::array_rejected},
                      {"array_full", Verdict::array_full},
                      {"licenses", Verdict::licenses},
                      {"max_job_limit", Verdict::max_job_limit},
                      {"no_begin", Verdict::no_begin},
                      {"no_nodes", Verdict::no_nodes},
                      {"starts_now_or_never", Verdict::starts_now_or_never},
                      {"after_window", Verdict::after_window},
                      {"no_reserve", Verdict::no_reserve},
                      {"node_space_full", Verdict::node_space_full},
                      {"resources", Verdict::resources},
                      {"priority", Verdict::priority},
                      {"advance_reservation", Verdict::advance_reservation},
                      {"reserved_nodes", Verdict::reserved_nodes}});
  def_names<NextTest>(module, "NextTest",
                      {{"none", NextTest::none},
                       {"at_later_start", NextTest::at_later_start},
                       {"after_overlap", NextTest::after_overlap}});
  def_names<CycleEnd>(module, "CycleEnd",
                      {{"end_of_queue", CycleEnd::end_of_queue},
                       {"max_job_test", CycleEnd::max_job_test},
                       {"max_time", CycleEnd::max_time},
                       {"max_job_start", CycleEnd::max_job_start},
                       {"node_space_size", CycleEnd::node_space_size},
                       {"gave_up", CycleEnd::gave_up}});
}

void bind_jobs(py::module_& module) {
  py::class_<QueuedJob>(module, "QueuedJob")
      .def_readonly("job", &QueuedJob::job)
      .def_readonly("partition", &QueuedJob::partition)
      .def_readonly("priority", &QueuedJob::priority);
  py::class_<JobTest>(module, "JobTest")
      .def_property_readonly("from_time", [](const JobTest& test) { return seconds_of(test.from); })
      .def_property_readonly("later_start",
                             [](const JobTest& test) { return seconds_of(test.later_start); })
      .def_property_readonly("avail_nodes",
                             [](const JobTest& test) { return test.avail_nodes.to_list(); })
      .def_property_readonly("begin", [](const JobTest& test) { return seconds_of(test.begin); })
      .def_property_readonly("select_nodes",
                             [](const JobTest& test) { return test.select_nodes.to_list(); })
      .def_readonly("next", &JobTest::next);
  py::class_<TracedJob>(module, "TracedJob")
      .def_readonly("entry", &TracedJob::entry)
      .def_readonly("now", &TracedJob::now)
      .def_readonly("tests", &TracedJob::tests)
      .def_readonly("verdict", &TracedJob::verdict)
      .def_readonly("started_job", &TracedJob::started_job)
      .def_property_readonly("begin", [](const TracedJob& job) { return seconds_of(job.begin); })
      .def_property_readonly("end", [](const TracedJob& job) { return seconds_of(job.end); })
      .def_property_readonly("nodes", [](const TracedJob& job) { return job.nodes.to_list(); })
      .def_readonly("limit", &TracedJob::limit);
}

void bind_cycles_and_passes(py::module_& module) {
  py::class_<NodeSpaceRecord>(module, "NodeSpaceRecord")
      .def_readonly("begin", &NodeSpaceRecord::begin)
      .def_readonly("end", &NodeSpaceRecord::end)
      .def_property_readonly("nodes",
                             [](const NodeSpaceRecord& record) { return record.nodes.to_list(); });
  py::class_<LockYield>(module, "LockYield")
      .def_readonly("time", &LockYield::time)
      .def_readonly("resume_time", &LockYield::resume_time)
      .def_readonly("jobs_examined", &LockYield::jobs_examined);
  py::class_<CycleTrace>(module, "CycleTrace")
      .def_readonly("number", &CycleTrace::number)
      .def_readonly("begin_time", &CycleTrace::begin_time)
      .def_readonly("end_time", &CycleTrace::end_time)
      .def_readonly("window_end", &CycleTrace::window_end)
      .def_readonly("job_test_count", &CycleTrace::job_test_count)
      .def_readonly("end", &CycleTrace::end)
      .def_readonly("queue", &CycleTrace::queue)
      .def_readonly("jobs", &CycleTrace::jobs)
      .def_readonly("yields", &CycleTrace::yields)
      .def_readonly("node_space", &CycleTrace::node_space);
  py::class_<PassTrace>(module, "PassTrace")
      .def_readonly("time", &PassTrace::time)
      .def_readonly("is_full", &PassTrace::is_full)
      .def_readonly("queue", &PassTrace::queue)
      .def_readonly("jobs", &PassTrace::jobs);
}

TraceRecorder make_recorder(int first_cycle, int last_cycle, double begin_time, double end_time,
                            int job, bool with_passes) {
  return TraceRecorder({.first_cycle = first_cycle,
                        .last_cycle = last_cycle,
                        .begin_time = begin_time,
                        .end_time = end_time,
                        .job = job,
                        .with_passes = with_passes});
}

}  // namespace

void bind_slurm_trace(py::module_& module) {
  bind_enums(module);
  bind_jobs(module);
  bind_cycles_and_passes(module);
  py::class_<TraceRecorder>(module, "TraceRecorder")
      .def(py::init(&make_recorder), py::kw_only(), "first_cycle"_a, "last_cycle"_a, "begin_time"_a,
           "end_time"_a, "job"_a, "with_passes"_a)
      .def_property_readonly("cycles", &TraceRecorder::cycles)
      .def_property_readonly("passes", &TraceRecorder::passes);
}

}  // namespace cosched::slurm::bindings
