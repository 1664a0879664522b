// A sink that keeps the traces of some cycles and passes.
#pragma once

#include <limits>

#include "cosched/slurm/trace/trace_sink.hpp"

namespace cosched::slurm {

/// Which cycles and passes are kept.  All conditions hold together; a pass has no number.
struct TraceSelection {
  int first_cycle = 1;
  int last_cycle = std::numeric_limits<int>::max();
  double begin_time = -std::numeric_limits<double>::infinity();
  double end_time = std::numeric_limits<double>::infinity();
  int job = -1;  // only this job's part of each queue; below 0: all jobs
  bool with_passes = true;
};

class TraceRecorder : public TraceSink {
 public:
  explicit TraceRecorder(const TraceSelection& selection) : selection_(selection) {}

  bool wants_cycle(int number, double time) const override;
  void add_cycle(CycleTrace cycle) override;
  bool wants_pass(double time) const override;
  void add_pass(PassTrace pass) override;

  const std::vector<CycleTrace>& cycles() const { return cycles_; }
  const std::vector<PassTrace>& passes() const { return passes_; }

 private:
  bool is_in_period(double time) const;
  void keep_selected_job(std::vector<QueuedJob>& queue, std::vector<TracedJob>& jobs) const;

  TraceSelection selection_;
  std::vector<CycleTrace> cycles_;
  std::vector<PassTrace> passes_;
};

}  // namespace cosched::slurm
