#include "cosched/moldable/shared/lists.hpp"

#include <algorithm>
#include <vector>

#include "cosched/moldable/dual/dual_approx.hpp"
#include "cosched/moldable/list/order.hpp"

namespace cosched::moldable::shared {

Placement gang(const Instance& instance) {
  instance.require_no_releases("gang");
  const Decoder decoder(instance);
  const auto fastest = [&](int i) { return decoder.counts(i).back(); };
  Placement placement = unplaced(instance.jobs());
  double now = 0;
  for (const int i : list::jobs_by(
           instance.jobs(), [&](int job) { return -instance.weight(job) / fastest(job).time; })) {
    placement.procs[i] = fastest(i).procs;
    placement.start[i] = now;
    placement.end[i] = now += fastest(i).time;
  }
  return placement;
}

Placement sequential(const Instance& instance) {
  instance.require_no_releases("sequential");
  Decoder decoder(instance);
  Allotment procs;
  for (int i = 0; i < instance.jobs(); ++i) procs.push_back(decoder.counts(i).front().procs);
  const auto order =
      list::jobs_by(instance.jobs(), [&](int i) { return -decoder.counts(i).front().time; });
  return decoder.run({order, procs, 0, {}});
}

Placement list_graham(const Instance& instance, dual::ListOrder order, double tolerance) {
  const Instance alone = instance.alone();
  Decoder decoder(instance);
  const dual::ShelfSchedule shelves = dual::dual_approximation(alone, tolerance).schedule;
  const Allotment procs = decoder.fitting(shelves.placement.procs);
  std::vector<int> jobs = shelves.order;
  if (order != dual::ListOrder::shelf)
    jobs = list::jobs_by(instance.jobs(), [&](int i) {
      if (order == dual::ListOrder::saf) return procs[i] * instance.given(i, procs[i]);
      return -instance.weight(i) / instance.given(i, procs[i]);
    });
  return decoder.run({jobs, procs, 0, {}});
}

}  // namespace cosched::moldable::shared
