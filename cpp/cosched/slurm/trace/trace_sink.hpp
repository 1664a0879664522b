// Where the traces of cycles and passes go.
#pragma once

#include "cosched/slurm/trace/records.hpp"

namespace cosched::slurm {

/// The receiver of traces.  A cycle or pass that no sink wants is not traced, and costs nothing.
class TraceSink {
 public:
  virtual ~TraceSink() = default;

  /// True when the trace of the cycle with this number (from 1), which begins at `time`, is wanted.
  virtual bool wants_cycle(int number, double time) const = 0;
  virtual void add_cycle(CycleTrace cycle) = 0;
  /// True when the trace of the main pass at `time` is wanted.
  virtual bool wants_pass(double time) const = 0;
  virtual void add_pass(PassTrace pass) = 0;
};

}  // namespace cosched::slurm
