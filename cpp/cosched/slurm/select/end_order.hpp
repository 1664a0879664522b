// Running jobs in order of their limits, side by side: a test in the backfill cycle looks at all of them.
#pragma once

#include <cstdint>
#include <vector>

#include "cosched/slurm/select/allocations.hpp"

namespace cosched::slurm {

class EndOrder {
 public:
  /// As the allocations are now.  O(running), where anything has changed since the last call.
  void refresh(const Allocations& allocations);

  std::size_t size() const { return jobs_.size(); }
  int job(std::size_t k) const { return jobs_[k]; }
  Second due(std::size_t k) const { return due_[k]; }

  /// A set to compare with those of many jobs: its words from the first to the last with a node.
  struct Wanted {
    explicit Wanted(const NodeBits& nodes);
    const std::vector<std::uint64_t>& words;
    std::size_t first, last;
  };
  /// The k-th job has one of its nodes.
  bool meets(std::size_t k, const Wanted& wanted) const {
    const std::uint64_t* own = words_.data() + k * wanted.words.size();
    std::uint64_t common = 0;
    for (std::size_t w = wanted.first; w < wanted.last; ++w) common |= own[w] & wanted.words[w];
    return common != 0;
  }

 private:
  std::vector<int> jobs_;
  std::vector<Second> due_;
  std::vector<std::uint64_t> words_;  // of all nodes, job after job
  std::int64_t version_ = -1;
};

}  // namespace cosched::slurm
