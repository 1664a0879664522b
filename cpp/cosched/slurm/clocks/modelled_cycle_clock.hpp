// A cycle takes as long as its tests and starts cost, and never yields its locks (RULES.md 4.8).
#pragma once

#include "cosched/slurm/clocks/cycle_clock.hpp"

namespace cosched::slurm {

class ModelledCycleClock : public CycleClock {
 public:
  /// Requires that `clocks` outlives it.
  explicit ModelledCycleClock(const Clocks& clocks) : clocks_(clocks) {}

  void begin_slice(double time, const CycleProgress&) override { slice_start_ = time; }
  double current_time(const CycleProgress& progress) const override {
    return slice_start_ + progress.job_test_count * clocks_.test_cost;
  }
  const Slice* ending_slice(const CycleProgress&) const override { return nullptr; }
  bool has_reached_max_time(Second elapsed, Second max_time) const override {
    return elapsed >= max_time;
  }
  double duration(double, const CycleProgress& progress) const override {
    return clocks_.cycle_cost + progress.job_test_count * clocks_.test_cost +
           progress.start_count * clocks_.start_cost;
  }
  bool is_recorded() const override { return false; }

 private:
  const Clocks& clocks_;
  double slice_start_ = 0;
};

}  // namespace cosched::slurm
