// List schedules of moldable jobs with precedence.
#pragma once

#include "cosched/moldable/graph/allotment.hpp"

namespace cosched::moldable::graph {

/// Graham's list: at 0 and at each end the waiting job of highest rank that fits starts, until none
/// fits; ties to the lowest number.  Keeps capacities; reads no slow-downs.  O((n + e) log n + n
/// c), c different needs.
Placement list_schedule(const Instance& instance, const JobChoices& choices,
                        const ChoiceNumbers& chosen, const std::vector<double>& rank);

/// By bottom levels under the allotment itself.
Placement list_schedule(const Instance& instance, const JobChoices& choices,
                        const ChoiceNumbers& chosen);

/// list_schedule() with either allotment; the ratio only where it is proved.
struct GuaranteedSchedule {
  Placement placement;
  double ratio = 0;
};
GuaranteedSchedule list_lp(const Instance& instance);
GuaranteedSchedule list_local(const Instance& instance, double mu);

}  // namespace cosched::moldable::graph
