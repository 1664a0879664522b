// The time within a backfill cycle: how long its tests take, and where it yields its locks
// (RULES.md 4.8, 4.11).
#pragma once

#include <memory>

#include "cosched/slurm/clocks/clocks.hpp"

namespace cosched::slurm {

/// How far a cycle has come.
struct CycleProgress {
  int job_test_count;
  int jobs_examined;
  int start_count;
};

/// The clock of one backfill cycle.  A cycle consists of slices, between which it yields its locks.
class CycleClock {
 public:
  virtual ~CycleClock() = default;

  /// The cycle begins, or resumes after it has yielded its locks.
  virtual void begin_slice(double time, const CycleProgress& progress) = 0;
  /// The simulated time at which the next job is tried.
  virtual double current_time(const CycleProgress& progress) const = 0;
  /// The slice that ends before the next job: the cycle yields its locks there, or gives up.  Null:
  /// the cycle goes on.
  virtual const Slice* ending_slice(const CycleProgress& progress) const = 0;
  /// True when the cycle ends, since it has taken bf_max_time.
  virtual bool has_reached_max_time(Second elapsed, Second max_time) const = 0;
  /// How long a cycle that began at `begin` took (s).
  virtual double duration(double begin, const CycleProgress& progress) const = 0;
  /// True when times are those of a recording, so that they differ from cycle to cycle.
  virtual bool is_recorded() const = 0;
};

/// The clock of the cycle with this number (from 1): of its recorded slices, where `clocks` has
/// them, else of the rules.
std::unique_ptr<CycleClock> make_cycle_clock(const Clocks& clocks, std::size_t number);

}  // namespace cosched::slurm
