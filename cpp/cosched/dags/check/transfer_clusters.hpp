// Tasks that must share a memory, as the check of a TransfersCertificate sees them.
#pragma once

#include "cosched/dags/check/transfer_open.hpp"

namespace cosched::dags::check {

class TransferClusters {
 public:
  explicit TransferClusters(const TransferOpen& open);

  /// What clusters close, and the heads and tails they raise.  True: they did so.
  bool tighten(TransferOpen& open) const;

 private:
  using Cluster = std::vector<int>;
  struct PairsResult {
    bool can_fit, any_change;
  };

  static bool forces_same_memory(const TransferOpen& open, const NumberedEdge& edge);
  static Cluster cluster_of(const TransferOpen& open, int first, std::vector<char>& is_visited);
  static bool can_fit_intervals(const TransferOpen& open, const Cluster& cluster, int type);
  bool tighten(TransferOpen& open, const Cluster& cluster, int type) const;
  PairsResult tighten_pairs(TransferOpen& open, const Cluster& cluster, int type) const;
  bool tighten_by_ancestors(TransferOpen& open, const Cluster& cluster, int task, int type,
                            bool backward) const;

  std::vector<std::vector<char>> has_path_;  // [i][j]: a path leads from i to j
};

}  // namespace cosched::dags::check
