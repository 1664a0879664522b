// Tries to prove that no schedule is as short as a makespan: the search behind windows.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cosched/dags/proof/bisection.hpp"
#include "cosched/dags/proof/certificate.hpp"
#include "cosched/dags/proof/choice_lp.hpp"
#include "cosched/dags/proof/effort.hpp"
#include "cosched/dags/proof/energetic.hpp"

namespace cosched::dags::proof {

class Refuter {
 public:
  /// `relaxation`: proof of LP*; its weights and flow are the programme's first row.
  Refuter(const Instance& instance, const hlp::Certificate& relaxation, const Effort& effort);

  /// Rows that mattered are kept for the next T.
  Attempt<Refutation> refute(const Question& question);

  std::int64_t steps() const { return steps_; }

 private:
  // A row of the programme: loads and a flow (weight 1 in T), or an interval.
  struct Row {
    RefutationStage content;
  };

  bool prune(TimeWindows& windows);
  bool raise_heads(TimeWindows& windows);
  bool energy_alone(const TimeWindows& windows);
  bool combine(TimeWindows& windows, RefutationStage stage, bool& closed);

  void start_programme(const TimeWindows& windows);
  void add_row(const TimeWindows& windows, Row row);
  bool price_rows(const TimeWindows& windows);
  bool price_path(const TimeWindows& windows, const std::vector<std::vector<double>>& share);
  bool price_energy(const TimeWindows& windows, const std::vector<std::vector<double>>& share);
  std::vector<EnergySweep::Excess> broken(const TimeWindows& windows, const EnergySweep& sweep,
                                          const std::vector<double>& begins);
  RefutationStage solve_programme(const TimeWindows& windows);
  RefutationStage priced_rows() const;
  std::vector<std::vector<double>> shares(const TimeWindows& windows) const;
  void keep_rows();

  const Instance& instance_;
  const hlp::Certificate& relaxation_;
  Effort effort_;
  Refutation proof_;
  std::vector<Row> rows_;  // of the programme
  std::unique_ptr<ChoiceLp> programme_;
  std::vector<int> group_of_;  // of each task, -1: decided
  std::vector<int> choice_begin_;
  std::vector<int> type_of_;  // of each choice
  std::vector<int> task_of_;
  std::vector<std::vector<double>> hot_;  // begins of intervals, for each type
  // Kept from one T to the next: intervals by the distance of their end from T, and paths.
  struct Kept {
    Row row;
    double from_end = 0;
  };
  std::vector<Kept> pool_;
  std::int64_t steps_ = 0;
};

}  // namespace cosched::dags::proof
