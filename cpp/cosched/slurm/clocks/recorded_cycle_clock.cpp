#include "cosched/slurm/clocks/recorded_cycle_clock.hpp"

#include <algorithm>
#include <cmath>

namespace cosched::slurm {

void RecordedCycleClock::begin_slice(double time, const CycleProgress& progress) {
  modelled_clock_.begin_slice(time, progress);
  slice_start_ = time;
  jobs_examined_before_slice_ = progress.jobs_examined;
  slice_ = nullptr;
  if (next_slice_ == slices_.size()) return;
  slice_ = &slices_[next_slice_];
  ++next_slice_;
}

double RecordedCycleClock::current_time(const CycleProgress& progress) const {
  if (!slice_) return modelled_clock_.current_time(progress);
  const int slice_jobs = std::max(1, slice_->jobs_examined - jobs_examined_before_slice_);
  const double part =
      static_cast<double>(progress.jobs_examined - jobs_examined_before_slice_) / slice_jobs;
  return slice_start_ + std::min(part, 1.0) * (slice_->end_time - slice_start_);
}

const Slice* RecordedCycleClock::ending_slice(const CycleProgress& progress) const {
  const bool is_used_up =
      slice_ && !std::isnan(slice_->resume_time) && progress.jobs_examined >= slice_->jobs_examined;
  return is_used_up ? slice_ : nullptr;
}

// A recorded slice ends where the recording says.
bool RecordedCycleClock::has_reached_max_time(Second elapsed, Second max_time) const {
  return !slice_ && modelled_clock_.has_reached_max_time(elapsed, max_time);
}

double RecordedCycleClock::duration(double begin, const CycleProgress& progress) const {
  return slice_ ? slice_->end_time - begin : modelled_clock_.duration(begin, progress);
}

}  // namespace cosched::slurm
