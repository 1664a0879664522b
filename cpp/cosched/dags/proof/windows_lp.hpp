// The linear programme of the bound `windows` (windows.hpp) over the shares of what is open: few rows,
// found as they are needed, and as many choices as open pairs, for choice_lp.hpp.
#pragma once

#include <vector>

#include "cosched/dags/proof/certificate.hpp"
#include "cosched/dags/proof/choice_lp.hpp"
#include "cosched/dags/proof/effort.hpp"
#include "cosched/dags/proof/energetic.hpp"
#include "cosched/dags/proof/time_windows.hpp"

namespace cosched::dags::proof {

/// A row, to be tried again at the next T: loads and a flow of paths, or one interval.
struct KeptRow {
  RefutationStage row;
  std::vector<KeptInterval> interval;  // none or one: where it is at another T
};

class WindowsLp {
 public:
  /// Begins with what proves LP*, the loads one by one, and `kept` up to the first whose interval has
  /// no length at this T.
  WindowsLp(const TimeWindows& windows, const hlp::Certificate& relaxation,
            const std::vector<KeptRow>& kept, const Effort& effort);

  /// Adds rows that are broken while that helps; then all rows by their prices, as one.
  RefutationStage solve();

  /// Found or kept rows with a price: likely to matter for the next T.
  std::vector<KeptRow> rows_that_mattered() const;

 private:
  void add_choices();
  void add_row(RefutationStage row);
  double need(const RefutationStage& row, const std::vector<double>& flow, int task,
              int type) const;
  bool price_rows();
  bool price_path(const Table& share);
  bool price_energy(const Table& share);
  std::vector<EnergySweep::Excess> worst(const EnergySweep& sweep,
                                         const std::vector<double>& begins) const;
  Table shares() const;
  RefutationStage sum_of_rows() const;

  const TimeWindows& windows_;
  const Instance& instance_;
  Effort effort_;
  std::vector<int> task_of_, type_of_;  // of each choice
  ChoiceLp programme_;
  std::vector<RefutationStage> rows_;     // of the programme
  std::vector<std::vector<double>> hot_;  // of each type: begins of intervals that were good
};

}  // namespace cosched::dags::proof
