#include "cosched/cluster/model/trace.hpp"

namespace cosched::cluster {

int Trace::add_mapping(const int* nodes, std::size_t count) {
  node.insert(node.end(), nodes, nodes + count);
  node_begin.push_back(static_cast<std::int64_t>(node.size()));
  return mappings() - 1;
}

void Trace::add(int row_job, int row_mapping, double row_start, double row_end, double row_yield,
                double row_progress, RowCause row_cause) {
  job.push_back(row_job);
  mapping.push_back(row_mapping);
  start.push_back(row_start);
  end.push_back(row_end);
  yield.push_back(row_yield);
  progress.push_back(row_progress);
  cause.push_back(row_cause);
}

}  // namespace cosched::cluster
