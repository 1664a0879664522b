// What ran where, at which speed, when: the full record of a simulation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cosched::cluster {

/// Why a row begins.
enum class RowCause : char {
  start,   // the job's first row
  resume,  // after a pause
  move,    // on other nodes than before
  go_on,   // same nodes; the yield changed or a penalty ended
};

/// Row r: job[r] held the nodes of mapping[r] from start[r] to end[r] with CPU share
/// yield[r] c_j on each task's node.  progress[r] is yield[r], or 0 while the job paid
/// a rescheduling penalty.  Mapping k is node[node_begin[k] .. node_begin[k+1]), one
/// entry a task, increasing.  Rows of a job are in order of time; a row ends where the
/// job's mapping, yield or penalty changes.
struct Trace {
  std::vector<int> job, mapping;
  std::vector<double> start, end, yield, progress;
  std::vector<RowCause> cause;
  std::vector<std::int64_t> node_begin{0};
  std::vector<int> node;

  std::size_t rows() const { return job.size(); }
  int mappings() const { return static_cast<int>(node_begin.size()) - 1; }

  int add_mapping(const int* nodes, std::size_t count) {
    node.insert(node.end(), nodes, nodes + count);
    node_begin.push_back(static_cast<std::int64_t>(node.size()));
    return mappings() - 1;
  }
  int add_mapping(const std::vector<int>& nodes) { return add_mapping(nodes.data(), nodes.size()); }
  void add(int job_id, int mapping_id, double from, double to, double share, double speed,
           RowCause why) {
    job.push_back(job_id);
    mapping.push_back(mapping_id);
    start.push_back(from);
    end.push_back(to);
    yield.push_back(share);
    progress.push_back(speed);
    cause.push_back(why);
  }
};

}  // namespace cosched::cluster
