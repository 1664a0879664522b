// Tells, event by event, what the simulator's state means in rows: to a Trace that records
// them, and to a ScheduleChecker that checks them while the simulation runs.
#pragma once

#include <vector>

#include "cosched/cluster/check/validate_trace.hpp"
#include "cosched/cluster/dfrs/machine.hpp"
#include "cosched/cluster/model/instance.hpp"
#include "cosched/cluster/model/outcome.hpp"
#include "cosched/cluster/model/prefetch.hpp"

namespace cosched::cluster::dfrs {

class TraceWriter {
 public:
  /// Either may be null.
  TraceWriter(const Instance& instance, Trace* trace, check::ScheduleChecker* checker);

  /// The job will soon be told of.
  void expect(int rank) const {
    if (checker_) checker_->expect(order_[rank]);
  }
  bool enabled() const { return trace_ != nullptr || checker_ != nullptr; }
  /// The running job's state from `now` on: a new row if its yield changed or close()
  /// ended the last one.
  void update(int rank, double now, const Machine::Job& job);
  /// The job's mapping ends at `now`; its next row begins for this reason.
  void close(int rank, double now, RowCause next);
  /// All changes of an event have been told.
  void settle() {
    if (checker_) checker_->settle();
  }

 private:
  struct alignas(32) Row {  // half a cache line
    double start = 0, yield = 0, penalty_until = 0;
    int mapping = -1;  // in the trace
  };
  Row& open_row(int rank);
  void end_row(int rank, double now);
  void record(int rank, double now) const;

  const std::vector<int>& order_;
  Trace* trace_;
  check::ScheduleChecker* checker_;
  // Few jobs run at a time: what is told of each at every event lies close together.
  std::vector<Row> rows_;        // open ones, and the unused
  std::vector<int> unused_;      // indices of rows
  std::vector<int> row_of_;      // by rank: index of its open row, or -1
  std::vector<RowCause> cause_;  // by rank: of the row that is open, or of the next
};

}  // namespace cosched::cluster::dfrs
