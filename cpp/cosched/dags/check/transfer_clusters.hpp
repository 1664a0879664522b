// Tasks that must share a memory, as the check of a TransfersCertificate sees them.
#pragma once

#include <vector>

#include "cosched/dags/check/transfer_open.hpp"

namespace cosched::dags::check {

class TransferClusters {
 public:
  explicit TransferClusters(const TransferOpen& open);

  /// What clusters close, and the heads and tails they raise.  True: they did so.
  bool bind(TransferOpen& open) const;

 private:
  using Cluster = std::vector<int>;
  struct Fit {
    bool fits, changed;
  };
  bool bind(TransferOpen& open, const Cluster& cluster, int type) const;
  Fit pairs_fit(TransferOpen& open, const Cluster& cluster, int type) const;
  bool ordered(TransferOpen& open, const Cluster& cluster, int task, int type, bool backward) const;

  std::vector<std::vector<char>> reach_;  // [i][j]: a path leads from i to j
};

}  // namespace cosched::dags::check
