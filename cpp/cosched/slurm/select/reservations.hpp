// Advance reservations: which nodes they leave a job, and from when (RULES.md 10).
#pragma once

#include "cosched/slurm/model/scenario.hpp"

namespace cosched::slurm {

class Reservations {
 public:
  /// Requires that `scenario` outlives it.
  explicit Reservations(const Scenario& scenario) : scenario_(scenario) {}

  /// There are some at that time.
  bool has_any(double now) const {
    const auto& all = scenario_.reservations();
    return std::any_of(all.begin(), all.end(), [&](const auto& one) { return exists(one, now); });
  }

  /// The job is in one that is there.
  bool is_in_existing(int job, double now) const {
    const int which = scenario_.job(job).conditions.reservation;
    return which >= 0 && exists(scenario_.reservations()[which], now);
  }

  struct RemainingNodes {
    bool can_run;     // false: it cannot run then
    Second earliest;  // the time that it may be planned for: later than asked behind maintenance
    bool has_lost_nodes;  // a reservation took nodes of its partition away
  };

  /// Takes away from `nodes` those that a job that begins at `from` may not have.  `move`: to a
  /// later time rather than not at all.
  RemainingNodes remove_reserved(QueueEntry entry, Second from, bool move, double now,
                                 NodeBits& nodes) const {
    const auto& all = scenario_.reservations();
    const Second limit = scenario_.job(entry.job).limit;
    const auto meets = [&](const Reservation& one, Second begin) {
      return exists(one, now) && one.begin < begin + limit && one.end > begin;
    };
    const int which = scenario_.job(entry.job).conditions.reservation;
    if (which >= 0) {
      const Reservation& own = all[which];
      if (!exists(own, now) || from < own.begin || from > own.end) return {false, from, false};
      nodes &= own.nodes;
      bool overlap = false;
      for (const Reservation& other : all) {
        if (own.is_maintenance || &other == &own || !meets(other, from)) continue;
        overlap = overlap || nodes.intersects(other.nodes);
        nodes -= other.nodes;
      }
      return {true, from, overlap};
    }
    constexpr int kTries = 10;
    for (int tried = 0;; ++tried) {
      const auto stop = std::find_if(all.begin(), all.end(), [&](const Reservation& one) {
        return meets(one, from) && blocks_partition(one, entry);
      });
      if (stop == all.end()) break;
      if (!move || tried >= kTries) return {false, from, false};
      from = stop->end;
    }
    bool overlap = false;
    for (const Reservation& one : all) {
      if (!meets(one, from)) continue;
      nodes -= one.nodes;
      overlap = overlap || one.nodes.intersects(scenario_.partition(entry).nodes);
    }
    return {true, from, overlap};
  }

  /// The end of the first that ends after `from`, rounded up; 0 = none.  `epoch` as of Clocks.
  Second next_end(Second from, Second resolution, Second epoch, double now) const {
    Second end = 0;
    bool found = false;
    for (const Reservation& one : scenario_.reservations()) {
      if (!exists(one, now) || from > one.end) continue;
      end = found ? std::min(end, one.end) : one.end;
      found = true;
    }
    if (!found) return 0;
    return end + (resolution - (epoch + end) % resolution) % resolution;
  }

 private:
  bool exists(const Reservation& one, double now) const {
    return one.created_at <= now && static_cast<double>(one.end) > now;
  }

  // Maintenance of all nodes of its partition, or of the machine.
  bool blocks_partition(const Reservation& one, QueueEntry entry) const {
    return one.has_all_nodes ||
           (one.is_maintenance && scenario_.partition(entry).nodes.is_subset_of(one.nodes));
  }

  const Scenario& scenario_;
};

}  // namespace cosched::slurm
