// What the check of a TransfersCertificate makes of a stage: the combined row, and who must share a
// memory.
#pragma once

#include "cosched/dags/check/transfer_open.hpp"

namespace cosched::dags::check {

class TransferRow {
 public:
  TransferRow(const TransferOpen& open, const proof::TransferStage& stage);

  /// Whether it cannot hold.
  bool is_violated() const { return left_side_ > greatest_left_side_; }
  /// Pairs and placements with which it cannot hold, all by the same prices.
  std::vector<proof::TransferGuess> violating_choices() const;

 private:
  struct Flow {
    double in, out, through;
  };
  double priced_room() const;
  Flow flow_at(int task) const;
  double need(int task, int type, const Flow& flow) const;
  double shift(const NumberedEdge& edge, int q) const {
    return stage_.shift.empty() ? 0 : stage_.shift[edge.edge * 1UL * types_ + q];
  }

  double remaining_price(const NumberedEdge& edge, int q, double cost) const;
  double second_task_price(const NumberedEdge& edge, int r) const;
  double extra_need(int task, int type) const {
    return needs_of_type_[task][type] - least_need_[task];
  }

  const TransferOpen& open_;
  const proof::TransferStage& stage_;
  int types_;
  std::vector<std::vector<double>> needs_of_type_;  // of each task on each type
  std::vector<double> least_need_;                  // of each task
  double left_side_ = 0, greatest_left_side_ = 0;
};

}  // namespace cosched::dags::check
