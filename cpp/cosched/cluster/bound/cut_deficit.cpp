#include "cosched/cluster/bound/cut_deficit.hpp"

#include <algorithm>
#include <utility>

#include "cosched/core/assert.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::cluster::bound {
namespace {

// Relative width of the interval around a root at which its search ends.  The bound is the lower
// end, so that the width is what it loses.
constexpr double kRootTolerance = 1e-13;
// Against rounding; halvings alone need 53 steps.
constexpr int kMaxRootSteps = 200;

// For Poll: about a nanosecond each.
constexpr int kStepsPerJob = 200;

}  // namespace

CutDeficit::CutDeficit(const std::vector<StretchJob>& jobs, double nodes,
                       std::vector<IntervalBorder> begins, std::vector<IntervalBorder> ends)
    : jobs_(jobs), nodes_(nodes), begins_(std::move(begins)), ends_(std::move(ends)) {}

std::vector<CutDeficit::MovingSegment> CutDeficit::merge_segments(double stretch) const {
  std::vector<MovingSegment> segments;
  for (std::size_t k = 0; k < begins_.size(); ++k) {
    const MovingSegment segment{.begin = begins_[k].time_at(jobs_, stretch),
                                .end = ends_[k].time_at(jobs_, stretch),
                                .begin_speed = begins_[k].speed(jobs_),
                                .end_speed = ends_[k].speed(jobs_),
                                .measure_before = 0,
                                .measure_speed_before = 0};
    if (segment.begin < segment.end) segments.push_back(segment);
  }
  std::sort(segments.begin(), segments.end(),
            [](const MovingSegment& a, const MovingSegment& b) { return a.begin < b.begin; });
  std::vector<MovingSegment> merged;
  for (const MovingSegment& segment : segments) {
    if (merged.empty() || segment.begin > merged.back().end) {
      merged.push_back(segment);
    } else if (segment.end > merged.back().end) {
      merged.back().end = segment.end;
      merged.back().end_speed = segment.end_speed;
    }
  }
  for (std::size_t k = 1; k < merged.size(); ++k) {
    const MovingSegment& previous = merged[k - 1];
    merged[k].measure_before = previous.measure_before + (previous.end - previous.begin);
    merged[k].measure_speed_before =
        previous.measure_speed_before + (previous.end_speed - previous.begin_speed);
  }
  return merged;
}

CutDeficit::MovingMeasure CutDeficit::measure_before(const std::vector<MovingSegment>& segments,
                                                     double time, double speed) {
  const auto after =
      std::upper_bound(segments.begin(), segments.end(), time,
                       [](double t, const MovingSegment& segment) { return t < segment.begin; });
  if (after == segments.begin()) return {0, 0};
  const MovingSegment& segment = *(after - 1);
  if (time < segment.end)
    return {segment.measure_before + (time - segment.begin),
            segment.measure_speed_before + speed - segment.begin_speed};
  return {segment.measure_before + (segment.end - segment.begin),
          segment.measure_speed_before + segment.end_speed - segment.begin_speed};
}

CutDeficit::DeficitValue CutDeficit::operator()(double stretch) const {
  const std::vector<MovingSegment> segments = merge_segments(stretch);
  const MovingMeasure measure = measure_before(segments, kInfinity, 0);
  DeficitValue value{.deficit = -nodes_ * measure.value,
                     .slope = -nodes_ * measure.speed,
                     .scale = nodes_ * measure.value};
  Poll poll;
  for (const StretchJob& job : jobs_) {
    poll.count(kStepsPerJob);
    const MovingMeasure end = measure_before(segments, job.release + stretch * job.unit, job.unit);
    const MovingMeasure begin = measure_before(segments, job.release, 0);
    const double inside = end.value - begin.value;  // |window_j and U|
    const double forced = job.runtime - (stretch * job.unit - inside);
    if (!(forced > 0)) continue;
    value.deficit += job.rate * forced;
    value.slope += job.rate * (end.speed - begin.speed - job.unit);
  }
  return value;
}

double find_cut_root(const CutDeficit& deficit, double stretch) {
  // deficit(low) >= 0 > deficit(high)
  double low = stretch;
  double high = kInfinity;
  CutDeficit::DeficitValue value_at_low = deficit(low);
  COSCHED_ASSERT(value_at_low.deficit > 0);
  for (int step = 0; step < kMaxRootSteps; ++step) {
    if (value_at_low.deficit <= kRootTolerance * value_at_low.scale) break;
    double next =
        value_at_low.slope < 0 ? low - value_at_low.deficit / value_at_low.slope : 2 * low;
    if (!(next < high)) next = (low + high) / 2;
    if (!(next > low) || !(next < high)) break;
    const CutDeficit::DeficitValue value = deficit(next);
    if (value.deficit >= 0) {
      low = next;
      value_at_low = value;
    } else {
      high = next;
    }
    if (high - low <= kRootTolerance * low) break;
  }
  return low;
}

}  // namespace cosched::cluster::bound
