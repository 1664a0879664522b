#include "cosched/cluster/trace_writer.hpp"

namespace cosched::cluster {

TraceWriter::TraceWriter(const Instance& instance, Trace* trace, ScheduleChecker* checker)
    : order_(instance.order()), trace_(trace), checker_(checker) {
  if (enabled()) open_.resize(instance.size());
}

void TraceWriter::update(int rank, double now, const Machine::Job& job) {
  Open& open = open_[rank];
  if (open.is_open && open.yield == job.yield) return;
  if (open.is_open)
    end_row(rank, now);
  else if (trace_)
    open.mapping = trace_->add_mapping(job.nodes.data(), job.nodes.size());
  open.is_open = true;
  open.start = now;
  open.yield = job.yield;
  open.penalty_until = job.penalty_until;
  if (checker_)
    checker_->begin(order_[rank], now, job.nodes.data(), job.nodes.size(), job.yield, open.cause);
}

void TraceWriter::close(int rank, double now, RowCause next) {
  if (!enabled()) return;
  Open& open = open_[rank];
  if (open.is_open) end_row(rank, now);
  open.is_open = false;
  open.cause = next;
}

void TraceWriter::end_row(int rank, double now) {
  if (trace_) record(rank, now);
  if (checker_) checker_->end(order_[rank], now);
  open_[rank].cause = RowCause::go_on;
}

// A row that straddles the end of a penalty is two rows.
void TraceWriter::record(int rank, double now) const {
  const Open& open = open_[rank];
  const int job = order_[rank];
  double from = open.start;
  RowCause cause = open.cause;
  if (open.penalty_until > from) {
    const double to = open.penalty_until < now ? open.penalty_until : now;
    trace_->add(job, open.mapping, from, to, open.yield, 0, cause);
    if (to == now) return;
    from = to;
    cause = RowCause::go_on;
  }
  trace_->add(job, open.mapping, from, now, open.yield, open.yield, cause);
}

}  // namespace cosched::cluster
