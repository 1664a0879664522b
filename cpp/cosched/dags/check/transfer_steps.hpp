// What the check of a TransfersCertificate makes of a stage: the combined row, and who must share a
// memory.
#pragma once

#include <vector>

#include "cosched/dags/check/transfer_open.hpp"

namespace cosched::dags::check {

class TransferRow {
 public:
  TransferRow(const TransferOpen& open, const proof::TransferStage& stage);

  /// Whether it cannot hold.
  bool breaks() const { return left_ > allowed_; }
  /// Pairs and ways with which it cannot hold, all by the same prices.
  std::vector<proof::TransferGuess> broken() const;

 private:
  using Joint = TransferOpen::Joint;
  struct Flow {
    double in, out, through;
  };
  double room() const;
  Flow flow_at(int task) const;
  double need(int task, int type, const Flow& flow) const;
  double shift(const Joint& edge, int q) const;
  double remaining(const Joint& edge, int q, double cost) const;
  double second(const Joint& edge, int r) const;
  double extra(int task, int type) const { return needs_[task][type] - least_[task]; }

  const TransferOpen& open_;
  const proof::TransferStage& stage_;
  int types_;
  std::vector<std::vector<double>> needs_;  // of each task on each type
  std::vector<double> least_;               // of each task
  double left_ = 0, allowed_ = 0;
};

// Tasks that must share a memory, as the check of a TransfersCertificate sees them.

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
