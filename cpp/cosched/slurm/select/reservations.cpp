#include "cosched/slurm/select/reservations.hpp"

namespace cosched::slurm {

bool Reservations::has_existing(double now) const {
  const std::vector<Reservation>& reservations = scenario_.reservations();
  return std::any_of(reservations.begin(), reservations.end(),
                     [&](const Reservation& reservation) { return exists(reservation, now); });
}

bool Reservations::is_in_existing(int job, double now) const {
  const int reservation = scenario_.job(job).conditions.reservation;
  return reservation >= 0 && exists(scenario_.reservations()[reservation], now);
}

bool Reservations::exists(const Reservation& reservation, double now) const {
  return reservation.created_at <= now && static_cast<double>(reservation.end) > now;
}

// True when the reservation exists, and overlaps the job in time if that begins at `begin`.
bool Reservations::overlaps(const Reservation& reservation, int job, Second begin,
                            double now) const {
  const Second limit = scenario_.job(job).limit;
  return exists(reservation, now) && reservation.begin < begin + limit && reservation.end > begin;
}

// True for maintenance of all nodes of the partition, or of the machine.
bool Reservations::blocks_partition(const Reservation& reservation, QueueEntry entry) const {
  return reservation.has_all_nodes ||
         (reservation.is_maintenance &&
          scenario_.partition(entry).nodes.is_subset_of(reservation.nodes));
}

Reservations::RemainingNodes Reservations::remove_reserved(QueueEntry entry, Second from,
                                                           bool may_move, double now,
                                                           NodeBits& nodes) const {
  const std::vector<Reservation>& reservations = scenario_.reservations();
  if (const int number = scenario_.job(entry.job).conditions.reservation; number >= 0)
    return keep_reserved(reservations[number], entry, from, now, nodes);
  constexpr int kMaxMoves = 10;
  for (int move_count = 0;; ++move_count) {
    const auto blocking =
        std::find_if(reservations.begin(), reservations.end(), [&](const Reservation& reservation) {
          return overlaps(reservation, entry.job, from, now) &&
                 blocks_partition(reservation, entry);
        });
    if (blocking == reservations.end()) break;
    if (!may_move || move_count >= kMaxMoves) return {false, from, false};
    from = blocking->end;
  }
  bool has_lost_nodes = false;
  for (const Reservation& reservation : reservations) {
    if (!overlaps(reservation, entry.job, from, now)) continue;
    nodes -= reservation.nodes;
    if (reservation.nodes.intersects(scenario_.partition(entry).nodes)) has_lost_nodes = true;
  }
  return {true, from, has_lost_nodes};
}

// The nodes of a job in a reservation: those of the reservation that no other one has.
Reservations::RemainingNodes Reservations::keep_reserved(const Reservation& reservation,
                                                         QueueEntry entry, Second from, double now,
                                                         NodeBits& nodes) const {
  if (!exists(reservation, now) || from < reservation.begin || from > reservation.end)
    return {false, from, false};
  nodes &= reservation.nodes;
  if (reservation.is_maintenance) return {true, from, false};
  bool has_lost_nodes = false;
  for (const Reservation& other : scenario_.reservations()) {
    if (&other == &reservation || !overlaps(other, entry.job, from, now)) continue;
    if (nodes.intersects(other.nodes)) has_lost_nodes = true;
    nodes -= other.nodes;
  }
  return {true, from, has_lost_nodes};
}

Second Reservations::next_end(Second from, Second resolution, Second epoch, double now) const {
  std::optional<Second> first_end;
  for (const Reservation& reservation : scenario_.reservations()) {
    if (!exists(reservation, now) || from > reservation.end) continue;
    first_end = first_end ? std::min(*first_end, reservation.end) : reservation.end;
  }
  if (!first_end) return 0;
  return *first_end + (resolution - (epoch + *first_end) % resolution) % resolution;
}

}  // namespace cosched::slurm
