// The linear programme of the bound `windows` (windows_bound.hpp) over the shares of the open
// types: few rows, which are found as they are needed, and one choice for each open type
// (choice_lp.hpp).
#pragma once

#include "cosched/dags/proof/choice_lp.hpp"
#include "cosched/dags/proof/energetic.hpp"
#include "cosched/dags/proof/energy_sweep.hpp"
#include "cosched/dags/proof/refuter_params.hpp"
#include "cosched/dags/proof/time_windows.hpp"

namespace cosched::dags::proof {

/// A row that is tried again at the next T: loads and a flow of paths, or one interval.
struct ReusableRow {
  RefutationStage row;
  std::vector<SlidingInterval> interval;  ///< none or one, which moves with T
};

class WindowsLp {
 public:
  /// Begins with the row that proves LP*, the load of each type, and `earlier_rows` up to the first
  /// whose interval has no length at this T.
  WindowsLp(const TimeWindows& windows, const hlp::HlpCertificate& relaxation,
            const std::vector<ReusableRow>& earlier_rows, const RefuterParams& params);

  /// Adds violated rows while that raises the value; returns all rows, weighted with their prices,
  /// as one.
  RefutationStage solve();

  /// Intervals and paths with a price, which are likely to matter for the next T.
  std::vector<ReusableRow> reusable_rows() const;

 private:
  static std::vector<int> group_begins(const TimeWindows& windows);
  void add_choices();
  void add_row(RefutationStage row);
  double row_need(const RefutationStage& row, const std::vector<double>& flow, int task,
                  int type) const;
  bool add_violated_rows();
  bool add_violated_path(const Table& share);
  bool add_violated_intervals(const Table& share);
  std::vector<EnergySweep::Excess> worst_first(const EnergySweep& sweep,
                                               const std::vector<double>& begins) const;
  Table shares() const;
  RefutationStage sum_of_rows() const;

  const TimeWindows& windows_;
  const Instance& instance_;
  RefuterParams params_;
  std::vector<int> choice_task_, choice_type_;  // of each choice
  ChoiceLp programme_;
  std::vector<RefutationStage> rows_;             // of the programme
  std::vector<std::vector<double>> good_begins_;  // of each type: of intervals that were violated
};

}  // namespace cosched::dags::proof
