#include "cosched/dags/check/requirements.hpp"

#include "cosched/dags/check/transfer_seconds.hpp"

namespace cosched::dags::check {

Requirements requirements(const Instance& instance) {
  Requirements need;
  need.tasks = instance.tasks();
  need.units = instance.units();
  need.duration = [times = instance.times()](int task, int kind, int count) {
    return count == 1 ? times(task, kind) : kInfinity;
  };
  for (int task = 0; task < instance.tasks(); ++task)
    for (const int next : instance.graph().successors(task)) need.edges.emplace_back(task, next);
  const Transfers& transfers = instance.transfers();
  if (transfers.has_data())
    need.transfer = transfer_seconds(instance.units(), transfers.data(), transfers.links());
  return need;
}

}  // namespace cosched::dags::check
