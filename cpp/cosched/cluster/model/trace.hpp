// What ran where, at which speed, when: the full record of a simulation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cosched::cluster {

/// Why a row begins.
enum class RowCause : char {
  start,   // the job's first row
  resume,  // after a pause
  move,    // on other nodes than before
  go_on,   // same nodes; the yield changed or a penalty ended
};

/// Row r: job[r] occupied the nodes of mapping[r] from start[r] to end[r] with CPU share
/// yield[r] c_j on each task's node.  progress[r] is yield[r], or 0 while the job paid
/// a rescheduling penalty.  Mapping k is node[node_begin[k] .. node_begin[k+1]), one
/// entry for each task, increasing.  Rows of a job are in order of time; a row ends where the
/// job's mapping, yield or penalty changes.
struct Trace {
  std::vector<int> job;
  std::vector<int> mapping;
  std::vector<double> start;
  std::vector<double> end;
  std::vector<double> yield;
  std::vector<double> progress;
  std::vector<RowCause> cause;
  std::vector<std::int64_t> node_begin{0};
  std::vector<int> node;

  std::size_t rows() const { return job.size(); }
  int mappings() const { return static_cast<int>(node_begin.size()) - 1; }

  /// Returns its number.
  int add_mapping(const int* nodes, std::size_t count);
  int add_mapping(const std::vector<int>& nodes) { return add_mapping(nodes.data(), nodes.size()); }
  void add(int row_job, int row_mapping, double row_start, double row_end, double row_yield,
           double row_progress, RowCause row_cause);
};

/// The columns of a trace in memory that somebody else keeps: a long log has hundreds of megabytes
/// of node numbers.
struct TraceView {
  std::span<const int> job;
  std::span<const int> mapping;
  std::span<const double> start;
  std::span<const double> end;
  std::span<const double> yield;
  std::span<const double> progress;
  std::span<const RowCause> cause;
  std::span<const std::int64_t> node_begin;
  std::span<const int> node;

  TraceView() = default;
  TraceView(const Trace& trace)  // NOLINT: a trace is passed as its view
      : job(trace.job),
        mapping(trace.mapping),
        start(trace.start),
        end(trace.end),
        yield(trace.yield),
        progress(trace.progress),
        cause(trace.cause),
        node_begin(trace.node_begin),
        node(trace.node) {}

  std::size_t rows() const { return job.size(); }
  int mappings() const { return static_cast<int>(node_begin.size()) - 1; }
};

}  // namespace cosched::cluster
