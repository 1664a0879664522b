// Writes down what a backfill cycle does, where a sink wants it.
#pragma once

#include <optional>

#include "cosched/slurm/plan/node_space.hpp"
#include "cosched/slurm/trace/trace_sink.hpp"

namespace cosched::slurm {

/// The trace of one cycle in the making.  Where nobody wants the cycle, each function returns at
/// once; `is_on` says so beforehand to those who would have to look something up for it.
class CycleTracer {
 public:
  /// `sink` may be null.  Requires that it outlives the tracer.
  explicit CycleTracer(TraceSink* sink) : sink_(sink) {}

  bool is_on() const { return cycle_.has_value(); }
  void begin_cycle(int number, double time);
  void set_queue(std::vector<QueuedJob> queue, Second window_end);
  void begin_job(const QueuedJob& entry, Second now);
  /// `select_nodes` is null where too few nodes are available.
  void add_test(Second from, Second later_start, const NodeBits& avail_nodes, Second begin,
                const NodeBits* select_nodes);
  /// What follows the last test.
  void set_next_test(NextTest next);
  /// The slot of the start or reservation of the job, whose verdict follows.
  void set_slot(int job, Second begin, Second end, const NodeBits& nodes);
  /// The limit of Verdict::limit, as squeue names it.
  void set_limit(std::string limit);
  void end_job(Verdict verdict);
  void add_yield(const LockYield& yield);
  void end_cycle(CycleEnd end, double time, int job_test_count, const NodeSpace& node_space);

 private:
  TraceSink* sink_;
  std::optional<CycleTrace> cycle_;
};

}  // namespace cosched::slurm
