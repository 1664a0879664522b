#include "cosched/cluster/dfrs/trace_writer.hpp"

#include <utility>

namespace cosched::cluster::dfrs {

TraceWriter::TraceWriter(const Instance& instance, Trace* trace, check::ScheduleChecker* checker)
    : order_(instance.order()), trace_(trace), checker_(checker) {
  if (!enabled()) return;
  row_of_.resize(instance.size(), -1);
  cause_.resize(instance.size(), RowCause::start);
}

void TraceWriter::update(int rank, double now, const Machine::Job& job) {
  const bool is_open = row_of_[rank] >= 0;
  if (is_open && rows_[row_of_[rank]].yield == job.yield) return;
  if (is_open) end_row(rank, now);
  Row& row = is_open ? rows_[row_of_[rank]] : open_row(rank);
  if (!is_open && trace_) row.mapping = trace_->add_mapping(job.nodes.data(), job.nodes.size());
  row.start = now;
  row.yield = job.yield;
  row.penalty_until = job.penalty_until;
  if (checker_)
    checker_->begin(order_[rank], now, job.nodes.data(), job.nodes.size(), job.yield, cause_[rank]);
}

void TraceWriter::close(int rank, double now, RowCause next) {
  if (!enabled()) return;
  if (row_of_[rank] >= 0) {
    end_row(rank, now);
    unused_.push_back(std::exchange(row_of_[rank], -1));
  }
  cause_[rank] = next;
}

TraceWriter::Row& TraceWriter::open_row(int rank) {
  if (unused_.empty()) {
    unused_.push_back(static_cast<int>(rows_.size()));
    rows_.emplace_back();
  }
  row_of_[rank] = unused_.back();
  unused_.pop_back();
  return rows_[row_of_[rank]];
}

void TraceWriter::end_row(int rank, double now) {
  if (trace_) record(rank, now);
  if (checker_) checker_->end(order_[rank], now);
  cause_[rank] = RowCause::go_on;
}

// A row that straddles the end of a penalty is two rows.
void TraceWriter::record(int rank, double now) const {
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

}  // namespace cosched::cluster::dfrs
