// The combined row of a stage, as the check of a TransfersCertificate sees it.
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

}  // namespace cosched::dags::check
