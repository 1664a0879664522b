// The map of a backfill cycle: which nodes no pending job has reserved, from when to when (RULES.md
// 4.1, 4.3, 4.7).
#pragma once

#include <cstdint>
#include <vector>

#include "cosched/slurm/model/node_bits.hpp"
#include "cosched/slurm/model/seconds.hpp"

namespace cosched::slurm {

/// A list of records that follow each other in time.
class PlanMap {
 public:
  struct Record {
    Second begin, end;
    NodeBits nodes;
    int next;  // 0 = the last
  };
  /// One record with all of `nodes`.
  void reset(Second begin, Second end, const NodeBits& nodes);

  /// A copy, for those who look at it from outside.
  Record operator[](int record) const;
  /// Records ever made in this cycle, those merged away included: what bf_node_space_size limits.
  int made() const { return made_; }

  Second begin() const { return records_[0].begin; }

  /// What a job that begins at a time may have.
  struct Window {
    const NodeBits* nodes;  // reserved in no record that it would meet; valid until the next call
    Second later;           // when there is more to have, or kNever
    int record;             // the last that ends by that time, or a record before it
    Second holds_until;     // the walk is the same for all times from this one on, before that one
  };
  /// Among `allowed` nodes, for `limit` seconds from `from`; a job that wants so many gives up as
  /// soon as there are fewer.  `first`: a record before all that end behind `from`.  O(records).
  /// `beyond`: the record behind the job's end says when there is more to have, too (RULES.md
  /// 12.4).
  Window window(const NodeBits& allowed, int wanted, Second from, Second limit, int first,
                bool beyond = false);

  /// No record that begins before `end` and ends after `begin` lacks one of `nodes`.
  bool free(const NodeBits& nodes, Second begin, Second end) const;
  /// Takes `nodes` away in [begin, end), which is cut to the map's begin and at least `resolution`
  /// long; then merges one pair of equal neighbours at most.
  void reserve(const NodeBits& nodes, Second begin, Second end, Second resolution);

 private:
  struct Span {
    Second begin, end;
    int next;
  };
  using Word = std::uint64_t;

  int split(int record, Second at);
  Span& of(int record) { return records_[static_cast<std::size_t>(record)]; }
  const Span& of(int record) const { return records_[static_cast<std::size_t>(record)]; }
  /// Its nodes: all records are walked for each job, so their words lie side by side.
  Word* words(int record) { return words_.data() + static_cast<std::size_t>(record) * size_; }
  const Word* words(int record) const {
    return words_.data() + static_cast<std::size_t>(record) * size_;
  }

  std::vector<Span> records_;
  std::vector<Word> words_;  // of each record, `size_` of them
  std::size_t size_ = 0;
  int made_ = 0;
  NodeBits window_;  // scratch, kept so that nothing is allocated
};

}  // namespace cosched::slurm
