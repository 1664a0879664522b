#include "cosched/packs/check/validate.hpp"

#include "cosched/core/validate.hpp"

namespace cosched::packs::check {
void validate(const Instance& instance, const Schedule& schedule) {
  Requirements requirements;
  requirements.tasks = instance.tasks();
  requirements.units = {instance.procs()};
  requirements.duration = [&](int task, int, int count) {
    return count <= instance.procs() ? instance.times().measured_time(task, count) : kInfinity;
  };
  requirements.sharing = instance.sharing();
  cosched::validate(schedule, requirements);

  std::vector<int> order(schedule.rows());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return schedule.start[a] < schedule.start[b]; });
  double pack_start = 0, pack_end = 0;
  int tasks_in_pack = 0;
  for (const int r : order) {
    if (tasks_in_pack > 0 && close(schedule.start[r], pack_start, kValidateTolerance)) {
      ++tasks_in_pack;
    } else {
      if (tasks_in_pack > 0 && !leq(pack_end, schedule.start[r], kValidateTolerance))
        throw InvalidSchedule("task " + std::to_string(schedule.task[r]) + " starts at " +
                              to_text(schedule.start[r]) + " inside the pack that runs from " +
                              to_text(pack_start) + " to " + to_text(pack_end));
      pack_start = schedule.start[r];
      pack_end = 0;
      tasks_in_pack = 1;
    }
    pack_end = std::max(pack_end, schedule.end[r]);
    if (tasks_in_pack > instance.max_tasks())
      throw InvalidSchedule("the pack that starts at " + to_text(pack_start) + " has more than " +
                            std::to_string(instance.max_tasks()) + " tasks");
  }
}

}  // namespace cosched::packs::check
