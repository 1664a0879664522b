// The map of a backfill cycle: which nodes no pending job has reserved, from when to when.
#pragma once

#include <vector>

#include "cosched/cluster/slurm/setup.hpp"

namespace cosched::cluster::slurm {

/// A list of records that follow each other in time.
class SlurmMap {
 public:
  struct Record {
    Second begin, end;
    NodeBits nodes;
    int next;  // 0 = the last
  };

  /// One record with all of `nodes`.
  void reset(Second begin, Second end, const NodeBits& nodes);

  const Record& operator[](int record) const { return records_[static_cast<std::size_t>(record)]; }
  /// Records ever made in this cycle, those merged away included: what bf_node_space_size limits.
  int made() const { return made_; }

  /// No record that begins before `end` and ends after `begin` lacks one of `nodes`.
  bool free(const NodeBits& nodes, Second begin, Second end) const;
  /// Takes `nodes` away in [begin, end), which is cut to the map's begin and at least `resolution`
  /// long; then merges one pair of equal neighbours at most.
  void reserve(const NodeBits& nodes, Second begin, Second end, Second resolution);

 private:
  int split(int record, Second at);

  std::vector<Record> records_;
  int made_ = 0;
};

}  // namespace cosched::cluster::slurm
