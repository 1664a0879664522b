#include "cosched/slurm/plan/cycle_tracer.hpp"

#include <utility>

namespace cosched::slurm {

void CycleTracer::begin_cycle(int number, double time) {
  cycle_.reset();
  if (sink_ == nullptr || !sink_->wants_cycle(number, time)) return;
  cycle_.emplace();
  cycle_->number = number;
  cycle_->begin_time = time;
}

void CycleTracer::set_queue(std::vector<QueuedJob> queue, Second window_end) {
  if (!cycle_) return;
  cycle_->queue = std::move(queue);
  cycle_->window_end = window_end;
}

void CycleTracer::begin_job(const QueuedJob& entry, Second now) {
  if (cycle_) cycle_->jobs.push_back({entry, now});
}

void CycleTracer::add_test(Second from, Second later_start, const NodeBits& avail_nodes,
                           Second begin, const NodeBits* select_nodes) {
  if (!cycle_) return;
  cycle_->jobs.back().tests.push_back(
      {from, later_start, avail_nodes, begin, select_nodes ? *select_nodes : NodeBits()});
}

void CycleTracer::set_next_test(NextTest next) {
  if (cycle_) cycle_->jobs.back().tests.back().next = next;
}

void CycleTracer::set_slot(int job, Second begin, Second end, const NodeBits& nodes) {
  if (!cycle_) return;
  TracedJob& traced = cycle_->jobs.back();
  traced.started_job = job;
  traced.begin = begin;
  traced.end = end;
  traced.nodes = nodes;
}

void CycleTracer::set_limit(std::string limit) {
  if (cycle_) cycle_->jobs.back().limit = std::move(limit);
}

void CycleTracer::end_job(Verdict verdict) {
  if (cycle_) cycle_->jobs.back().verdict = verdict;
}

void CycleTracer::add_yield(const LockYield& yield) {
  if (cycle_) cycle_->yields.push_back(yield);
}

void CycleTracer::end_cycle(CycleEnd end, double time, int job_test_count,
                            const NodeSpace& node_space) {
  if (!cycle_) return;
  cycle_->end = end;
  cycle_->end_time = time;
  cycle_->job_test_count = job_test_count;
  for (int record = 0; record < node_space.record_count(); ++record)
    cycle_->node_space.push_back(node_space[record]);
  sink_->add_cycle(std::move(*cycle_));
  cycle_.reset();
}

}  // namespace cosched::slurm
