#include "cosched/dags/model/plan.hpp"

#include <algorithm>

namespace cosched::dags {

double Plan::makespan() const {
  return end.empty() ? 0 : *std::max_element(end.begin(), end.end());
}

Schedule Plan::schedule() const {
  Schedule schedule;
  for (int task = 0; task < tasks(); ++task)
    schedule.place(task, kind[task], {unit[task]}, start[task], end[task]);
  return schedule;
}

}  // namespace cosched::dags
