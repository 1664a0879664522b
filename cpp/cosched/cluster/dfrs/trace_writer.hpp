// Tells, event by event, what the simulator's state means in rows: to a Trace that records
// them, and to a ScheduleChecker that checks them while the simulation runs.
#pragma once

#include <utility>
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
  TraceWriter(const Instance& instance, Trace* trace, check::ScheduleChecker* checker)
      : order_(instance.order()), trace_(trace), checker_(checker) {
    if (!enabled()) return;
    row_of_.resize(instance.size(), -1);
    cause_.resize(instance.size(), RowCause::start);
  }

  /// The job will soon be told of.
  void expect(int rank) const {
    if (checker_) checker_->expect(order_[rank]);
  }
  bool enabled() const { return trace_ != nullptr || checker_ != nullptr; }

  /// The running job's state from `now` on: a new row if its yield changed or close()
  /// ended the last one.
  void update(int rank, double now, const Machine::Job& job) {
    const bool is_open = row_of_[rank] >= 0;
    if (is_open && rows_[row_of_[rank]].yield == job.yield) return;
    if (is_open) end_row(rank, now);
    Row& row = is_open ? rows_[row_of_[rank]] : open_row(rank);
    if (!is_open && trace_) row.mapping = trace_->add_mapping(job.nodes.data(), job.nodes.size());
    row.start = now;
    row.yield = job.yield;
    row.penalty_until = job.penalty_until;
    if (checker_)
      checker_->begin(order_[rank], now, job.nodes.data(), job.nodes.size(), job.yield,
                      cause_[rank]);
  }

  /// The job's mapping ends at `now`; its next row begins for this reason.
  void close(int rank, double now, RowCause next) {
    if (!enabled()) return;
    if (row_of_[rank] >= 0) {
      end_row(rank, now);
      unused_.push_back(std::exchange(row_of_[rank], -1));
    }
    cause_[rank] = next;
  }

  /// All changes of an event have been told.
  void settle() {
    if (checker_) checker_->settle();
  }

 private:
  struct alignas(32) Row {  // half a cache line
    double start = 0, yield = 0, penalty_until = 0;
    int mapping = -1;  // in the trace
  };

  Row& open_row(int rank) {
    if (unused_.empty()) {
      unused_.push_back(static_cast<int>(rows_.size()));
      rows_.emplace_back();
    }
    row_of_[rank] = unused_.back();
    unused_.pop_back();
    return rows_[row_of_[rank]];
  }

  void end_row(int rank, double now) {
    if (trace_) record(rank, now);
    if (checker_) checker_->end(order_[rank], now);
    cause_[rank] = RowCause::go_on;
  }

  // A row that straddles the end of a penalty is two rows.
  void record(int rank, double now) const {
    const Row& open = rows_[row_of_[rank]];
    const int job = order_[rank];
    double from = open.start;
    RowCause cause = cause_[rank];
    if (open.penalty_until > from) {
      const double to = open.penalty_until < now ? open.penalty_until : now;
      trace_->add(job, open.mapping, from, to, open.yield, 0, cause);
      if (to == now) return;
      from = to;
      cause = RowCause::go_on;
    }
    trace_->add(job, open.mapping, from, now, open.yield, open.yield, cause);
  }

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
