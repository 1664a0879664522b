// Work behind a head: when so many units have done all of it at the earliest.
#pragma once

#include <algorithm>
#include <vector>

namespace cosched::dags::check {

/// What cannot begin before `head` and then takes `time` of one unit.
struct HeadWork {
  double head, time;
};
/// Time until so many units that share a memory have done all of it, at the earliest.
double completion_time(std::vector<HeadWork> work, int units);

}  // namespace cosched::dags::check
