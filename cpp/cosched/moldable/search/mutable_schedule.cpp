#include "cosched/moldable/search/mutable_schedule.hpp"

#include "cosched/core/interrupt.hpp"

namespace cosched::moldable::search {

MutableSchedule::MutableSchedule(const Instance& instance, Objective objective, double target,
                                 const PlateauParams& params)
    : instance_(instance),
      objective_(objective),
      target_(target),
      params_(params),
      placement_(empty_placement(instance.jobs())),
      profile_(instance.machines()) {}

void MutableSchedule::load(const Placement& placement) {
  placement_ = placement;
  profile_.clear();
  Poll poll;
  for (const int i : order_by_start()) {
    profile_.occupy(placement_.start[i], placement_.end[i], {placement_.procs[i]});
    poll.count(50 + placement_.jobs());
  }
}

// The counts are taken by value: they may be those of placement_.
void MutableSchedule::decode(const std::vector<int>& order, Allotment procs) {
  Poll poll;
  std::int64_t counted_operations = profile_.operations();
  profile_.place_in_order(
      order, [&](int i) { return instance_.release(i); },
      [&](int i) {
        return std::pair(JobNeed{instance_.used_procs(i, procs[i])}, instance_.time(i, procs[i]));
      },
      [&](int i, double start) {
        place(instance_, placement_, i, procs[i], start);
        poll.count(profile_.operations() - counted_operations + 50);
        counted_operations = profile_.operations();
      });
  operations_ += 10 * static_cast<std::int64_t>(order.size());
}

void MutableSchedule::remove_job(int job) {
  profile_.release(placement_.start[job], placement_.end[job], {placement_.procs[job]});
}

void MutableSchedule::insert_job(int job, int procs) {
  restore_job(job, procs,
              profile_.earliest_start({procs}, instance_.time(job, procs), instance_.release(job)));
}

double MutableSchedule::earliest_end(int job, int procs) {
  const double length = instance_.time(job, procs);
  return profile_.earliest_start({procs}, length, instance_.release(job)) + length;
}

void MutableSchedule::restore_job(int job, int procs, double start) {
  place(instance_, placement_, job, procs, start);
  profile_.occupy(start, placement_.end[job], {placement_.procs[job]});
  operations_ += 10;
}

double MutableSchedule::value() const {
  if (objective_ == Objective::minsum) return weighted_completion(instance_, placement_);
  double area = 0, lateness = 0;
  for (int i = 0; i < placement_.jobs(); ++i) {
    const int procs = placement_.procs[i];
    area += procs * (placement_.end[i] - placement_.start[i]);
    lateness += procs * std::max(0.0, placement_.end[i] - target_);
  }
  return makespan(placement_) +
         (params_.area_part * area + params_.lateness_part * lateness) / instance_.machines();
}

}  // namespace cosched::moldable::search
