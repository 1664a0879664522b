#include "cosched/moldable/check/validate.hpp"

#include "cosched/core/numeric.hpp"
#include "cosched/core/validate.hpp"

namespace cosched::moldable::check {

void validate(const Instance& instance, const Schedule& schedule) {
  Requirements need;
  need.tasks = instance.jobs();
  need.units = {instance.machines()};
  need.release = instance.releases();
  need.duration = [&](int task, int, int count) {
    return count >= 1 && count <= instance.machines() ? instance.given(task, count) : kInfinity;
  };
  need.sharing = instance.sharing();
  if (const TaskGraph* graph = instance.graph())
    for (int i = 0; i < instance.jobs(); ++i)
      for (const int after : graph->successors(i)) need.edges.emplace_back(i, after);
  cosched::validate(schedule, need);
}

}  // namespace cosched::moldable::check
