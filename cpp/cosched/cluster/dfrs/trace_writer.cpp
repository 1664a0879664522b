#include "cosched/cluster/dfrs/trace_writer.hpp"

namespace cosched::cluster::dfrs {

TraceWriter::TraceWriter(const Instance& instance, Trace* trace, check::ScheduleChecker* checker)
    : order_(instance.order()), trace_(trace), checker_(checker) {
  if (!is_enabled()) return;
  row_of_job_.resize(instance.size(), -1);
  causes_.resize(instance.size(), RowCause::start);
}

void TraceWriter::update(int rank, double now, const DfrsMachine::Job& job) {
  const bool is_open = row_of_job_[rank] >= 0;
  if (is_open && rows_[row_of_job_[rank]].yield == job.yield) return;
  if (is_open) end_row(rank, now);
  OpenRow& row = is_open ? rows_[row_of_job_[rank]] : open_row(rank);
  if (!is_open && trace_) row.mapping = trace_->add_mapping(job.nodes.data(), job.nodes.size());
  row.start = now;
  row.yield = job.yield;
  row.penalty_until = job.penalty_until;
  if (checker_)
    checker_->begin_row(order_[rank], now, job.nodes.data(), job.nodes.size(), job.yield,
                        causes_[rank]);
}

void TraceWriter::close_row(int rank, double now, RowCause next_cause) {
  if (!is_enabled()) return;
  if (row_of_job_[rank] >= 0) {
    end_row(rank, now);
    free_rows_.push_back(row_of_job_[rank]);
    row_of_job_[rank] = -1;
  }
  causes_[rank] = next_cause;
}

TraceWriter::OpenRow& TraceWriter::open_row(int rank) {
  if (free_rows_.empty()) {
    free_rows_.push_back(static_cast<int>(rows_.size()));
    rows_.emplace_back();
  }
  row_of_job_[rank] = free_rows_.back();
  free_rows_.pop_back();
  return rows_[row_of_job_[rank]];
}

void TraceWriter::end_row(int rank, double now) {
  if (trace_) add_to_trace(rank, now);
  if (checker_) checker_->end_row(order_[rank], now);
  causes_[rank] = RowCause::go_on;
}

void TraceWriter::add_to_trace(int rank, double now) const {
  const OpenRow& row = rows_[row_of_job_[rank]];
  const int job = order_[rank];
  double begin = row.start;
  RowCause cause = causes_[rank];
  if (row.penalty_until > begin) {
    const double penalty_end = row.penalty_until < now ? row.penalty_until : now;
    trace_->add(job, row.mapping, begin, penalty_end, row.yield, 0, cause);
    if (penalty_end == now) return;
    begin = penalty_end;
    cause = RowCause::go_on;
  }
  trace_->add(job, row.mapping, begin, now, row.yield, row.yield, cause);
}

}  // namespace cosched::cluster::dfrs
