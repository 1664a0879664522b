// Energetic reasoning: the least work that tasks must do inside an interval [a, b), whatever
// the schedule of at most T, against what m_q units can do in it.
#pragma once

#include <algorithm>
#include <optional>

#include "cosched/dags/proof/certificate.hpp"

namespace cosched::dags::proof {

/// Least time that `task` spends inside the interval if it runs on the type of the interval: the
/// lesser of the times inside when it starts as early and when it starts as late as it can.
template <class Windows>
double energy_inside(const Windows& windows, int task, const TypeInterval& interval) {
  const int type = interval.type;
  const double p = windows.instance().time(task, type);
  const double inside_if_early = windows.head(task, type) + p - interval.begin;
  const double inside_if_late = interval.end - (windows.makespan() - windows.tail(task, type) - p);
  return std::max(0.0,
                  std::min({p, interval.end - interval.begin, inside_if_early, inside_if_late}));
}

/// An interval that moves with T: its begin stays, and its end keeps its distance from T.
struct SlidingInterval {
  int type = 0;
  double begin = 0, from_end = 0;

  SlidingInterval(const TypeInterval& interval, double makespan)
      : type(interval.type), begin(interval.begin), from_end(makespan - interval.end) {}
  /// The interval at another T; none where its end does not lie after its begin.
  std::optional<TypeInterval> interval_at(double makespan) const {
    const double end = makespan - from_end;
    if (end <= begin) return std::nullopt;
    return TypeInterval{type, begin, end};
  }
};

}  // namespace cosched::dags::proof
