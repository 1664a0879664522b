#include "cosched/moldable/list/list_schedule.hpp"

#include "cosched/moldable/list/decoder.hpp"

namespace cosched::moldable::list {

Placement list_schedule(const Instance& instance, const Allotment& procs,
                        const std::vector<int>& order, ListRule rule) {
  instance.require_no_edges("a list of jobs");
  if (instance.sharing() != nullptr) {
    Decoder decoder(instance);
    return decoder.decode({.order = order, .procs = decoder.fitting_allotment(procs)});
  }
  const std::size_t n = order.size();
  std::vector<int> counts(n);
  std::vector<double> length(n), start;
  for (std::size_t k = 0; k < n; ++k) {
    counts[k] = instance.used_procs(order[k], procs[order[k]]);
    length[k] = instance.time(order[k], counts[k]);
  }
  ListScheduler(instance.machines()).schedule(rule, counts, length, start);
  Placement placement = empty_placement(instance.jobs());
  for (std::size_t k = 0; k < n; ++k) place(instance, placement, order[k], counts[k], start[k]);
  return placement;
}

}  // namespace cosched::moldable::list
