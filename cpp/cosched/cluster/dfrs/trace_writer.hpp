// Writes the states of running jobs as the rows of a trace.
#pragma once

#include <vector>

#include "cosched/cluster/check/schedule_checker.hpp"
#include "cosched/cluster/dfrs/dfrs_machine.hpp"
#include "cosched/cluster/model/simulation_outcome.hpp"
#include "cosched/cluster/model/trace.hpp"

namespace cosched::cluster::dfrs {

/// Reports rows event by event: to a Trace that records them, and to a ScheduleChecker that checks
/// them while the simulation runs.
class TraceWriter {
 public:
  /// Trace and checker may be null.  Keeps references.
  TraceWriter(const Instance& instance, Trace* trace, check::ScheduleChecker* checker);

  bool is_enabled() const { return trace_ != nullptr || checker_ != nullptr; }
  /// Announces that update() or close_row() will be called for the job.
  void prefetch_job(int rank) const {
    if (checker_) checker_->prefetch_job(order_[rank]);
  }

  /// The running job's state from `now` on: a new row if its yield has changed or close_row() has
  /// ended the last one.
  void update(int rank, double now, const DfrsMachine::Job& job);
  /// The job's mapping ends at `now`; its next row begins for this reason.
  void close_row(int rank, double now, RowCause next_cause);
  /// All changes of an event have been reported.
  void finish_event() {
    if (checker_) checker_->finish_event();
  }

 private:
  struct alignas(32) OpenRow {  // half a cache line
    double start = 0;
    double yield = 0;
    double penalty_until = 0;
    int mapping = -1;  // in the trace
  };

  OpenRow& open_row(int rank);
  void end_row(int rank, double now);
  // A row that straddles the end of a penalty is two rows of the trace.
  void add_to_trace(int rank, double now) const;

  const std::vector<int>& order_;
  Trace* trace_;
  check::ScheduleChecker* checker_;
  // Few jobs run at a time: what is reported of each at every event lies close together.
  std::vector<OpenRow> rows_;     // those in use and the free ones
  std::vector<int> free_rows_;    // indices into rows_
  std::vector<int> row_of_job_;   // by rank: index into rows_; -1: no open row
  std::vector<RowCause> causes_;  // by rank: of the open row, else of the next one
};

}  // namespace cosched::cluster::dfrs
