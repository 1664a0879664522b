// A cycle yields its locks, goes on and ends when a recording says so (RULES.md 4.11).
#pragma once

#include "cosched/slurm/clocks/modelled_cycle_clock.hpp"

namespace cosched::slurm {

/// Example: of the slices {{12, 1, 14}, {15, 3, nan}} a cycle that begins at 10 has examined one
/// job when it yields at 12, goes on at 14, and ends at 15 after three jobs, so that its second job
/// is tried at 14 and its third at 14.5.
class RecordedCycleClock : public CycleClock {
 public:
  /// Requires that both outlive it.
  RecordedCycleClock(const Clocks& clocks, const std::vector<Slice>& slices)
      : modelled_clock_(clocks), slices_(slices) {}

  void begin_slice(double time, const CycleProgress& progress) override;
  double current_time(const CycleProgress& progress) const override;
  const Slice* ending_slice(const CycleProgress& progress) const override;
  bool has_reached_max_time(Second elapsed, Second max_time) const override;
  double duration(double begin, const CycleProgress& progress) const override;
  bool is_recorded() const override { return slice_ != nullptr; }

 private:
  ModelledCycleClock modelled_clock_;  // behind the last recorded slice
  const std::vector<Slice>& slices_;
  std::size_t next_slice_ = 0;
  const Slice* slice_ = nullptr;  // null: behind the last one
  double slice_start_ = 0;
  int jobs_examined_before_slice_ = 0;
};

}  // namespace cosched::slurm
